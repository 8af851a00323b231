"""The panes that are watched: which client runs in each, and the session it is in.

Looks at each watched pane once a second, and at once when asked. A pane may hold a shell today, a
client in a minute and another one later; a client may change its session (`/clear`). Whatever is
found is told to the agent. Never writes to a pane.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from chorus.agents.claude_code.processes import is_client, read_client
from chorus.agents.interface import RunningClient
from chorus.model.ids import PaneId, SessionId
from chorus.system.processes import Process, read_foreground, read_process
from chorus.tmux.address import Address
from chorus.tmux.errors import ConnectionLost, PaneGone, ServerGone
from chorus.tmux.panes import PaneState, read_pane
from chorus.tmux.tmux_server import TmuxServer

log = logging.getLogger("chorus.watcher")

LOOK_SECONDS = 1.0


class Stream(Protocol):
    """What a pane prints, being listened to."""

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
    adopted: bool = False  # nobody named it: watched only while its client runs (`adopting`)

    @property
    def key(self) -> tuple[Address, PaneId]:
        return (self.address, self.id)


Found = Callable[[WatchedPane, RunningClient], None]
Looked = Callable[[WatchedPane], None]
Lost = Callable[[SessionId], Awaitable[None]]
OpenStream = Callable[[WatchedPane], Stream | None]


class Panes:
    def __init__(self, found: Found, lost: Lost, open_stream: OpenStream, looked: Looked) -> None:
        self.all: dict[tuple[Address, PaneId], WatchedPane] = {}
        self._found = found
        self._lost = lost
        self._open_stream = open_stream
        self._looked = looked

    async def watch(self, address: Address, pane: PaneId, since: float | None = None) -> WatchedPane:
        """Begin to watch a pane, whatever runs there now. Raises if there is no such pane.

        `since`: it was watched from then on, by an agent that was killed.
        """
        known = self.all.get((address, pane))
        if known is not None:
            known.adopted = False
            await self._look(known)
            return known
        watched = WatchedPane(address, pane, state=read_pane(TmuxServer(address), pane))
        watched.since = watched.since if since is None else since
        self.all[watched.key] = watched
        await self._look(watched)
        return watched

    def listen(self, watched: WatchedPane) -> None:
        """Hear what the pane prints, from now on, whatever prints it."""
        if watched.stream is None:
            watched.stream = self._open_stream(watched)

    async def keep_looking(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            for watched in list(self.all.values()):
                await self._look(watched)

    async def unwatch(self, watched: WatchedPane) -> None:
        """The pane is gone, or nobody wants it watched any more."""
        del self.all[watched.key]
        await self._leave_client(watched)
        if watched.stream is not None:
            watched.stream.close()
            watched.stream = None

    def close(self) -> None:
        for watched in self.all.values():
            if watched.stream is not None:
                watched.stream.close()

    async def _look(self, watched: WatchedPane) -> None:
        await self._look_at_client(watched)
        self._looked(watched)

    async def _look_at_client(self, watched: WatchedPane) -> None:
        if watched.client is None or read_process(watched.client.pid) != watched.client:
            await self._find_client(watched)
        if watched.client is None or watched.key not in self.all:
            return
        running = read_client(watched.client)
        if running is not None and running.session is not None and running.session != watched.session:
            watched.session = running.session
            self._found(watched, running)

    async def _find_client(self, watched: WatchedPane) -> None:
        if watched.adopted:  # for the client it had, and none that comes after
            await self.unwatch(watched)
            return
        await self._leave_client(watched)
        try:
            watched.state = read_pane(TmuxServer(watched.address), watched.id)
        except (PaneGone, ServerGone, ConnectionLost) as error:
            log.info("%s is watched no more: %s", watched.id, error)
            await self.unwatch(watched)
            return
        processes = read_foreground(watched.state.identity.pane_pid)
        watched.client = next((process for process in processes if is_client(process)), None)
        if watched.client is not None and _prints_events(watched.client):
            self.listen(watched)

    async def _leave_client(self, watched: WatchedPane) -> None:
        if watched.stream is not None:
            await watched.stream.drain()
        session, watched.client, watched.session = watched.session, None, None
        if session is not None:
            await self._lost(session)


def _prints_events(client: Process) -> bool:
    return "stream-json" in " ".join(client.arguments)
