"""What the agent does at the same time, and what went wrong with it."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from chorus.git.lockfile import CannotWrite

log = logging.getLogger("chorus.agent")

Start = Callable[[Coroutine[Any, Any, None]], None]


class Tasks:
    def __init__(self) -> None:
        self.problems: dict[str, str] = {}
        # Something was heard that could not be recorded, or is not heard any more.
        self.failed = asyncio.Event()
        self._all: set[asyncio.Task[None]] = set()

    def start(self, task: Coroutine[Any, Any, None]) -> None:
        """Run something beside the loops. That it failed is told; what it cannot record ends the others."""
        self._begin(task).add_done_callback(self._ended)

    def start_loop(self, loop: Coroutine[Any, Any, None]) -> None:
        """Run a loop of the agent's. Without it the agent is no longer whole."""
        self._begin(loop).add_done_callback(self._loop_ended)

    def fail(self, error: BaseException) -> None:
        log.error("the agent cannot go on", exc_info=error)
        self.problems[type(error).__name__] = str(error)
        self.failed.set()

    async def cancel(self) -> None:
        for task in list(self._all):
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*self._all, return_exceptions=True)

    def _begin(self, task: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        started = asyncio.get_running_loop().create_task(task)
        self._all.add(started)
        return started

    def _loop_ended(self, task: asyncio.Task[None]) -> None:
        self._all.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.fail(error)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._all.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        if isinstance(error, CannotWrite):
            self.fail(error)
        else:
            log.error("a task of the agent failed", exc_info=error)
            self.problems[type(error).__name__] = str(error)


async def wait_for_either(one: asyncio.Event, other: asyncio.Event) -> None:
    waiting = [asyncio.ensure_future(event.wait()) for event in (one, other)]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
