"""Read, list and move refs, by compare-and-swap and with a reason in the reflog.

Chorus's own refs are moved in this process, under git's lock-file protocol; a symbolic ref is refused. Other
refs are moved by `git update-ref`, which replaces a symbolic ref.
"""

import errno
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from chorus.errors import ChorusError
from chorus.model.ids import Oid
from chorus.model.lane_name import LANE_REFS
from chorus.store.git_process import Git, GitFailed, error_text
from chorus.store.lock_file import LockFile
from chorus.store.loose_refs import HIDDEN_PREFIX, SYMBOLIC, read_loose
from chorus.store.objects.commits import Signature, render_signature
from chorus.system.files.durable_writes import PendingWrites
from chorus.system.files.private_files import FILE_MODE

NO_OID = Oid("0" * 40)
OWN_PREFIXES = ("refs/chorus/", *LANE_REFS)
HIDDEN_SIGNATURE = "Chorus <chorus@localhost> 4102444800 +0000"
# Refs that each linked work tree has for itself; all others are shared.
WORKTREE_PREFIXES = ("refs/bisect/", "refs/worktree/", "refs/rewritten/")
MAX_SYMBOLIC_DEPTH = 5  # as many as git follows


class RefMoved(ChorusError):
    """The ref is not where the caller last saw it."""

    hint = "Another process moved the ref. Run the command again."


class RefRefused(ChorusError):
    """The ref cannot be created or moved."""


@dataclass(frozen=True, slots=True)
class Head:
    """HEAD. `ref` is None when detached, `oid` is None when unborn."""

    ref: str | None
    oid: Oid | None


