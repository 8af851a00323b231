"""Commit to a branch of the user with `git commit`, so that hooks and signing run.

The commit is made from a temporary index. If the branch is not checked out, git runs in a temporary git
directory whose HEAD is the branch.
"""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from chorus.errors import ChorusError, ExitCode
from chorus.model.ids import Oid
from chorus.model.lane_name import branch_name
from chorus.store.git_process import UserGit, error_text
from chorus.store.maintenance.side_store import pack_into
from chorus.store.objects.commits import Commit
from chorus.store.objects.object_store import ObjectStore
from chorus.store.repository import Repository
from chorus.store.user_index import wait_unlocked
from chorus.system.files.private_files import make_private
from chorus.text.sanitize import printable

SCRATCH_PREFIX = "landing-"
# Left by `git merge --squash` until the next commit.
SQUASH_MESSAGE = "SQUASH_MSG"


class CommitRefused(ChorusError):
    """git or one of the user's hooks refused the commit. Nothing was changed."""

    hint = "Fix what git or the commit hook reports, then land again."


class BranchBusy(ChorusError):
    """The branch cannot be committed to right now."""

    exit_code = ExitCode.REFUSED


class UserBranch:
    """A branch of the user to commit to. Create it with `UserBranch.open`."""

    def __init__(self, repository: Repository, ref: str, scratch: Path, created_at: Oid | None) -> None:
        self._repository = repository
        self._git = UserGit(repository.work_tree)
        self.ref = ref
        found = repository.refs.read(ref)
        self.start = found or created_at
        self.tip = self.start
        # True if the branch does not exist yet. The first `commit` creates it at `start`.
        self.is_new = found is None and created_at is not None
        self._is_created = False
        self.is_checked_out = repository.head().ref == ref
        self._scratch = scratch
        self._variables = {"GIT_INDEX_FILE": str(scratch / "index")}
        self._message_file = repository.git_dir / "COMMIT_EDITMSG"
        self._message_before = self._read_message()

    @classmethod
    @contextlib.contextmanager
    def open(cls, repository: Repository, ref: str, created_at: Oid | None = None) -> Iterator[Self]:
        """Prepare to commit to a branch. `created_at`: the commit at which a new branch is created."""
        make_private(repository.own_dir)
        scratch = Path(tempfile.mkdtemp(prefix=SCRATCH_PREFIX, dir=repository.own_dir))
        try:
            branch = cls(repository, ref, scratch, created_at)
            branch.refuse_busy()
            yield branch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def refuse_busy(self) -> None:
        target = self._repository.refs.read_symbolic(self.ref)
        if target is not None:
            # Rolling back would replace the symbolic ref, and leave the branch it leads to as it is.
            name, other = branch_name(self.ref), branch_name(target)
            raise BranchBusy(
                f"{name} is a symbolic ref to {other}",
                hint=f"Land onto {other}; if {name} is checked out, run `git checkout {other}` first.",
            )
        if not self.is_checked_out:
            elsewhere = self._repository.checked_out().get(self.ref)
            if elsewhere is not None:
                name = branch_name(self.ref)
                raise BranchBusy(f"{name} is checked out in {elsewhere}", hint="Land from that work tree.")
            return
        wait_unlocked(self._repository)
        squash = "squash merge" if (self._repository.git_dir / SQUASH_MESSAGE).exists() else None
        operation = self._repository.operation() or squash
        if operation:
            raise BranchBusy(f"a {operation} is in progress", hint="Finish or abort it, then land again.")

    def commit(self, tree: Oid, message: str) -> Oid:
        """Commit this tree to the branch and return the commit. The user's hooks may change the tree.

        If this raises, the caller must roll back.
        """
        if self.is_new and not self._is_created:
            assert self.start is not None
            self._repository.refs.update(self.ref, self.start, None, "chorus: branch created for a landing")
            self._is_created = True
        self._prepare(tree)
        self._run("commit", message, self._variables)
        new = self._repository.refs.read(self.ref)
        assert new is not None
        self.tip = new
        return new

    def amend(self, commit: Oid, tree: Oid, message: str, encoding: str | None = None) -> Oid:
        """Make a copy of this commit with another tree and message, by `git commit --amend`. No ref moves."""
        variables = self._make_git_dir(commit) | {"GIT_INDEX_FILE": str(self._scratch / "amended")}
        self._repository.private_git.run("-c", "core.splitIndex=false", "read-tree", tree, extra=variables)
        self._run("commit --amend", message, variables, encoding)
        return Oid((Path(variables["GIT_DIR"]) / "HEAD").read_text().strip())

    def recommit(self, commit: Commit, tree: Oid, parent: Oid) -> Oid:
        """Make a copy of this commit with another tree and parent, signed if the user signs. No ref moves."""
        text = self._scratch / "message"
        text.write_bytes(commit.message.encode("utf-8", "surrogateescape"))
        author = commit.author
        who = {"GIT_AUTHOR_NAME": author.name, "GIT_AUTHOR_EMAIL": author.email}
        when = {"GIT_AUTHOR_DATE": f"@{author.seconds} {author.zone}"}
        # `git commit-tree` ignores `commit.gpgSign`: it signs only with `-S`.
        signing = self._git.attempt("config", "--type=bool", "commit.gpgSign").stdout.strip() == b"true"
        sign = ("-S",) if signing else ()
        words = ("commit-tree", *sign, "-p", parent, "-F", str(text), tree)
        done = self._git.attempt(*_in_encoding(commit.encoding), *words, extra=who | when)
        if done.returncode:
            subject = printable(commit.message.partition("\n")[0])
            problem = f'cannot copy the commit "{subject}"; nothing was changed'
            raise CommitRefused(f"{problem}\n{error_text(done)}")
        return Oid(done.stdout.decode().strip())

    def move(self, tip: Oid, reason: str) -> None:
        """Move the branch to `tip`. Raises RefMoved if the branch has moved since it was opened."""
        self._repository.refs.update(self.ref, tip, self.start, reason)
        self.tip = tip

    def _run(
        self, command: str, message: str, variables: dict[str, str], encoding: str | None = None
    ) -> None:
        text = self._scratch / "message"
        text.write_bytes(message.encode("utf-8", "surrogateescape"))
        words = (*command.split(), "--quiet", "--cleanup=whitespace", "-F", str(text))
        done = self._git.attempt(*_in_encoding(encoding), *words, extra=variables)
        if done.returncode:
            output = "\n".join(filter(None, (done.stdout.decode(errors="replace").strip(), error_text(done))))
            raise CommitRefused(f"the commit was refused; nothing was changed\n{output}")

    def roll_back(self) -> None:
        """Move the branch back to where it was when it was opened, and restore COMMIT_EDITMSG.

        A branch that did not exist then is deleted. Raises RefMoved if another process has moved the branch.
        """
        refs = self._repository.refs
        if self.tip is not None and (self.tip != self.start or self._is_created):
            reason = "chorus: landing rolled back"
            if self.start is None or self._is_created:
                refs.delete(self.ref, self.tip, reason)
            else:
                refs.update(self.ref, self.start, self.tip, reason)
            self.tip = self.start
        if self._message_before is None:
            self._message_file.unlink(missing_ok=True)
        elif self._read_message() != self._message_before:
            self._message_file.write_bytes(self._message_before)

    def _read_message(self) -> bytes | None:
        try:
            return self._message_file.read_bytes()
        except FileNotFoundError:
            return None

    def copy_to_user_store(self, store: ObjectStore, tip: Oid | None = None) -> None:
        tip = tip or self.tip
        assert tip is not None
        copy_to_user_store(self._repository, store, self.start, tip)

    def _prepare(self, tree: Oid) -> None:
        """Read this tree into the temporary index.

        For a checked-out branch, the temporary index starts as a copy of the user's index, which has the
        `stat` data of the files.
        """
        index = self._scratch / "index"
        own = self._repository.git_dir / "index"
        if self.is_checked_out:
            if not index.exists() and own.exists():
                shutil.copyfile(own, index)
        elif "GIT_DIR" not in self._variables:
            self._variables |= self._make_git_dir()
        read = ("-c", "core.splitIndex=false", "read-tree")
        if self._repository.private_git.attempt(*read, "--reset", tree, extra=self._variables).returncode:
            # Entries marked assume-unchanged cannot be replaced: start from an empty index.
            index.unlink(missing_ok=True)
            self._repository.private_git.run(*read, tree, extra=self._variables)

    def _make_git_dir(self, commit: Oid | None = None) -> dict[str, str]:
        """Create a git directory whose HEAD is the branch or, if given, `commit`.

        It shares the user's refs, objects and configuration. Returns the environment variables for git.
        """
        directory = self._scratch / ("amend" if commit else "git")
        directory.mkdir()
        (directory / "HEAD").write_text(f"{commit or f'ref: {self.ref}'}\n")
        (directory / "commondir").write_text(f"{self._repository.common_dir}\n")
        return {"GIT_DIR": str(directory), "GIT_WORK_TREE": str(self._repository.work_tree)}


def _in_encoding(encoding: str | None) -> tuple[str, str]:
    return "-c", f"i18n.commitEncoding={encoding or 'UTF-8'}"


def copy_to_user_store(repository: Repository, store: ObjectStore, start: Oid | None, tip: Oid) -> None:
    """Copy the objects of the commits after `start` up to `tip` into the user's object directory."""
    since = [f"^{start}"] if start else []
    listed = repository.git.run("rev-list", "--objects", "--no-object-names", tip, *since)
    # Searching for deltas takes most of the time, and the user's next gc does it anyway.
    pack_into(repository.git, store, store.main_directory, listed, "--window=0")
