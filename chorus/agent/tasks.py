"""What the agent does at the same time, and what went wrong with it."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

log = logging.getLogger("chorus.agent")

Start = Callable[[Coroutine[Any, Any, None]], None]


class Tasks:
    def __init__(self) -> None:
        self.problems: dict[str, str] = {}
        self._all: set[asyncio.Task[None]] = set()

    def start(self, task: Coroutine[Any, Any, None]) -> None:
        """Run a loop of the agent's. One that fails is told, and the agent goes on with the others."""
        started = asyncio.get_running_loop().create_task(task)
        self._all.add(started)
        started.add_done_callback(self._ended)

    async def cancel(self) -> None:
        for task in list(self._all):
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*self._all, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._all.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a loop of the agent failed", exc_info=error)
            self.problems[type(error).__name__] = str(error)
