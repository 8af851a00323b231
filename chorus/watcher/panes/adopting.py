"""Panes nobody named: a session told of by hooks (`chorus hooks install`) is answered in its pane as well.

Receives the roster, in which hooks say where their client sits. Has that pane watched for as long as this
very client runs in it: whoever comes after it there has not asked for it. A pane that somebody named
(`chorus attach`) is left alone. Headless clients ask nothing on a screen.
"""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from chorus.agents.claude_code.processes import is_client, read_client
from chorus.errors import ChorusError
from chorus.model.ids import PaneId, SessionId
from chorus.model.session import Session, SessionTable
from chorus.system.processes import Process, read_foreground
from chorus.tmux.address import Address
from chorus.tmux.panes import read_pane
from chorus.tmux.tmux_server import TmuxServer
from chorus.watcher.panes.watching import Watching
from chorus.watcher.sources.liveness import name_client

LOOK_SECONDS = 1.0
# A hook may speak before its client is in the pane's foreground. One that is not there after this many looks
# runs elsewhere: in an editor's terminal, behind another program, in a tmux inside this one.
MOST_LOOKS = 30


@dataclass(slots=True)
class Adopting:
    roster: SessionTable
    watching: Watching
    _looks: dict[tuple[SessionId, str | None], int] = field(default_factory=dict)

    async def keep_adopting(self) -> None:
        while True:
            await self.adopt()
            await asyncio.sleep(LOOK_SECONDS)

    async def adopt(self) -> None:
        """Take up the panes of new clients."""
        for session in list(self.roster.sessions.values()):
            if (place := self._wanted(session)) is not None and _sits_there(session, *place):
                await self._take_up(*place)

    def _wanted(self, session: Session) -> tuple[Address, PaneId] | None:
        """Where a live session says it is, if nobody looks there and it is worth another look."""
        if session.state == "gone" or session.pane is None or session.server is None:
            return None
        place = (Address(Path(session.server)), session.pane)
        looks = self._looks.get((session.id, session.client), 0)
        if place in self.watching.panes.all or looks >= MOST_LOOKS:
            return None
        self._looks[session.id, session.client] = looks + 1
        return place

    async def _take_up(self, address: Address, pane: PaneId) -> None:
        try:
            watched = await self.watching.panes.watch(address, pane)
        except ChorusError:
            return  # it went away in between
        watched.adopted = True


def _sits_there(session: Session, address: Address, pane: PaneId) -> bool:
    """Whether this session's own client has that pane's foreground, and a screen to ask on."""
    try:
        state = read_pane(TmuxServer(address), pane)
    except ChorusError:
        return False
    return any(
        _is_of(session, process) for process in read_foreground(state.identity.pane_pid) if is_client(process)
    )


def _is_of(session: Session, process: Process) -> bool:
    client = read_client(process)
    if client is None or client.headless:
        return False
    return client.session == session.id or session.client == name_client(process.pid, process)
