"""Which clients still run: a session whose client was killed ends, though nobody says so.

Receives the roster, which knows each session's client by process number and start. Looks once a second.
"""

import asyncio
from collections.abc import Awaitable, Callable

from chorus.agent.lending import Lending
from chorus.core.ids import SessionId
from chorus.core.roster import Roster
from chorus.tmux.processes import Process, read_process

LOOK_SECONDS = 1.0


def name_client(pid: int, process: Process | None) -> str:
    """A client as the roster remembers it; one that is gone already is like no process there is."""
    return f"{pid}:{process.started if process else ''}"


def runs(client: str) -> bool:
    pid, _, started = client.partition(":")
    process = read_process(int(pid))
    return process is not None and process.started == started


async def watch_clients(
    roster: Roster, lost: Callable[[SessionId], Awaitable[None]], lending: Lending
) -> None:
    while True:
        lending.take_back(runs)
        for session in list(roster.sessions.values()):
            if session.state != "gone" and session.client is not None and not runs(session.client):
                await lost(session.id)
        await asyncio.sleep(LOOK_SECONDS)
