"""Commits on a user's branch, made by `git commit` itself so that hooks and signing take part.

Receives trees and messages, gives the commits. Works on an index of its own; the branch the work tree is on
moves as it does when its user commits, any other through a git directory made for the moment. What went
wrong is taken back by compare-and-swap. Never writes to the work tree.
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
from chorus.store.objects.object_store import ObjectStore
from chorus.store.repository import Repository
from chorus.store.user_index import wait_unlocked

SCRATCH_PREFIX = "landing-"
# What `git merge --squash` leaves and the next commit takes away.
SQUASH_MARK = "SQUASH_MSG"


class CommitRefused(ChorusError):
    """git, or one of the user's hooks, refused the commit. Everything is as it was."""

    hint = "Mend what the hook complains about, then land again."


class BranchBusy(ChorusError):
    """The branch cannot take commits right now."""

    exit_code = ExitCode.REFUSED


class UserBranch:
    """One branch of the user's, to be committed to. Use `Branch.opened`."""

    def __init__(self, repository: Repository, ref: str, scratch: Path) -> None:
        self._repository = repository
        self._git = UserGit(repository.work_tree)
        self.ref = ref
        self.start = repository.refs.read(ref)
        self.tip = self.start
        self.is_checked_out = repository.head().ref == ref
        self._scratch = scratch
        self._variables = {"GIT_INDEX_FILE": str(scratch / "index")}
        self._note = repository.git_dir / "COMMIT_EDITMSG"
        self._note_before = self._note.read_bytes() if self._note.exists() else None

    @classmethod
    @contextlib.contextmanager
    def open(cls, repository: Repository, ref: str) -> Iterator[Self]:
        repository.own_dir.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=SCRATCH_PREFIX, dir=repository.own_dir))
        try:
            branch = cls(repository, ref, scratch)
            branch.refuse_busy()
            yield branch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def refuse_busy(self) -> None:
        if not self.is_checked_out:
            elsewhere = self._repository.checked_out().get(self.ref)
            if elsewhere is not None:
                name = branch_name(self.ref)
                raise BranchBusy(f"{name} is in use in {elsewhere}", hint="Land from that work tree.")
            return
        wait_unlocked(self._repository)
        squash = "squash merge" if (self._repository.git_dir / SQUASH_MARK).exists() else None
        operation = self._repository.operation() or squash
        if operation:
            raise BranchBusy(f"a {operation} is under way", hint="Finish or abort it, then land.")

    def commit(self, tree: Oid, message: str) -> Oid:
        """One commit of this tree, or of what hooks make of it. Refused: the branch is back at its start."""
        self._prepare(tree)
        text = self._scratch / "message"
        text.write_bytes(message.encode("utf-8", "surrogateescape"))
        words = ("commit", "--quiet", "--cleanup=whitespace", "-F", str(text))
        done = self._git.attempt(*words, extra=self._variables)
        if done.returncode:
            self.roll_back()
            said = "\n".join(filter(None, (done.stdout.decode(errors="replace").strip(), error_text(done))))
            raise CommitRefused(f"the commit was refused; nothing was changed\n{said}")
        new = self._repository.refs.read(self.ref)
        assert new is not None
        self.tip = new
        return new

    def roll_back(self) -> None:
        """The branch where it was, unless somebody else moved it on."""
        refs = self._repository.refs
        if self.tip != self.start and self.tip is not None:
            reason = "chorus: landing taken back"
            if self.start is None:
                refs.delete(self.ref, self.tip, reason)
            else:
                refs.update(self.ref, self.start, self.tip, reason)
            self.tip = self.start
        if self._note_before is None:
            self._note.unlink(missing_ok=True)
        elif self._note.read_bytes() != self._note_before:
            self._note.write_bytes(self._note_before)

    def copy_to_user_store(self, store: ObjectStore) -> None:
        assert self.tip is not None
        copy_to_user_store(self._repository, store, self.start, self.tip)

    def _prepare(self, tree: Oid) -> None:
        """An index that holds this tree; what the user's knows of the files on disk is kept."""
        index = self._scratch / "index"
        own = self._repository.git_dir / "index"
        if self.is_checked_out:
            if not index.exists() and own.exists():
                shutil.copyfile(own, index)
        elif "GIT_DIR" not in self._variables:
            self._variables |= self._make_git_dir()
        read = ("-c", "core.splitIndex=false", "read-tree")
        if self._repository.git.attempt(*read, "--reset", tree, extra=self._variables).returncode:
            # Entries that are assumed to be unchanged cannot be replaced: one of nothing but this tree.
            index.unlink(missing_ok=True)
            self._repository.git.run(*read, tree, extra=self._variables)

    def _make_git_dir(self) -> dict[str, str]:
        """A git directory whose HEAD is the branch, beside the user's own."""
        place = self._scratch / "git"
        place.mkdir()
        (place / "HEAD").write_text(f"ref: {self.ref}\n")
        (place / "commondir").write_text(f"{self._repository.common_dir}\n")
        return {"GIT_DIR": str(place), "GIT_WORK_TREE": str(self._repository.work_tree)}


def copy_to_user_store(repository: Repository, store: ObjectStore, start: Oid | None, tip: Oid) -> None:
    """What the new commits hold goes into the user's own store: their branch needs no other."""
    since = [f"^{start}"] if start else []
    listed = repository.git.run("rev-list", "--objects", "--no-object-names", tip, *since)
    # Looking for what resembles what takes most of the time, and is done again by the user's next gc.
    pack_into(repository.git, store, store.main_directory, listed, "--window=0")
