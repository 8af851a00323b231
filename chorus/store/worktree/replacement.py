"""The steps by which one file of a work tree is replaced or removed, whole or not at all.

Receives a path and what the caller last saw there. A scratch file beside the path is renamed over it.
Changes nothing if the path is no longer as the caller saw it, and takes away the directories it empties.
"""

import contextlib
import itertools
import os
import re
import stat
from collections.abc import Iterator

from chorus.errors import ChorusError
from chorus.model.ids import RepoPath
from chorus.store.lock_file import translated, write_all
from chorus.store.objects.directory import EXECUTABLE_MODE, SYMLINK_MODE
from chorus.store.worktree.descent import Blocked, Place, descend, names_in
from chorus.store.worktree.file_state import File, FileState, Stamp

CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
EXECUTABLE_BITS = 0o111
# The process, and a number.
SCRATCH_NAME = rb"\.chorus-\d+-\d+\.tmp"

_serial = itertools.count()


class CannotReplace(ChorusError):
    """The path is not as it was seen, or cannot be written; nothing was changed."""

    hint = "Look at the path, then run the command again."


def delete_file(root: str, path: RepoPath, expected: FileState) -> None:
    with translated(path), open_place(root, path) as place:
        refuse_changed(path, place, expected)
        os.unlink(place.name, dir_fd=place.directory)
    remove_empty(root, path, path.count("/"))


def remove_left(root: str, path: RepoPath) -> None:
    """Take away what processes that are dead left waiting in the directory of `path`."""
    with translated(path), contextlib.suppress(Blocked, FileNotFoundError), descend(root, path) as place:
        for name in names_in(place.directory):
            if re.fullmatch(SCRATCH_NAME, name):
                os.unlink(name, dir_fd=place.directory)


def name_scratch() -> bytes:
    return b".chorus-%d-%d.tmp" % (os.getpid(), next(_serial))


@contextlib.contextmanager
def open_place(root: str, path: RepoPath, *, make: bool = False) -> Iterator[Place]:
    try:
        with descend(root, path, make=make) as place:
            yield place
    except Blocked as blocked:
        why = blocked.state.why.value if blocked.state.why else "is not there"
        raise CannotReplace(f"{path} {why}") from blocked


def make_scratch(place: Place, scratch: bytes, mode: int, data: bytes) -> int | None:
    """The open file; None for a link."""
    if mode == SYMLINK_MODE:
        os.symlink(data, scratch, dir_fd=place.directory)
        return None
    old = look(place)
    descriptor = os.open(scratch, CREATE, 0o666, dir_fd=place.directory)
    try:
        write_all(descriptor, data)
        kept = old if old and stat.S_ISREG(old.st_mode) else os.fstat(descriptor)
        os.fchmod(descriptor, bits_for(mode, stat.S_IMODE(kept.st_mode)))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def bits_for(mode: int, bits: int) -> int:
    """Permissions with the executable bits git asks for: set where the file may be read, or taken away."""
    if mode == EXECUTABLE_MODE:
        return bits if bits & stat.S_IXUSR else bits | stat.S_IXUSR | (bits & 0o444) >> 2
    return bits & ~EXECUTABLE_BITS


def look(place: Place) -> os.stat_result | None:
    try:
        return os.lstat(place.name, dir_fd=place.directory)
    except FileNotFoundError:
        return None


def refuse_changed(path: RepoPath, place: Place, expected: FileState) -> None:
    """A directory where no file was expected is no file; `put` says whether it can go."""
    now = look(place)
    stamp = Stamp.of(now) if now and not stat.S_ISDIR(now.st_mode) else None
    if stamp != (expected.stamp if isinstance(expected, File) else None):
        raise CannotReplace(f"{path} has changed since it was read")


def put(path: RepoPath, place: Place, directory: int, scratch: bytes) -> None:
    try:
        os.rename(scratch, place.name, src_dir_fd=directory, dst_dir_fd=place.directory)
    except IsADirectoryError:
        with directory_in_the_way(path):
            os.rmdir(place.name, dir_fd=place.directory)
        os.rename(scratch, place.name, src_dir_fd=directory, dst_dir_fd=place.directory)


@contextlib.contextmanager
def directory_in_the_way(path: RepoPath) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotReplace(f"{path} is a directory that is not empty") from error


def remove_empty(root: str, path: RepoPath, levels: int) -> None:
    """Remove up to `levels` of the directories above `path`, as long as they are empty."""
    with contextlib.suppress(OSError, Blocked):
        for _ in range(levels):
            path = RepoPath(path.rpartition("/")[0])
            with descend(root, path) as place:
                os.rmdir(place.name, dir_fd=place.directory)
