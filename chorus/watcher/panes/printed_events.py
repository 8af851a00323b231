"""Take the events that a pane printed, and feed each to the pipeline once.

Events from before the pane was watched are history: nothing from them is recorded.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from chorus.agents.interface import Document, DocumentFilter, Events

# Takes events, and whether they were printed before the pane was watched.
Feed = Callable[[list[dict[str, Any]], bool], Awaitable[None]]


@dataclass(slots=True)
class PrintedEvents:
    """Feeds the events that a pane printed.

    `since`: when the pane began to be watched, perhaps by an earlier watcher. `shown` recognises the events
    that the pane showed then, because some events have no timestamp.
    """

    events: Events
    feed: Feed
    since: float
    shown: DocumentFilter | None = None
    _seen: DocumentFilter = field(init=False)

    def __post_init__(self) -> None:
        self._seen = self.events.document_filter()

    async def feed_first(self, documents: list[Document]) -> None:
        """Feed the events of the first reading. Events from before the pane was watched are history."""
        watched = next((n for n, one in enumerate(documents) if self._is_watched(one)), len(documents))
        await self._feed_new(documents[:watched], history=True)
        await self._feed_new(documents[watched:], history=False)

    async def feed_printed(self, documents: list[Document]) -> int:
        """Feed the new events of a later reading. Return how many there were."""
        return await self._feed_new(documents, history=False)

    async def _feed_new(self, documents: list[Document], *, history: bool) -> int:
        fresh = [document.value for document in documents if self._seen.is_new(document)]
        if fresh:
            await self.feed(fresh, history)
        return len(fresh)

    def _is_watched(self, document: Document) -> bool:
        try:
            return datetime.fromisoformat(document.value["timestamp"]).timestamp() >= self.since
        except (KeyError, TypeError, ValueError, OverflowError):
            return self.shown is not None and self.shown.is_new(document)
