"""Open the directory of a file step by step from the root of the work tree.

Each step opens a real directory inside the previous directory. So no symbolic link is followed, even if a
program creates a link between two steps. Git directories and other repositories are not entered.
"""

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from chorus.model.ids import RepoPath
from chorus.store.worktree.file_state import Absent, Skipped, SkipReason

# O_PATH needs no permission to read the directory; not every system has it.
STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

# Well within Python's recursion limit, which nested trees count against.
MAX_DEPTH = 400

# git refuses names that Windows or macOS takes for `.git`, and `git fsck` reports trees with such names.
# Windows ignores blanks and dots at the end of a name, ends it at a colon, and has a short name for `.git`.
NTFS = re.compile(rb"(\.git|git~1)[. ]*($|[:\\])", re.IGNORECASE | re.DOTALL)
# Characters that the file system of macOS ignores in names.
MACOS_IGNORED = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)


@dataclass(frozen=True, slots=True)
class OpenParent:
    """An open directory and a name in it. `created`: how many directories `descend` created on the way."""

    directory: int
    name: bytes
    created: int = 0


class Blocked(Exception):
    """The path cannot be reached. The attribute `state` (`Absent` or `Skipped`) says why."""

    def __init__(self, state: Absent | Skipped) -> None:
        super().__init__(state)
        self.state = state


@contextlib.contextmanager
def descend(root: str, path: RepoPath, *, create: bool = False) -> Iterator[OpenParent]:
    """Open the directory of `path`. With `create`, make missing directories. Raises Blocked."""
    *parents, name = parse_names(path)
    here = os.open(root, STEP)
    created = 0
    try:
        for parent in parents:
            if create and not exists(here, parent):
                os.mkdir(parent, dir_fd=here)
                created += 1
            below = step(here, parent)
            os.close(here)
            here = below
            if exists(here, b".git"):
                raise Blocked(Skipped(SkipReason.NESTED))
        yield OpenParent(here, name, created)
    finally:
        os.close(here)


def parse_names(path: RepoPath) -> list[bytes]:
    """Split a path into names.

    Raises Blocked if the path could leave the work tree, could be inside a git directory on some system, or
    is too deep.
    """
    names = os.fsencode(path).split(b"/")
    if b"\0" in os.fsencode(path) or any(name in (b"", b".", b"..") for name in names):
        raise Blocked(Skipped(SkipReason.OUTSIDE))
    if any(map(is_git_dir, names)):
        raise Blocked(Skipped(SkipReason.GIT_DIR))
    if any(map(is_refused, names)):
        raise Blocked(Skipped(SkipReason.NAME))
    if len(names) > MAX_DEPTH:
        raise Blocked(Skipped(SkipReason.UNREADABLE, "too deep"))
    return names


def step(here: int, name: bytes) -> int:
    try:
        return os.open(name, STEP, dir_fd=here)
    except FileNotFoundError:
        raise Blocked(Absent()) from None
    except NotADirectoryError:
        raise Blocked(Absent(SkipReason.BEHIND_LINK if is_link(here, name) else None)) from None
    except OSError as error:
        raise Blocked(Skipped(SkipReason.UNREADABLE, error.strerror or "")) from error


def is_link(here: int, name: bytes) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(name, dir_fd=here).st_mode)
    except OSError:
        return False


def exists(here: int, name: bytes) -> bool:
    try:
        os.lstat(name, dir_fd=here)
    except OSError:
        return False
    return True


def names_in(here: int) -> list[bytes]:
    """The names in an open directory, exactly as they are stored."""
    readable = os.open(b".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=here)
    try:
        with os.scandir(readable) as entries:
            return [os.fsencode(entry.name) for entry in entries]
    finally:
        os.close(readable)


def is_git_dir(name: bytes) -> bool:
    return name.lower() == b".git"


def is_refused(name: bytes) -> bool:
    if NTFS.match(name):
        return True
    return not name.isascii() and name.decode(errors="replace").translate(MACOS_IGNORED).lower() == ".git"
