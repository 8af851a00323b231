"""When to look at a pane again: tmux tells over a kept connection when one prints.

One connection per tmux session that holds a watched pane; it costs nothing while nothing moves. The
same connection is the cheap way to read a screen. One that breaks is dropped and made anew when the
pane is next followed.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from chorus.errors import ChorusError
from chorus.model.ids import PaneId
from chorus.tmux.address import Address
from chorus.tmux.control_connection import ControlConnection, moved_panes
from chorus.tmux.tmux_server import Tmux, TmuxServer
from chorus.watcher.panes.panes import WatchedPane

log = logging.getLogger("chorus.watcher")

# A dialog is drawn in several strokes; this is below what a person notices.
REST_SECONDS = 0.03

Key = tuple[Address, str]


class Movement:
    def __init__(self, moved: Callable[[set[tuple[Address, PaneId]]], None]) -> None:
        self._moved = moved
        self._connections: dict[Key, ControlConnection] = {}
        self._panes: set[tuple[Address, PaneId]] = set()
        self._resting = False

    def follow(self, pane: WatchedPane) -> None:
        """Be told when this pane prints."""
        if pane.state is None:
            return
        key = (pane.address, pane.state.session)
        if key in self._connections:
            return
        try:
            connection = ControlConnection(pane.address, target=pane.state.session, watch=True)
        except ChorusError as error:
            log.info("%s is looked at now and then: %s", pane.id, error)
            return
        self._connections[key] = connection
        asyncio.get_running_loop().add_reader(connection.fileno(), self._readable, key)

    def tmux(self, pane: WatchedPane) -> Tmux:
        """The cheapest way to ask about this pane."""
        session = pane.state.session if pane.state else ""
        return self._connections.get((pane.address, session)) or TmuxServer(pane.address)

    def close(self) -> None:
        for key in list(self._connections):
            self._drop(key)

    def _readable(self, key: Key) -> None:
        try:
            panes = moved_panes(self._connections[key].notices())
        except ChorusError as error:
            log.info("the connection to tmux ended: %s", error)
            self._drop(key)
            return
        self._panes |= {(key[0], pane) for pane in panes}
        if self._panes and not self._resting:
            self._resting = True
            asyncio.get_running_loop().call_later(REST_SECONDS, self._tell)

    def _tell(self) -> None:
        panes, self._panes, self._resting = self._panes, set(), False
        self._moved(panes)

    def _drop(self, key: Key) -> None:
        connection = self._connections.pop(key)
        asyncio.get_running_loop().remove_reader(connection.fileno())
        with suppress(ChorusError):
            connection.close()
