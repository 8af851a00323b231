"""Refs: read, list, and move by compare-and-swap, with a reason in the reflog.

Receives names and object ids. Moves Chorus's own refs in process, by the lock-file protocol git itself
follows; any other ref, and any ref storage that is not files, through `git update-ref`. Never moves a
symbolic ref, never moves a ref that is not where the caller last saw it.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from chorus.core.ids import Oid
from chorus.errors import ChorusError
from chorus.git import lockfile
from chorus.git.commits import Signature, render_signature
from chorus.git.process import Git, GitFailed, said_by

NO_OID = Oid("0" * 40)
SYMBOLIC = "ref: "
OWN_PREFIXES = ("refs/chorus/", "refs/heads/chorus/")
# What each linked work tree has for itself; every other ref is shared.
WORKTREE_PREFIXES = ("refs/bisect/", "refs/worktree/", "refs/rewritten/")
MOST_SYMBOLIC_STEPS = 5  # as many as git follows


class RefMoved(ChorusError):
    """The ref is not where it was last seen."""

    hint = "Run the command again: another process moved the ref."


class RefRefused(ChorusError):
    """This ref cannot be created or moved."""


@dataclass(frozen=True, slots=True)
class Head:
    """`ref` is None when detached, `oid` is None when unborn."""

    ref: str | None
    oid: Oid | None


class Refs:
    def __init__(
        self, git: Git, git_dir: Path, common_dir: Path, *, in_files: bool, sign: Callable[[], Signature]
    ) -> None:
        self._git = git
        self._git_dir = git_dir
        self._common_dir = common_dir
        self._in_files = in_files
        self._sign = sign
        self._packed: dict[str, Oid] = {}
        self._packed_stamp: tuple[int, int, int] | None = None

    def head(self) -> Head:
        """Read from disk each time: the user moves it."""
        ref = self.read_symbolic("HEAD")
        return Head(ref, self.read(ref or "HEAD"))

    def read(self, name: str) -> Oid | None:
        """The object a ref leads to, through symbolic refs; None if it is not there."""
        if not self._in_files:
            return self._read_by_git(name)
        for _ in range(MOST_SYMBOLIC_STEPS):
            value = self._read_stored(name)
            if value is None or not value.startswith(SYMBOLIC):
                return Oid(value) if value else None
            name = value[len(SYMBOLIC) :]
        raise RefRefused(f"{name} leads through too many symbolic refs")

    def read_symbolic(self, name: str) -> str | None:
        """The ref that the symbolic ref `name` stands for; None if it is not symbolic."""
        if not self._in_files:
            return self._git.text("symbolic-ref", "-q", name, accept=(0, 1)) or None
        value = self._read_stored(name)
        return value[len(SYMBOLIC) :] if value and value.startswith(SYMBOLIC) else None

    def list(self, prefix: str) -> dict[str, Oid]:
        """Every ref below `prefix` (which ends in "/"), by name."""
        if not self._in_files:
            return self._list_by_git(prefix)
        loose = self._list_loose(prefix)
        # The packed ones second: a ref that `git pack-refs` moves meanwhile is seen in both, not in neither.
        found = {name: oid for name, oid in self._read_packed().items() if name.startswith(prefix)}
        return dict(sorted((found | loose).items()))

    def update(self, name: str, new: Oid, expected: Oid | None, reason: str) -> None:
        """Move `name` from `expected` (None: it must not be there) to `new`."""
        if not (self._in_files and name.startswith(OWN_PREFIXES)):
            self._update_by_git(name, "-m", one_line(reason), name, new, expected or NO_OID)
            return
        if expected is None:
            self._refuse_clash(name)
        place = self._place(name)
        with lockfile.hold(place) as lock:
            self._expect(name, expected)
            lock.write(f"{new}\n".encode())
            self._log(name, expected, new, reason)
            # The barrier: every object of this commit is on its way to the disk before the ref has it.
            try:
                lock.commit(durable=True)
            except IsADirectoryError:
                remove_empty(place)
                lock.commit()

    def delete(self, name: str, expected: Oid, reason: str) -> None:
        """Remove `name` with its reflog, if it is at `expected`. Touches packed refs: git does it."""
        self._update_by_git(name, "-m", one_line(reason), "-d", name, expected)

    def _place(self, name: str) -> str:
        shared = name.startswith("refs/") and not name.startswith(WORKTREE_PREFIXES)
        return f"{self._common_dir if shared else self._git_dir}/{name}"

    def _read_stored(self, name: str) -> str | None:
        value = read_loose(self._place(name)) or self._read_packed().get(name)
        # Packed and loose looked at in this order miss a ref that was created and packed in between.
        return value or read_loose(self._place(name))

    def _read_packed(self) -> dict[str, Oid]:
        path = self._common_dir / "packed-refs"
        try:
            found = path.stat()
        except FileNotFoundError:
            return {}
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        if stamp != self._packed_stamp:
            self._packed = parse_packed_refs(path.read_bytes())
            self._packed_stamp = stamp
        return self._packed

    def _list_loose(self, prefix: str) -> dict[str, Oid]:
        root = Path(self._place(prefix))
        names = (prefix + path.relative_to(root).as_posix() for path in files_below(root))
        found = {name: self.read(name) for name in names if not name.endswith(".lock")}
        return {name: oid for name, oid in found.items() if oid is not None}

    def _expect(self, name: str, expected: Oid | None) -> None:
        now = self._read_stored(name)
        if now is not None and now.startswith(SYMBOLIC):
            raise RefRefused(f"{name} is a symbolic ref: Chorus moves none")
        if now != expected:
            raise RefMoved(f"{name} is at {now or 'nothing'}, not at {expected or 'nothing'}")

    def _refuse_clash(self, name: str) -> None:
        """`a` and `a/b` cannot both be refs; git says so too, but only for what is on disk as files."""
        above = [parent for parent in parents_of(name) if self._read_stored(parent) is not None]
        clash = above or list(self.list(name + "/"))
        if clash:
            raise RefRefused(f"{name} cannot be created: {clash[0]} exists")

    def _log(self, name: str, old: Oid | None, new: Oid, reason: str) -> None:
        line = f"{old or NO_OID} {new} {render_signature(self._sign())}\t{one_line(reason)}\n"
        append_line(self._place(f"logs/{name}"), line.encode("utf-8", "surrogateescape"))

    def _update_by_git(self, name: str, *arguments: str) -> None:
        done = self._git.attempt("update-ref", "--no-deref", "--create-reflog", *arguments)
        words = said_by(done)
        if done.returncode and ("but expected" in words or "already exists" in words):
            raise RefMoved(f"{name} was moved: {words}")
        if done.returncode:
            raise GitFailed(f"cannot move {name}: {words}")

    def _read_by_git(self, name: str) -> Oid | None:
        return Oid(self._git.text("rev-parse", "--verify", "--quiet", name, accept=(0, 1))) or None

    def _list_by_git(self, prefix: str) -> dict[str, Oid]:
        lines = self._git.text("for-each-ref", "--format=%(objectname) %(refname)", prefix).splitlines()
        return {name: Oid(oid) for oid, name in (line.split(" ", 1) for line in lines)}


def parse_packed_refs(data: bytes) -> dict[str, Oid]:
    """Lines `OID NAME`; `#` starts the header and `^` the object a tag stands for."""
    lines = (line for line in os.fsdecode(data).split("\n") if line and line[0] not in "#^")
    return {name: Oid(oid) for oid, name in (line.split(" ", 1) for line in lines)}


def read_loose(place: str) -> str | None:
    try:
        with open(place, "rb", buffering=0) as file:  # noqa: PTH123  hot path
            value = os.fsdecode(file.read()).rstrip()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    if value and not value.startswith(SYMBOLIC) and len(value) != len(NO_OID):
        raise RefRefused(f"{place} does not hold an object id", hint="Run `git fsck` to see what is broken.")
    return value or None


def append_line(place: str, line: bytes) -> None:
    """All of the line or none of it."""
    log = open_log(place)
    try:
        size = os.fstat(log).st_size
        try:
            lockfile.write_all(log, line)
        except OSError:
            os.ftruncate(log, size)
            raise
    finally:
        os.close(log)


def open_log(place: str) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    try:
        return os.open(place, flags, 0o666)
    except FileNotFoundError:
        Path(place).parent.mkdir(parents=True, exist_ok=True)
    except IsADirectoryError:
        remove_empty(place)
    return os.open(place, flags, 0o666)


def remove_empty(place: str) -> None:
    """Deleted refs leave empty directories behind, and one may stand where this ref goes."""
    for directory, _, _ in os.walk(place, topdown=False):
        Path(directory).rmdir()


def files_below(root: Path) -> Iterator[Path]:
    for directory, _, names in os.walk(root):
        yield from (Path(directory, name) for name in names)


def parents_of(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(2, len(parts))]


def one_line(reason: str) -> str:
    return " ".join(reason.split())
