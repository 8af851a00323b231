"""The tasks the watcher runs at the same time, and their failures."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from chorus.store.lock_file import CannotWrite, LockHeld

log = logging.getLogger("chorus.watcher")

# A loop that failed is restarted after this time, so that one that always fails costs little.
RESTART_SECONDS = 5.0
# A cancelled task that still runs after this time is cancelled again.
CANCEL_AGAIN_SECONDS = 1.0

Start = Callable[[Coroutine[Any, Any, None]], None]
Loop = Callable[[], Coroutine[Any, Any, None]]


class Tasks:
    def __init__(self, has_free_space: Callable[[], bool]) -> None:
        self.problems: dict[str, str] = {}
        # Set when something cannot be recorded, so that a new watcher must take over (`fail`).
        self.failed = asyncio.Event()
        self._has_free_space = has_free_space
        self._all: set[asyncio.Task[None]] = set()

    def start(self, task: Coroutine[Any, Any, None]) -> None:
        """Start a task. If it fails, other tasks continue unless a new watcher must take over: see `fail`."""
        started = asyncio.get_running_loop().create_task(task)
        self._all.add(started)
        started.add_done_callback(self._ended)

    def run_forever(self, loop: Loop, *, restart_seconds: float = RESTART_SECONDS) -> None:
        """Run a loop for as long as the watcher runs, and restart it after a failure."""

        async def supervise() -> None:
            while not self.failed.is_set():
                (ended,) = await asyncio.gather(loop(), return_exceptions=True)
                if ended is None or self.fail(ended):
                    return
                await asyncio.sleep(restart_seconds)

        self.start(supervise())

    def fail(self, error: BaseException) -> bool:
        """Log a failure. Return True if a new watcher must take over.

        A new watcher is needed if a file could not be written, a lock was held, or the disk is full.
        """
        log.error("a task of the watcher failed", exc_info=error)
        self.problems[type(error).__name__] = str(error)
        if isinstance(error, CannotWrite | LockHeld) or not self._has_free_space():
            self.failed.set()
        return self.failed.is_set()

    async def cancel(self) -> None:
        """Cancel every task and wait until all have ended. A task that continues is cancelled again."""
        while self._all:
            for task in self._all:
                task.cancel()
            await asyncio.wait(self._all, timeout=CANCEL_AGAIN_SECONDS)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._all.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.fail(error)


async def wait_for_beat() -> None:
    """Wait for the next whole second, so that all polling loops wake the process together."""
    await asyncio.sleep(1.0 - asyncio.get_running_loop().time() % 1.0)


async def wait_for_either(one: asyncio.Event, other: asyncio.Event) -> None:
    waiting = [asyncio.ensure_future(event.wait()) for event in (one, other)]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
