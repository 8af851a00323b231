"""The events that a headless client prints in its pane, read through `pipe-pane`.

Yields whole JSON objects in order: first those the pane still shows from before, then what is printed from
now on; an object that is in both comes once.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from chorus.agents.interface import Document, Events
from chorus.model.ids import PaneId
from chorus.tmux.pipe import PanePipe, open_pipe
from chorus.tmux.tmux_server import Tmux

log = logging.getLogger("chorus.watcher")

# (objects, whether they were printed before the pane was watched)
Feed = Callable[[list[dict[str, Any]], bool], Awaitable[None]]


class PaneStream:
    def __init__(
        self, events: Events, tmux: Tmux, pane: PaneId, fifo: Path, feed: Feed, *, since: float
    ) -> None:
        """Raises PipeTaken if another program already reads this pane: its pipe is never replaced.

        `since`: when the pane began to be watched. What was printed before is history; what a killed watcher
        may have missed is not.
        """
        self._tmux = tmux
        self._pipe: PanePipe = open_pipe(tmux, pane, fifo)
        self._feed = feed
        self._since = since
        self._seen = events.document_filter()
        self._events = events
        self._reader = events.read_stream()
        self._busy = asyncio.Lock()
        self._closed = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Feed what the pane still shows, then read on."""
        before = self._events.read_stream()
        documents = [*before.feed(self._pipe.before), *before.close()]
        watched = next((n for n, one in enumerate(documents) if self._is_watched(one)), len(documents))
        await self._feed_documents(documents[:watched], history=True)
        await self._feed_documents(documents[watched:], history=False)
        self._add_reader()

    async def drain(self) -> None:
        """Feed everything that has been printed by now."""
        async with self._busy:
            # Feeding may take a while, and the stream may be closed meanwhile.
            while not self._closed and (chunk := self._pipe.read()):
                await self._feed_documents(self._reader.feed(chunk), history=False)
            if self._pipe.ended and not self._closed:
                self._remove_reader()

    def close(self) -> None:
        """Stop reading. What is unread by now is still in the pane, for the next stream that is opened."""
        self._closed = True
        self._remove_reader()
        self._pipe.close(self._tmux)

    @property
    def problems(self) -> dict[str, int]:
        return dict(self._reader.problems)

    async def _feed_documents(self, documents: list[Document], *, history: bool) -> None:
        fresh = [document.value for document in documents if self._seen.is_new(document)]
        if fresh:
            await self._feed(fresh, history)

    def _is_watched(self, document: Document) -> bool:
        """Return whether the event's time is after the pane began to be watched."""
        try:
            return datetime.fromisoformat(document.value["timestamp"]).timestamp() >= self._since
        except (KeyError, TypeError, ValueError, OverflowError):
            return False

    def _readable(self) -> None:
        task = asyncio.get_running_loop().create_task(self.drain())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # One drain at a time: the reader is added again when it is done.
        self._remove_reader()
        task.add_done_callback(lambda _: self._add_reader())

    def _add_reader(self) -> None:
        if not self._pipe.ended and not self._closed:
            asyncio.get_running_loop().add_reader(self._pipe.fileno(), self._readable)

    def _remove_reader(self) -> None:
        asyncio.get_running_loop().remove_reader(self._pipe.fileno())
