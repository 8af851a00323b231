"""Exclusive locks between processes, by `flock`: the kernel releases them when their holder ends.

Standard library only: short commands import it.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class FileLock:
    """An exclusive lock on a file, which is created if missing. It can be taken again after `release`."""

    __slots__ = ("_descriptor",)

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def acquire(self) -> None:
        """Wait until no other process holds the lock."""
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def try_acquire(self) -> bool:
        """Take the lock if it is free."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(self) -> None:
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def write(self, data: bytes) -> None:
        """Replace the content of the file, for instance by the id of the process that holds the lock."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, data, 0)

    def close(self) -> None:
        """Release the lock and close the file."""
        os.close(self._descriptor)


@contextmanager
def try_lock(path: Path) -> Iterator[bool]:
    """Hold the lock on `path` within the block. Gives False, without waiting, if another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        yield lock.try_acquire()
    finally:
        lock.close()


def is_locked(path: Path) -> bool:
    """Whether another process holds the lock on `path`. Takes a shared lock for an instant."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False
