"""Replace a file under git's lock protocol: create `NAME.lock` exclusively, then rename it over NAME.

git honours the same lock, so Chorus and git never overwrite each other's changes. Chorus waits for the
lock of another process, but never removes it.
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
from chorus.system.files.durable_writes import sync_file
from chorus.system.files.private_files import FILE_MODE, make_private

# git holds such a lock for less than a millisecond and itself waits 100 ms for one.
LOCK_TIMEOUT_SECONDS = 2.0
RETRY_SECONDS = 0.001

DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
NOT_PERMITTED = {errno.EROFS, errno.EACCES, errno.EPERM}


class LockHeld(ChorusError):
    """Another process holds the lock file, or died and left it."""

    hint = "If no git command is running, remove the lock file."


class CannotWrite(ChorusError):
    """The disk is full or read-only, or permission is denied."""

    hint = "Free some disk space, or make the file and its directory writable. The old content is unchanged."


class LockFile:
    """A file to be replaced under git's lock, in a `with` block.

    Without `commit`, the file keeps its content. `private`: only the owner can read the file.
    """

    __slots__ = ("_descriptor", "_lock", "_mode", "_path")

    def __init__(self, path: str | Path, *, private: bool = False) -> None:
        self._path = os.fspath(path)
        self._lock = f"{self._path}.lock"
        self._descriptor = -1
        self._mode = FILE_MODE if private else 0o666

    def __enter__(self) -> Self:
        try:
            self._descriptor = open_lock(self._lock, self._mode)
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
        """Replace the file with what was written. `durable`: wait for the disk before the rename."""
        if durable:
            sync_file(self._descriptor)
        self._close()
        os.rename(self._lock, self._path)  # noqa: PTH104  hot path
        self._lock = ""

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def open_lock(lock: str, mode: int) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    deadline: float | None = None
    while True:
        try:
            return os.open(lock, flags, mode)
        except FileNotFoundError:
            # Create the directory. git may remove it while it is empty: then the loop creates it again.
            if mode == FILE_MODE:
                make_private(Path(lock).parent)
            else:
                Path(lock).parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            deadline = deadline or time.monotonic() + LOCK_TIMEOUT_SECONDS
            if time.monotonic() > deadline:
                raise LockHeld(f"{lock} is held by another process") from None
            time.sleep(RETRY_SECONDS)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`. On a nearly full disk, a write may be partial, and only the next write fails."""
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, memoryview(data)[written:])


def write_error(error: OSError, what: str) -> ChorusError | OSError:
    """Return CannotWrite about the path `what` if the disk is full or read-only or permission is denied.

    Any other error is returned as it is.
    """
    if error.errno in DISK_FULL | NOT_PERMITTED:
        return CannotWrite(f"cannot write {what}: {error.strerror}")
    return error


@contextlib.contextmanager
def translate_write_errors(what: str) -> Iterator[None]:
    """Raise `write_error(error, what)` for an OSError in the `with` block."""
    try:
        yield
    except OSError as error:
        raise write_error(error, what) from error
