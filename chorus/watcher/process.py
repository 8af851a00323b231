"""The watcher as a process: a rotating log and an orderly end."""

import asyncio
import logging
import logging.handlers
import os
import signal
from collections.abc import Awaitable, Callable
from io import TextIOWrapper

from chorus.system.private_files import open_private
from chorus.wire.home import Home

# Three files of 1 MB hold the recent past and never fill a disk.
MAX_LOG_BYTES = 2**20
OLD_LOG_FILES = 2


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

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", opener=open_private)


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
    _remove_old_files(home)
    open_log(home)
    return asyncio.run(_supervise(serve))


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
