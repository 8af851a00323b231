"""Which clients still run: a session whose client was killed ends, though nobody says so.

Receives the roster, which knows each session's client by process number and start. Looks once a second.
"""

import asyncio
import itertools
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from chorus.model.ids import SessionId
from chorus.model.session import SessionTable
from chorus.system.processes import Process, read_process
from chorus.watcher.state.lent_hooks import Lending

LOOK_SECONDS = 1.0
# By then a client watches its settings files, also on a busy machine: two seconds were enough on an idle one.
YOUNG_SECONDS = 15.0
# A client reads a file again when that has stood still for a second: so not with every look.
REMIND_EVERY_LOOKS = 5


def name_client(pid: int, process: Process | None) -> str:
    """A client as the roster remembers it; one that is gone already is like no process there is."""
    return f"{pid}:{process.started if process else ''}"


def runs(client: str) -> bool:
    pid, _, started = client.partition(":")
    process = read_process(int(pid))
    return process is not None and process.started == started


def is_young(client: str) -> bool:
    """Whether it started only just now."""
    started = client.partition(":")[2]
    if not started.isdecimal():  # not known, or a date, where there is no /proc
        return False
    since_boot = float(Path("/proc/uptime").read_text().split()[0])
    # In some containers the machine counts from another moment than its processes do: then none is young.
    return abs(since_boot - int(started) / os.sysconf("SC_CLK_TCK")) < YOUNG_SECONDS


async def watch_clients(
    roster: SessionTable, lost: Callable[[SessionId], Awaitable[None]], lending: Lending
) -> None:
    for look in itertools.count():
        lending.take_back(runs)
        if look % REMIND_EVERY_LOOKS == 0:
            lending.remind(is_young)
        for session in list(roster.sessions.values()):
            if session.state != "gone" and session.client is not None and not runs(session.client):
                await lost(session.id)
        await asyncio.sleep(LOOK_SECONDS)
