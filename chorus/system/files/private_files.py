"""Directories and files that only their owner can use, from the moment they exist.

Standard library only, because short commands import this module.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

from chorus.errors import ChorusError, ExitCode

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600
OTHERS = 0o077
# The end of the names of all lock files, by which `make_private` knows them.
LOCK_SUFFIX = ".lock"


class NotOwned(ChorusError):
    """A directory of Chorus belongs to another user."""

    exit_code = ExitCode.REFUSED
    hint = "Use Chorus as that user, or in a clone of your own."


class NotADirectory(ChorusError, NotADirectoryError):
    """There is a file in the place of a directory of Chorus."""

    hint = "Remove the file, or remove Chorus from this repository with `chorus gc --all`."


def make_private(directory: Path) -> None:
    """Create a private directory, and missing directories above it.

    An existing directory that others can use is made private, with everything in it. Lock files that others
    can open are removed, because others may hold the locks. But if any lock file names a live process of this
    user, all lock files are kept.
    """
    try:
        directory.mkdir(mode=DIRECTORY_MODE)
    except FileNotFoundError:
        make_private(directory.parent)
        directory.mkdir(mode=DIRECTORY_MODE, exist_ok=True)
    except FileExistsError:
        _correct(directory)


def open_private(path: str, flags: int) -> int:
    """An `opener` for `open` that creates private files."""
    return os.open(path, flags | os.O_CLOEXEC, FILE_MODE)


def append_line(path: Path, line: bytes) -> None:
    """Append a line to a private file. If a crash cut the last line short, start a new line first."""
    with open(path, "a+b", opener=open_private) as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            line = line if file.read(1) == b"\n" else b"\n" + line
        file.write(line)


def is_private(state: os.stat_result) -> bool:
    return not state.st_mode & OTHERS


def _correct(directory: Path) -> None:
    state = directory.stat()
    if not stat.S_ISDIR(state.st_mode):
        raise NotADirectory(f"{directory} is not a directory")
    if state.st_uid != os.geteuid() and not _creates_as(directory, state.st_uid):
        raise NotOwned(f"{directory} belongs to another user (uid {state.st_uid})")
    if is_private(state):
        return
    # On a file system without modes, the directory stays open to others, and `chorus doctor` says so.
    with suppress(PermissionError):
        directory.chmod(stat.S_IMODE(state.st_mode) & ~OTHERS)
        found = [
            Path(folder, name) for folder, names, files in os.walk(directory) for name in (*names, *files)
        ]
        keeps_locks = any(_names_own_process(path) for path in found if path.suffix == LOCK_SUFFIX)
        for path in found:
            _take_from_others(path, keeps_locks=keeps_locks)


def _names_own_process(lock: Path) -> bool:
    """True if the lock file holds the id of a live process of this user."""
    try:
        if not stat.S_ISREG(lock.lstat().st_mode):
            return False  # reading a pipe could block
        process = int(lock.read_bytes()[:20])
        if process > 0:
            os.kill(process, 0)
    except (OSError, ValueError, OverflowError):
        return False
    return process > 0


def _take_from_others(path: Path, *, keeps_locks: bool) -> None:
    with suppress(OSError):  # removed meanwhile, or of another user
        state = path.lstat()
        if stat.S_ISLNK(state.st_mode) or is_private(state):
            return
        if stat.S_ISREG(state.st_mode) and path.suffix == LOCK_SUFFIX and not keeps_locks:
            path.unlink()
        else:
            path.chmod(stat.S_IMODE(state.st_mode) & ~OTHERS)


def _creates_as(directory: Path, uid: int) -> bool:
    """True if new files in the directory belong to `uid`: a mount may give all files to one user."""
    probe = directory / f"owner.{os.getpid()}.tmp"
    try:
        descriptor = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
    except OSError:
        return False
    try:
        return os.fstat(descriptor).st_uid == uid
    finally:
        os.close(descriptor)
        probe.unlink(missing_ok=True)
