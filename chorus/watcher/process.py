"""The agent as a process: one per repository by lock, a log that rotates, an end that is orderly."""

import asyncio
import logging
import logging.handlers
import os
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import closing

from chorus.system.file_lock import FileLock
from chorus.wire.home import Home

# Three files of 1 MB say what happened lately and never fill a disk.
LOG_BYTES = 2**20
LOG_FILES = 2
# `is_locked` in a client holds the lock for an instant; a real second agent holds it for good.
LOCK_TRIES = 20
LOCK_PAUSE_SECONDS = 0.01


def acquire_lock(home: Home) -> FileLock | None:
    """The repository's lock with our process id in it, or None if another agent holds it."""
    lock = FileLock(home.lock)
    for _ in range(LOCK_TRIES):
        if lock.try_acquire():
            lock.write(b"%d\n" % os.getpid())
            return lock
        time.sleep(LOCK_PAUSE_SECONDS)
    lock.close()
    return None


class _LogFile(logging.handlers.RotatingFileHandler):
    """One that somebody took away is made anew."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            os.stat(self.baseFilename)  # noqa: PTH116  with every line
        except FileNotFoundError:
            if self.stream is not None:
                self.stream.close()
                self.stream = None  # opened with this line
        except OSError:
            pass  # out of reach for now: the open file takes the line
        super().emit(record)


def open_log(home: Home) -> None:
    handler = _LogFile(home.log, maxBytes=LOG_BYTES, backupCount=LOG_FILES)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    root = logging.getLogger("chorus")
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    root.propagate = False


Serve = Callable[[asyncio.Event], Awaitable[bool]]


def run_until_stopped(home: Home, serve: Serve) -> bool:
    """Run `serve` until its event is set, by a request or a signal. True: it asks to be run anew."""
    home.root.mkdir(mode=0o700, exist_ok=True)
    lock = acquire_lock(home)
    if lock is None:
        return False  # another agent runs already
    with closing(lock):
        open_log(home)
        again = asyncio.run(_supervise(serve))
        lock.write(b"")
    return again


async def _supervise(serve: Serve) -> bool:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stopping.set)
    return await serve(stopping)
