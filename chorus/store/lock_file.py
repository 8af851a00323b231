"""A file replaced under git's own lock protocol: `NAME.lock` made exclusively, then renamed over NAME.

Receives a path, gives a lock to write into. Every git honours the same lock, so neither side can
write over the other. Never waits without end, never breaks a lock it did not take.
"""

import contextlib
import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from chorus.errors import ChorusError

# git holds such a lock well below a millisecond and itself waits 100 ms for one.
LOCK_TIMEOUT_SECONDS = 2.0
RETRY_SECONDS = 0.001

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
NO_RIGHT = {errno.EROFS, errno.EACCES, errno.EPERM}


class LockHeld(ChorusError):
    """Another process holds the lock, or died holding it."""

    hint = "If no git command is running, remove the lock file."


class CannotWrite(ChorusError):
    """The disk is full, read-only, or not ours to write to."""

    hint = "Make room, or make the git directory writable; what was there before is unchanged."


class LockFile:
    """Held within its `with` block; nothing is replaced without a `commit` in it."""

    __slots__ = ("_descriptor", "_lock", "_path")

    def __init__(self, path: str | Path) -> None:
        self._path = os.fspath(path)
        self._lock = f"{self._path}.lock"
        self._descriptor = -1

    def __enter__(self) -> Self:
        """Take the lock. Missing parent directories are made."""
        try:
            self._descriptor = open_lock(self._lock)
        except OSError as error:
            raise write_error(error, self._path) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        if self._lock:
            os.unlink(self._lock)  # noqa: PTH108  hot path
        if isinstance(error, OSError):
            raise write_error(error, self._path) from error

    def write(self, data: bytes) -> None:
        write_all(self._descriptor, data)

    def commit(self, *, durable: bool = False) -> None:
        """Put what was written in place of the old file. `durable`: on the disk before it has the name."""
        if durable:
            os.fsync(self._descriptor)
        self._close()
        os.rename(self._lock, self._path)  # noqa: PTH104  hot path
        self._lock = ""

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def open_lock(lock: str) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    deadline: float | None = None
    while True:
        try:
            return os.open(lock, flags, 0o666)
        except FileNotFoundError:
            # Also when git removes an emptied directory between our making it and our using it.
            Path(lock).parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            deadline = deadline or time.monotonic() + LOCK_TIMEOUT_SECONDS
            if time.monotonic() > deadline:
                raise LockHeld(f"{lock} is held by another process") from None
            time.sleep(RETRY_SECONDS)


def write_all(descriptor: int, data: bytes) -> None:
    """A write to a nearly full disk may take only part of it; the next one says why."""
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, memoryview(data)[written:])


def write_error(error: OSError, what: str) -> ChorusError | OSError:
    """A full or read-only disk becomes an error a person can act on; anything else stays what it is."""
    if error.errno in NO_ROOM | NO_RIGHT:
        return CannotWrite(f"cannot write {what}: {error.strerror}")
    return error


@contextlib.contextmanager
def translate_write_errors(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise write_error(error, what) from error
