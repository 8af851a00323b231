"""The watcher as a process: a rotating log and an orderly end."""

import asyncio
import logging
import logging.handlers
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from io import TextIOWrapper

from chorus.system.event_loop import create_event_loop
from chorus.system.files.private_files import open_private
from chorus.wire.home import Home

# Three files of 1 MB hold the recent past and never fill a disk.
MAX_LOG_BYTES = 2**20
OLD_LOG_FILES = 2
# How long the watcher may take to exit after a stop. Whatever still runs then is cut off: all that is
# recorded survives a kill at any point. Shorter than `chorus stop` waits.
END_SECONDS = 10.0
# How long a thread may keep the interpreter before the event loop gets its turn. A request is answered within
# about ten such turns, also while a thread plans a large change.
SWITCH_SECONDS = 0.001

log = logging.getLogger("chorus.watcher")


class _LogFile(logging.handlers.RotatingFileHandler):
    """A log file that is recreated if it was removed."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            os.stat(self.baseFilename)  # noqa: PTH116  faster; done with every line
        except FileNotFoundError:
            if self.stream is not None:
                self.stream.close()
                self.stream = None  # super().emit() opens it again
        except OSError:
            pass  # the path cannot be checked now: write to the file that is open
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
    """Run `serve` with an event that a stop signal sets. Return the result of `serve`."""
    _remove_old_files(home)
    open_log(home)
    sys.setswitchinterval(SWITCH_SECONDS)
    last_resort = threading.Timer(END_SECONDS, _end_at_once)
    last_resort.daemon = True
    try:
        with asyncio.Runner(loop_factory=create_event_loop) as runner:
            return runner.run(_supervise(serve, last_resort.start))
    finally:
        last_resort.cancel()


def _remove_old_files(home: Home) -> None:
    """Remove the files of earlier versions. A watcher of such a version ends when its lock file is gone."""
    for path in (*home.root.glob("agent.*"), home.spool / "agent"):
        path.unlink(missing_ok=True)


async def _supervise(serve: Serve, bound_the_end: Callable[[], None]) -> bool:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stopping.set)

    async def wait_for_stop() -> None:
        await stopping.wait()
        bound_the_end()

    waiting = asyncio.create_task(wait_for_stop())
    try:
        return await serve(stopping)
    finally:
        waiting.cancel()


def _end_at_once() -> None:
    log.error("some tasks did not end within %.0f seconds of the stop, and are abandoned", END_SECONDS)
    os._exit(0)
