"""The events a headless client prints into its pane, read through a pipe of Chorus's own.

Gives whole JSON objects in order: first those the pane still shows from before, then what is printed
from now on; one that is met in both is given once.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from chorus.agents.claude_code.terminal import Reassembler
from chorus.agents.claude_code.terminal.documents import SeenDocuments
from chorus.agents.interface import Document
from chorus.model.ids import PaneId
from chorus.tmux.pipe import PanePipe, open_pipe
from chorus.tmux.tmux_server import Tmux

log = logging.getLogger("chorus.watcher")

# (objects, whether they were printed before the pane was watched)
Hear = Callable[[list[dict[str, Any]], bool], Awaitable[None]]


class PaneStream:
    def __init__(self, tmux: Tmux, pane: PaneId, fifo: Path, hear: Hear, *, since: float) -> None:
        """Raises PipeTaken if somebody else reads this pane: theirs is never taken over.

        `since`: when the pane began to be watched. What was printed before is history; what an agent that
        was killed may have missed is not.
        """
        self._tmux = tmux
        self._pipe: PanePipe = open_pipe(tmux, pane, fifo)
        self._hear = hear
        self._since = since
        self._seen = SeenDocuments()
        # Neither the pipe nor a joined capture wraps: an object that goes on over a newline was cut off.
        self._reassembler = Reassembler(unwrapped=True)
        self._busy = asyncio.Lock()
        self._closed = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Tell what the pane still shows, then listen."""
        before = Reassembler(unwrapped=True)
        documents = [*before.feed(self._pipe.before), *before.close()]
        watched = next((n for n, one in enumerate(documents) if self._is_watched(one)), len(documents))
        await self._tell(documents[:watched], history=True)
        await self._tell(documents[watched:], history=False)
        self._listen_again()

    async def drain(self) -> None:
        """Hear everything that has been printed by now."""
        async with self._busy:
            # What is heard may take a while, and the stream be closed meanwhile.
            while not self._closed and (chunk := self._pipe.read()):
                await self._tell(self._reassembler.feed(chunk), history=False)
            if self._pipe.ended and not self._closed:
                self._stop_listening()

    def close(self) -> None:
        """Read no more. What is unheard by now is still in the pane, for whoever opens it next."""
        self._closed = True
        self._stop_listening()
        self._pipe.close(self._tmux)

    @property
    def problems(self) -> dict[str, int]:
        return dict(self._reassembler.problems)

    async def _tell(self, documents: list[Document], *, history: bool) -> None:
        fresh = [document.value for document in documents if self._seen.is_new(document)]
        if fresh:
            await self._hear(fresh, history)

    def _is_watched(self, document: Document) -> bool:
        """Whether the event says that it happened while the pane was watched."""
        try:
            return datetime.fromisoformat(document.value["timestamp"]).timestamp() >= self._since
        except (KeyError, TypeError, ValueError, OverflowError):
            return False

    def _readable(self) -> None:
        task = asyncio.get_running_loop().create_task(self.drain())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # One reading at a time: listening goes on when it is done.
        self._stop_listening()
        task.add_done_callback(lambda _: self._listen_again())

    def _listen_again(self) -> None:
        if not self._pipe.ended and not self._closed:
            asyncio.get_running_loop().add_reader(self._pipe.fileno(), self._readable)

    def _stop_listening(self) -> None:
        asyncio.get_running_loop().remove_reader(self._pipe.fileno())
