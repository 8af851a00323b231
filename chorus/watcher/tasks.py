"""What the agent does at the same time, and what went wrong with it."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from chorus.store.lock_file import CannotWrite, LockHeld

log = logging.getLogger("chorus.watcher")

# A loop that failed begins anew after this time; one that fails each time it begins costs no more than this.
REST_SECONDS = 5.0

Start = Callable[[Coroutine[Any, Any, None]], None]
Loop = Callable[[], Coroutine[Any, Any, None]]


class Tasks:
    def __init__(self, has_room: Callable[[], bool]) -> None:
        self.problems: dict[str, str] = {}
        # Something was heard that the disk does not take.
        self.failed = asyncio.Event()
        self._has_room = has_room
        self._all: set[asyncio.Task[None]] = set()

    def start(self, task: Coroutine[Any, Any, None]) -> None:
        """Run something beside the others. That it failed is told; they go on, unless the disk is full."""
        started = asyncio.get_running_loop().create_task(task)
        self._all.add(started)
        started.add_done_callback(self._ended)

    def keep(self, loop: Loop, *, rest_seconds: float = REST_SECONDS) -> None:
        """Run a loop for as long as the agent lives. One that failed is told of, rests, and begins anew."""

        async def again() -> None:
            while not self.failed.is_set():
                (ended,) = await asyncio.gather(loop(), return_exceptions=True)
                if ended is None or self.fail(ended):
                    return
                await asyncio.sleep(rest_seconds)

        self.start(again())

    def fail(self, error: BaseException) -> bool:
        """Whether it is the disk, or a lock somebody holds. Anything else would fail a fresh agent, too."""
        log.error("a task of the agent failed", exc_info=error)
        self.problems[type(error).__name__] = str(error)
        if isinstance(error, CannotWrite | LockHeld) or not self._has_room():
            self.failed.set()
        return self.failed.is_set()

    async def cancel(self) -> None:
        for task in list(self._all):
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*self._all, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._all.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.fail(error)


async def wait_for_either(one: asyncio.Event, other: asyncio.Event) -> None:
    waiting = [asyncio.ensure_future(event.wait()) for event in (one, other)]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
