"""The watched panes: which client runs in each, and which session it is in.

Polls each watched pane once a second, and on request. A pane may hold a shell today, a client in a minute
and another one later; a client may change its session (`/clear`). What is found is passed to the callbacks.
Never writes to a pane.
"""

import asyncio
import logging
import time
from dataclasses import dataclass, field
from typing import Protocol

from chorus.agents.interface import Clients, RunningClient
from chorus.model.ids import PaneId, SessionId
from chorus.system.processes import Process, read_foreground, read_process
from chorus.tmux.address import Address
from chorus.tmux.errors import ConnectionLost, PaneGone, ServerGone
from chorus.tmux.panes import PaneState, read_pane
from chorus.tmux.tmux_server import TmuxServer

log = logging.getLogger("chorus.watcher")

POLL_SECONDS = 1.0


class Stream(Protocol):
    """A reader of what a pane prints."""

    async def drain(self) -> None: ...

    def close(self) -> None: ...


@dataclass(slots=True)
class WatchedPane:
    address: Address
    id: PaneId
    state: PaneState | None = None
    client: Process | None = None
    session: SessionId | None = None
    stream: Stream | None = None
    since: float = field(default_factory=time.time)  # when the pane began to be watched
    discovered: bool = False  # not named by the user: watched only while its client runs (`PaneDiscovery`)

    @property
    def key(self) -> tuple[Address, PaneId]:
        return (self.address, self.id)


class PaneEvents(Protocol):
    """What the watched panes call when they find something."""

    def client_found(self, pane: WatchedPane, client: RunningClient) -> None:
        """The pane has a client, in another session than before."""

    async def session_lost(self, session: SessionId) -> None:
        """The client of this session has left its pane."""

    def open_stream(self, pane: WatchedPane) -> Stream | None: ...

    def polled(self, pane: WatchedPane) -> None:
        """The pane was polled. It may no longer be watched."""


class WatchedPanes:
    def __init__(self, events: PaneEvents, clients: Clients) -> None:
        self.all: dict[tuple[Address, PaneId], WatchedPane] = {}
        self._events = events
        self._clients = clients

    async def watch(self, address: Address, pane: PaneId, since: float | None = None) -> WatchedPane:
        """Watch a pane, whatever runs in it now. Raises if there is no such pane.

        `since`: when an earlier watcher, which was killed, began to watch it.
        """
        known = self.all.get((address, pane))
        if known is not None:
            known.discovered = False
            await self._poll(known)
            return known
        watched = WatchedPane(address, pane, state=read_pane(TmuxServer(address), pane))
        watched.since = watched.since if since is None else since
        self.all[watched.key] = watched
        await self._poll(watched)
        return watched

    def read_stream(self, watched: WatchedPane) -> None:
        """Read what the pane prints from now on, whatever prints it."""
        if watched.stream is None:
            watched.stream = self._events.open_stream(watched)

    async def poll_forever(self) -> None:
        while True:
            await asyncio.sleep(POLL_SECONDS)
            for watched in list(self.all.values()):
                await self._poll(watched)

    async def unwatch(self, watched: WatchedPane) -> None:
        """Stop watching a pane that is gone or no longer of interest."""
        del self.all[watched.key]
        await self._leave_client(watched)
        if watched.stream is not None:
            watched.stream.close()
            watched.stream = None

    def close(self) -> None:
        for watched in self.all.values():
            if watched.stream is not None:
                watched.stream.close()

    async def _poll(self, watched: WatchedPane) -> None:
        await self._poll_client(watched)
        self._events.polled(watched)

    async def _poll_client(self, watched: WatchedPane) -> None:
        if watched.client is None or read_process(watched.client.pid) != watched.client:
            await self._find_client(watched)
        if watched.client is None or watched.key not in self.all:
            return
        running = self._clients.read_client(watched.client)
        if running is not None and running.session is not None and running.session != watched.session:
            watched.session = running.session
            self._events.client_found(watched, running)

    async def _find_client(self, watched: WatchedPane) -> None:
        if watched.discovered:  # watched for the client it had, not for the next one
            await self.unwatch(watched)
            return
        await self._leave_client(watched)
        try:
            watched.state = read_pane(TmuxServer(watched.address), watched.id)
        except (PaneGone, ServerGone, ConnectionLost) as error:
            log.info("stopped watching %s: %s", watched.id, error)
            await self.unwatch(watched)
            return
        processes = read_foreground(watched.state.identity.pane_pid)
        watched.client = next((process for process in processes if self._clients.is_client(process)), None)
        if watched.client is not None and _prints_events(watched.client):
            self.read_stream(watched)

    async def _leave_client(self, watched: WatchedPane) -> None:
        if watched.stream is not None:
            await watched.stream.drain()
        session, watched.client, watched.session = watched.session, None, None
        if session is not None:
            await self._events.session_lost(session)


def _prints_events(client: Process) -> bool:
    return "stream-json" in " ".join(client.arguments)
