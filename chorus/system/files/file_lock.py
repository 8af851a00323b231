"""Exclusive locks between processes, by `flock`: the kernel releases them when their holder ends.

Any user who can open a lock file can hold its lock, so a lock file that other users could open is replaced.
Standard library only, because short commands import this module.
"""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chorus.errors import ChorusError, ExitCode
from chorus.system.files.private_files import FILE_MODE, is_private, make_private

OPEN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
# Errors of a file system without locks. EOPNOTSUPP and ENOTSUP are one number on Linux, but two on macOS.
UNKNOWN_CALL = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL)
# Errors of a file that is another user's, or a symbolic link.
NOT_OURS = (errno.EACCES, errno.EPERM, errno.ELOOP)


class NoLocks(ChorusError):
    """The file system has no locks, as on some network mounts."""

    exit_code = ExitCode.SYSTEM_ERROR
    hint = "Move the repository to a local disk, or mount the file system with locking enabled."


class FileLock:
    """An exclusive lock on a file, which is created if missing."""

    __slots__ = ("_descriptor", "_path")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = _open_own(path)

    def acquire(self) -> None:
        """Wait for the lock and take it."""
        self._lock(fcntl.LOCK_EX)

    def try_acquire(self) -> bool:
        """Take the lock and return True, or return False if it is held."""
        try:
            self._lock(fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _lock(self, how: int) -> None:
        with _refusing_without_locks(self._path):
            fcntl.flock(self._descriptor, how)

    def release(self) -> None:
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def write(self, data: bytes) -> None:
        """Replace the content of the lock file, for example with the holder's process id."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, data, 0)

    def close(self) -> None:
        """Release the lock and close the file."""
        os.close(self._descriptor)


@contextmanager
def try_lock(path: Path) -> Iterator[bool]:
    """Hold the lock on `path` in the block. Yields False if another process holds it."""
    make_private(path.parent)
    lock = FileLock(path)
    try:
        yield lock.try_acquire()
    finally:
        lock.close()


def is_locked(path: Path) -> bool:
    """True if the lock on `path` is held. The check takes a shared lock for an instant."""
    try:
        with path.open("rb") as file, _refusing_without_locks(path):
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


def require_locks(directory: Path) -> None:
    """Raise `NoLocks` if the file system of this directory has no locks."""
    path = directory / f"{os.getpid()}.locks"
    lock = FileLock(path)
    try:
        lock.try_acquire()
    finally:
        lock.close()
        path.unlink(missing_ok=True)


@contextmanager
def _refusing_without_locks(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in UNKNOWN_CALL:
            raise NoLocks(f"cannot lock {path}: {error.strerror}") from error
        raise


def _open_own(path: Path) -> int:
    """Open the lock file. Replace it first if another user may hold its lock."""
    try:
        descriptor = os.open(path, OPEN, FILE_MODE)
    except OSError as error:
        if error.errno not in NOT_OURS:
            raise
    else:
        if _is_own(descriptor, path):
            return descriptor
        os.close(descriptor)
    path.unlink(missing_ok=True)
    return os.open(path, OPEN, FILE_MODE)


def _is_own(descriptor: int, path: Path) -> bool:
    state = os.fstat(descriptor)
    if state.st_uid != path.parent.stat().st_uid:
        return False
    if is_private(state):
        return True
    os.fchmod(descriptor, FILE_MODE)
    # On a file system without modes, the mode has not changed, and replacing the file would not help.
    return not is_private(os.fstat(descriptor))
