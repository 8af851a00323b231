"""The way from a work tree's root to the directory that holds a file, one step at a time.

Receives a path, gives an open directory and the last name. Each step opens a real directory in the one
before, so no symbolic link is ever followed, whatever is swapped meanwhile. Never enters a git directory
or another repository.
"""

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from chorus.model.ids import RepoPath
from chorus.store.worktree.file_state import Absent, Skipped, SkipReason

# O_PATH needs no right to read the directory; where it does not exist, reading has to do.
STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

# As many as Python's own recursion through nested trees allows with room to spare.
MAX_DEPTH = 400


@dataclass(frozen=True, slots=True)
class OpenParent:
    """An open directory and a name in it. `made` says how many of the last directories are new."""

    directory: int
    name: bytes
    made: int = 0


class Blocked(Exception):
    """The way ends here; `state` is what is to be said of the path."""

    def __init__(self, state: Absent | Skipped) -> None:
        super().__init__(state)
        self.state = state


@contextlib.contextmanager
def descend(root: str, path: RepoPath, *, make: bool = False) -> Iterator[OpenParent]:
    """Open the directory of `path`; `make` creates those missing. Raises Blocked where it ends."""
    *parents, name = parse_names(path)
    here = os.open(root, STEP)
    made = 0
    try:
        for parent in parents:
            if make and not exists(here, parent):
                os.mkdir(parent, dir_fd=here)
                made += 1
            below = step(here, parent)
            os.close(here)
            here = below
            if exists(here, b".git"):
                raise Blocked(Skipped(SkipReason.NESTED))
        yield OpenParent(here, name, made)
    finally:
        os.close(here)


def parse_names(path: RepoPath) -> list[bytes]:
    """The names along a path; refuses what could leave the work tree or enter a git directory."""
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


# Windows drops blanks and dots at the end, ends a name at a colon, and knows `.git` by a short name too.
NTFS = re.compile(rb"(\.git|git~1)[. ]*($|[:\\])", re.IGNORECASE | re.DOTALL)
# What the file system of macOS overlooks in a name.
OVERLOOKED = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])


def is_git_dir(name: bytes) -> bool:
    return name.lower() == b".git"


def is_refused(name: bytes) -> bool:
    if NTFS.match(name):
        return True
    return not name.isascii() and name.decode(errors="replace").translate(OVERLOOKED).lower() == ".git"