class Refs:
    def __init__(
        self,
        git: Git,
        git_dir: Path,
        common_dir: Path,
        pending_writes: PendingWrites,
        sign: Callable[[], Signature],
    ) -> None:
        self._git = git
        self._own = str(git_dir)
        self._shared = str(common_dir)
        self._pending_writes = pending_writes
        self._sign = sign
        self._packed: dict[str, Oid] = {}
        self._packed_stamp: tuple[int, int, int] | None = None

    def head(self) -> Head:
        ref = self.read_symbolic("HEAD")
        return Head(ref, self.read(ref or "HEAD"))

    def read(self, name: str) -> Oid | None:
        """The object a ref points to, through symbolic refs; None if there is no such ref."""
        for _ in range(MAX_SYMBOLIC_DEPTH):
            value = self._read_stored(name)
            if value is None or not value.startswith(SYMBOLIC):
                return Oid(value) if value else None
            name = value[len(SYMBOLIC) :]
        raise RefRefused(f"{name} goes through too many symbolic refs")

    def read_symbolic(self, name: str) -> str | None:
        value = self._read_stored(name)
        return value[len(SYMBOLIC) :] if value and value.startswith(SYMBOLIC) else None

    def list(self, prefix: str) -> dict[str, Oid]:
        """Every ref below `prefix` (which ends in "/"), by name."""
        loose = self._list_loose(prefix)
        # Packed refs second: a ref that `git pack-refs` moves meanwhile is seen twice instead of not at all.
        found = {name: oid for name, oid in self._read_packed().items() if name.startswith(prefix)}
        return dict(sorted((found | loose).items()))

    def update(self, name: str, new: Oid, expected: Oid | None, reason: str) -> None:
        """Move `name` from `expected` to `new`. If `expected` is None, `name` must not exist.

        `reason` goes into the reflog, except for a hidden ref.
        """
        hidden = name.startswith(HIDDEN_PREFIX)
        if not name.startswith(OWN_PREFIXES) and not hidden:
            self.update_by_git(name, "-m", one_line(reason), name, new, expected or NO_OID)
            return
        if expected is None:
            self._refuse_clash(name)
        path = self._file_of(name)
        with LockFile(path, private=hidden) as lock:
            self._expect(name, path, expected)
            lock.write(f"{new}\n".encode())
            if hidden:
                self.protect_from_gc(name, new)
            else:
                self._log(name, expected, new, reason)
            self._pending_writes.wait()
            try:
                lock.commit(durable=self._pending_writes.enabled)
            except IsADirectoryError:
                remove_empty_directories(path)
                lock.commit()

    def delete(self, name: str, expected: Oid, reason: str) -> None:
        """Remove `name` and its reflog. Raises RefMoved if `name` is not at `expected`."""
        self.update_by_git(name, "-m", one_line(reason), "-d", name, expected)

    def update_by_git(self, name: str, *arguments: str) -> None:
        self._pending_writes.wait()
        done = self._git.attempt("update-ref", "--no-deref", "--create-reflog", *arguments)
        message = error_text(done)
        if done.returncode and ("but expected" in message or "already exists" in message):
            raise RefMoved(f"{name} was moved: {message}")
        if done.returncode:
            raise GitFailed(f"cannot move {name}: {message}")

    def protect_from_gc(self, name: str, new: Oid) -> None:
        """Write a hidden ref's reflog, so that git's garbage collection keeps what the ref reaches.

        The reflog has one line of fixed length, replaced in one write: a reader sees the old or the new line.
        """
        log = open_reflog(f"{self._shared}/logs/refs/{name}", append=False)
        try:
            line = f"{NO_OID} {new} {HIDDEN_SIGNATURE}\tchorus: the timeline\n".encode()
            if os.pwrite(log, line, 0) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.ftruncate(log, len(line))
        finally:
            os.close(log)

    def _file_of(self, name: str) -> str:
        if name.startswith(HIDDEN_PREFIX):
            return f"{self._shared}/{name}"
        shared = name.startswith("refs/") and not name.startswith(WORKTREE_PREFIXES)
        return f"{self._shared if shared else self._own}/{name}"

    def _read_stored(self, name: str) -> str | None:
        path = self._file_of(name)
        found = read_loose(path)
        if found:
            return found
        known = self._packed_stamp
        found = self._read_packed().get(name)
        # If packed-refs has changed, the ref may have left it and become loose since the first read.
        return found or (read_loose(path) if self._packed_stamp != known else None)

    def _read_packed(self) -> dict[str, Oid]:
        path = f"{self._shared}/packed-refs"
        try:
            found = os.stat(path)  # noqa: PTH116  hot path
        except FileNotFoundError:
            self._packed_stamp = None
            return {}
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        if stamp != self._packed_stamp:
            self._packed = parse_packed_refs(Path(path).read_bytes())
            self._packed_stamp = stamp
        return self._packed

    def _list_loose(self, prefix: str) -> dict[str, Oid]:
        root = Path(self._file_of(prefix))
        names = (prefix + path.relative_to(root).as_posix() for path in files_below(root))
        found = {name: self.read(name) for name in names if not name.endswith(".lock")}
        return {name: oid for name, oid in found.items() if oid is not None}

    def _expect(self, name: str, path: str, expected: Oid | None) -> None:
        now = read_loose(path)
        if now == expected and now is not None:
            return
        now = self._read_stored(name)
        if now is not None and now.startswith(SYMBOLIC):
            raise RefRefused(f"{name} is a symbolic ref, which Chorus does not move")
        if now != expected:
            raise RefMoved(f"{name} is at {now or 'nothing'}, not at {expected or 'nothing'}")

    def _refuse_clash(self, name: str) -> None:
        """Refuse a new ref that clashes with another: `a` and `a/b` cannot both be refs."""
        above = [parent for parent in parents_of(name) if self._read_stored(parent) is not None]
        clash = above or list(self.list(name + "/"))
        if clash:
            raise RefRefused(
                f"{name} cannot be created: {clash[0]} exists",
                hint="If that is a branch of yours, rename it with `git branch -m OLD NEW`.",
            )

    def _log(self, name: str, old: Oid | None, new: Oid, reason: str) -> None:
        line = f"{old or NO_OID} {new} {render_signature(self._sign())}\t{one_line(reason)}\n"
        append_to_reflog(self._file_of(f"logs/{name}"), line.encode("utf-8", "surrogateescape"))


def parents_of(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(2, len(parts))]


def one_line(reason: str) -> str:
    return " ".join(reason.split())


def parse_packed_refs(data: bytes) -> dict[str, Oid]:
    """Return the object id of each ref in git's `packed-refs` file."""
    lines = (line for line in os.fsdecode(data).split("\n") if line and line[0] not in "#^")
    return {name: Oid(oid) for oid, name in (line.split(" ", 1) for line in lines)}


def append_to_reflog(path: str, line: bytes) -> None:
    """Append a line to a reflog, completely or not at all. The caller must hold the ref's lock."""
    log = open_reflog(path)
    try:
        written = os.write(log, line)
        if written < len(line):
            os.ftruncate(log, os.fstat(log).st_size - written)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(log)


def open_reflog(path: str, *, append: bool = True) -> int:
    """Open the reflog of one of Chorus's refs. A new reflog can be read only by its owner."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_APPEND if append else 0)
    try:
        return os.open(path, flags, FILE_MODE)
    except FileNotFoundError:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except IsADirectoryError:
        remove_empty_directories(path)
    return os.open(path, flags, FILE_MODE)


def remove_empty_directories(path: str) -> None:
    """Remove empty directories left by deleted refs: `path` and all below it.

    Raises OSError if any of them contains a file.
    """
    for directory, _, _ in os.walk(path, topdown=False):
        Path(directory).rmdir()


def files_below(root: Path) -> Iterator[Path]:
    for directory, _, names in os.walk(root):
        yield from (Path(directory, name) for name in names)
