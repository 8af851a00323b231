"""Read a headless client's events from the screen, in a pane whose pipe another program uses.

The screen and its history are read again and again while the pane prints. tmux joins the rows that tmux
wrapped. Rows that a program inside the pane wrapped are joined by their width.
"""

import asyncio
import logging
import time
from collections.abc import Callable

from chorus.errors import ChorusError
from chorus.model.ids import PaneId
from chorus.tmux.panes import read_width_and_history
from chorus.tmux.tmux_server import Tmux
from chorus.watcher.panes.printed_events import PrintedEvents
from chorus.watcher.panes.repeated_capture import RepeatedCapture

log = logging.getLogger("chorus.watcher")

READ_SECONDS = 0.2
# A long history takes long to read: at most this part of the time is spent on it.
MAX_LOAD = 0.1


class ScreenStream:
    def __init__(
        self,
        printed: PrintedEvents,
        tmux: Tmux,
        pane: PaneId,
        may_print: Callable[[], bool],
        *,
        continued: bool = False,
    ) -> None:
        """`may_print` returns whether the pane may have printed something since the last call."""
        self._capture = RepeatedCapture(printed, continued=continued)
        self._tmux, self._pane, self._may_print = tmux, pane, may_print
        self._busy = asyncio.Lock()
        self._closed = False

    @property
    def gaps(self) -> int:
        return self._capture.gaps

    async def start(self) -> None:
        """Feed what the pane shows, then what it prints, until the stream is closed."""
        while not self._closed:
            began = time.monotonic()
            if self._may_print():
                await self.drain()
            await asyncio.sleep(max(READ_SECONDS, (time.monotonic() - began) / MAX_LOAD))

    async def drain(self) -> None:
        """Feed everything that has been printed by now."""
        async with self._busy:
            try:
                width, text = read_width_and_history(self._tmux, self._pane)
            except ChorusError:
                return  # the pane or its server has ended, or does not answer for a moment
            if await self._capture.feed(text, (width,)):
                log.warning("%s: output was cleared or scrolled away before it was read", self._pane)

    def close(self) -> None:
        self._closed = True
