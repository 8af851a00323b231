"""The events that a headless client prints in its pane, read through `pipe-pane`.

The events that the pane still shows are fed first. Each event is fed once.
"""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from chorus.model.ids import PaneId
from chorus.tmux.pipe import PanePipe, open_pipe
from chorus.tmux.tmux_server import Tmux
from chorus.watcher.panes.printed_events import PrintedEvents

log = logging.getLogger("chorus.watcher")


class PaneStream:
    def __init__(
        self,
        printed: PrintedEvents,
        tmux: Tmux,
        pane: PaneId,
        fifo: Path,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_end` is called when the pane has ended, or another program has taken its pipe.

        Raises PipeTaken if another program already pipes this pane.
        """
        self._on_end = on_end
        self._tmux = tmux
        self._pipe: PanePipe = open_pipe(tmux, pane, fifo)
        self._printed = printed
        self._reader = printed.events.read_stream()
        self._busy = asyncio.Lock()
        self._closed = self._ended = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Feed what the pane still shows, then begin to read the pipe."""
        shown = self._pipe.before.encode("utf-8", "surrogateescape")
        await self._printed.feed_first(self._printed.events.read_capture(shown))
        self._add_reader()

    async def drain(self) -> None:
        """Feed everything that has been printed by now."""
        async with self._busy:
            # Feeding may take a while, and the stream may be closed meanwhile.
            while not self._closed and (chunk := self._pipe.read()):
                await self._printed.feed_printed(self._reader.feed(chunk))
            if self._pipe.ended and not self._closed and not self._ended:
                self._ended = True
                self._remove_reader()
                self._on_end()

    def close(self) -> None:
        """Stop reading. Unread output stays in the pane for the next stream."""
        self._closed = True
        self._remove_reader()
        self._pipe.close(self._tmux)

    @property
    def problems(self) -> dict[str, int]:
        return dict(self._reader.problems)

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
