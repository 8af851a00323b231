"""The events that a headless client prints in a pane that another program pipes, read from the screen.

tmux has one pipe per pane, and the other program keeps it. So what tmux keeps of the output is read again and
again while a client runs; what scrolls out of its history in between is missed.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from chorus.model.ids import PaneId
from chorus.tmux.errors import ConnectionLost, PaneGone, ServerGone
from chorus.tmux.panes import read_history
from chorus.tmux.tmux_server import Tmux
from chorus.watcher.panes.printed_events import PrintedEvents

READ_SECONDS = 0.2


class ScreenStream:
    def __init__(
        self, printed: PrintedEvents, tmux: Tmux, pane: PaneId, has_client: Callable[[], bool]
    ) -> None:
        self._printed, self._tmux, self._pane, self._has_client = printed, tmux, pane, has_client
        self._busy = asyncio.Lock()
        self._started = self._closed = False

    async def start(self) -> None:
        """Feed what the pane shows and then what is printed, until it is closed."""
        while not self._closed:
            if self._has_client():
                await self.drain()
            await asyncio.sleep(READ_SECONDS)

    async def drain(self) -> None:
        """Feed everything that has been printed by now."""
        async with self._busy:
            with suppress(PaneGone, ServerGone, ConnectionLost):
                text = read_history(self._tmux, self._pane)
                if self._started:
                    await self._printed.feed_printed(self._printed.parse(text))
                else:
                    self._started = True
                    await self._printed.feed_first(text)

    def close(self) -> None:
        self._closed = True
