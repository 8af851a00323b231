"""Which clients still run. A session whose client was killed has ended, though no event says so.

The roster knows each session's client by process id and start time. Checked once a second.
"""

import asyncio
import itertools
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from chorus.agents.interface import Setup
from chorus.model.ids import SessionId
from chorus.model.session import SessionTable
from chorus.system.processes import Process, read_process
from chorus.watcher.state.lent_hooks import LentHooks

POLL_SECONDS = 1.0
# By then a client watches its settings files, also on a busy machine: two seconds were enough on an idle one.
YOUNG_SECONDS = 15.0
# A client reads a file again when it has not changed for a second: so not with every poll.
TOUCH_EVERY_POLLS = 5


def client_key(pid: int, process: Process | None) -> str:
    """Return a client's key on the roster. One that has ended already gets a key that matches no process."""
    return f"{pid}:{process.started if process else ''}"


def is_running(client: str) -> bool:
    pid, _, started = client.partition(":")
    process = read_process(int(pid))
    return process is not None and process.started == started


def is_young(client: str) -> bool:
    """Return whether the client started only just now."""
    started = client.partition(":")[2]
    if not started.isdecimal():  # not known, or a date, where there is no /proc
        return False
    since_boot = float(Path("/proc/uptime").read_text().split()[0])
    # In some containers the machine counts from another moment than its processes do: then none is young.
    return abs(since_boot - int(started) / os.sysconf("SC_CLK_TCK")) < YOUNG_SECONDS


async def watch_clients(
    roster: SessionTable,
    end_session: Callable[[SessionId], Awaitable[None]],
    lent_hooks: LentHooks,
    setup: Setup,
) -> None:
    """End the sessions of clients that are gone, and remove lent hooks from their settings."""
    for poll in itertools.count():
        lent_hooks.remove_unused(is_running, setup)
        if poll % TOUCH_EVERY_POLLS == 0:
            lent_hooks.touch_settings(is_young)
        for session in list(roster.sessions.values()):
            if session.state != "gone" and session.client is not None and not is_running(session.client):
                await end_session(session.id)
        await asyncio.sleep(POLL_SECONDS)
