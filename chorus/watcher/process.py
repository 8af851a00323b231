"""The watcher as a process: one per repository by a lock, a rotating log, an orderly end."""

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

# Three files of 1 MB hold the recent past and never fill a disk.
MAX_LOG_BYTES = 2**20
OLD_LOG_FILES = 2
# A command's `is_locked` holds the lock for an instant; another watcher holds it for good.
LOCK_TRIES = 20
LOCK_PAUSE_SECONDS = 0.01


def acquire_lock(home: Home) -> FileLock | None:
    """Return the repository's lock with our process id in it, or None if another watcher holds it."""
    lock = FileLock(home.lock)
    for _ in range(LOCK_TRIES):
        if lock.try_acquire():
            lock.write(b"%d\n" % os.getpid())
            return lock
        time.sleep(LOCK_PAUSE_SECONDS)
    lock.close()
    return None


class _LogFile(logging.handlers.RotatingFileHandler):
    """A log file that is recreated when it was removed."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            os.stat(self.baseFilename)  # noqa: PTH116  faster; done with every line
        except FileNotFoundError:
            if self.stream is not None:
                self.stream.close()
                self.stream = None  # opened with this line
        except OSError:
            pass  # not reachable for now: the open file takes the line
        super().emit(record)


def open_log(home: Home) -> None:
    handler = _LogFile(home.log, maxBytes=MAX_LOG_BYTES, backupCount=OLD_LOG_FILES)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    root = logging.getLogger("chorus")
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    root.propagate = False


Serve = Callable[[asyncio.Event], Awaitable[bool]]


def run_until_stopped(home: Home, serve: Serve) -> bool:
    """Run `serve` until its event is set, by a request or a signal. True: run it again."""
    home.root.mkdir(mode=0o700, exist_ok=True)
    lock = acquire_lock(home)
    if lock is None:
        return False  # another watcher runs already
    with closing(lock):
        _remove_old_files(home)
        open_log(home)
        again = asyncio.run(_supervise(serve))
        lock.write(b"")
    return again


def _remove_old_files(home: Home) -> None:
    """Remove files named as in earlier versions. An earlier watcher ends when its lock file is gone."""
    for path in (*home.root.glob("agent.*"), home.spool / "agent"):
        path.unlink(missing_ok=True)


async def _supervise(serve: Serve) -> bool:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stopping.set)
    return await serve(stopping)
