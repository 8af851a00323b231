"""Find out which watched panes have printed something, through control connections to tmux.

Each tmux session with a watched pane has one connection. A connection costs nothing while no pane prints, and
is the cheapest way to read a screen.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from chorus.errors import ChorusError
from chorus.model.ids import PaneId
from chorus.tmux.address import Address
from chorus.tmux.control_connection import ControlConnection, changed_panes
from chorus.tmux.tmux_server import Tmux, TmuxServer
from chorus.watcher.panes.watched_panes import WatchedPane

log = logging.getLogger("chorus.watcher")

# How long to wait after the first output before panes are reported: a dialog is drawn in several steps. Too
# short for a user to notice.
DEBOUNCE_SECONDS = 0.03

Key = tuple[Address, str]


class PaneActivity:
    def __init__(self, report: Callable[[set[tuple[Address, PaneId]]], None]) -> None:
        self._report_panes = report
        self._connections: dict[Key, ControlConnection] = {}
        self._panes: set[tuple[Address, PaneId]] = set()
        self._scheduled = False

    def follow(self, pane: WatchedPane) -> None:
        """From now on, report this pane when it prints, if a control connection can be opened."""
        if pane.state is None:
            return
        key = (pane.address, pane.state.session)
        if key in self._connections:
            return
        try:
            connection = ControlConnection(pane.address, target=pane.state.session, watch=True)
        except ChorusError as error:
            log.info("%s is polled only: %s", pane.id, error)
            return
        self._connections[key] = connection
        loop = asyncio.get_running_loop()
        loop.add_reader(connection.fileno(), self._readable, key)
        connection.on_events = lambda: loop.call_soon(self._readable, key)

    def is_following(self, pane: WatchedPane) -> bool:
        return pane.state is not None and (pane.address, pane.state.session) in self._connections

    def tmux(self, pane: WatchedPane) -> Tmux:
        """The cheapest way to run tmux commands about this pane."""
        session = pane.state.session if pane.state else ""
        return self._connections.get((pane.address, session)) or TmuxServer(pane.address)

    def close(self) -> None:
        for key in list(self._connections):
            self._drop(key)

    def _readable(self, key: Key) -> None:
        if key not in self._connections:
            return  # dropped meanwhile
        try:
            panes = changed_panes(self._connections[key].events())
        except ChorusError as error:
            log.info("lost the control connection to tmux: %s", error)
            self._drop(key)
            return
        self._panes |= {(key[0], pane) for pane in panes}
        if self._panes and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_later(DEBOUNCE_SECONDS, self._report)

    def _report(self) -> None:
        panes, self._panes, self._scheduled = self._panes, set(), False
        self._report_panes(panes)

    def _drop(self, key: Key) -> None:
        connection = self._connections.pop(key)
        asyncio.get_running_loop().remove_reader(connection.fileno())
        with suppress(ChorusError):
            connection.close()
