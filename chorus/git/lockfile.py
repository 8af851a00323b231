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

from chorus.errors import ChorusError

# git holds such a lock well below a millisecond and itself waits 100 ms for one.
PATIENCE_SECONDS = 2.0
PAUSE_SECONDS = 0.001

NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
NO_RIGHT = {errno.EROFS, errno.EACCES, errno.EPERM}


class Locked(ChorusError):
    """Another process holds the lock, or died holding it."""

    hint = "If no git command is running, remove the lock file."


class CannotWrite(ChorusError):
    """The disk is full, read-only, or not ours to write to."""

    hint = "Make room, or make the git directory writable; what was there before is unchanged."


class LockFile:
    """Held from `hold` until `commit` or the end of the block; nothing is replaced without `commit`."""

    __slots__ = ("_descriptor", "_lock", "_path")

    def __init__(self, path: str, lock: str, descriptor: int) -> None:
        self._path = path
        self._lock = lock
        self._descriptor = descriptor

    def write(self, data: bytes) -> None:
        write_all(self._descriptor, data)

    def commit(self, *, durable: bool = False) -> None:
        """Put what was written in place of the old file. `durable`: on the disk before it has the name."""
        if durable:
            os.fsync(self._descriptor)
        self._close()
        os.rename(self._lock, self._path)  # noqa: PTH104  hot path
        self._lock = ""

    def release(self) -> None:
        """Let go; without a `commit` before it, nothing has changed."""
        self._close()
        if self._lock:
            os.unlink(self._lock)  # noqa: PTH108  hot path
            self._lock = ""

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


@contextlib.contextmanager
def hold(path: str | Path, patience_seconds: float = PATIENCE_SECONDS) -> Iterator[LockFile]:
    """Lock `path` for replacement. Missing parent directories are made."""
    name = os.fspath(path)
    with translated(name):
        lock = LockFile(name, f"{name}.lock", open_lock(f"{name}.lock", patience_seconds))
        try:
            yield lock
        finally:
            lock.release()


def open_lock(lock: str, patience_seconds: float) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    deadline: float | None = None
    while True:
        try:
            return os.open(lock, flags, 0o666)
        except FileNotFoundError:
            # Also when git removes an emptied directory between our making it and our using it.
            Path(lock).parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            deadline = deadline or time.monotonic() + patience_seconds
            if time.monotonic() > deadline:
                raise Locked(f"{lock} is held by another process") from None
            time.sleep(PAUSE_SECONDS)


def write_all(descriptor: int, data: bytes) -> None:
    """A write to a nearly full disk may take only part of it; the next one says why."""
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, memoryview(data)[written:])


@contextlib.contextmanager
def translated(what: str) -> Iterator[None]:
    """A full or read-only disk becomes an error a person can act on; anything else passes."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM | NO_RIGHT:
            raise CannotWrite(f"cannot write {what}: {error.strerror}") from error
        raise
