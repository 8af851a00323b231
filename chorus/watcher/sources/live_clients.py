"""Track which clients still run, because a killed client does not report that its session has ended.

The kernel reports the end of a process. Where the kernel cannot, clients are checked once a second.
"""

import asyncio
import itertools
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from chorus.agents.interface import Setup
from chorus.model.ids import SessionId
from chorus.model.session import Session, SessionTable
from chorus.system.processes.processes import Process, open_process, read_start, start_time
from chorus.watcher.state.temporary_hooks import TemporaryHooks

POLL_SECONDS = 1.0
# For clients whose end the kernel reports.
WATCHED_POLL_SECONDS = 10.0
# How long after its start a client counts as young. By then it watches its settings files, also on a busy
# machine: two seconds were enough on an idle one.
YOUNG_SECONDS = 15.0
# Settings files are not touched in every poll: a client reads a changed file again only after the file has
# not changed for a second.
TOUCH_EVERY_POLLS = 5


# Names a client that has ended: it matches no process.
ENDED_CLIENT = "0:"


def client_key(process: Process) -> str:
    """Return the name that a client has on the roster."""
    return f"{process.pid}:{process.started}"


def find_client_key(pid: int | None) -> str | None:
    """Return the name that a client has on the roster.

    If the client has ended, the name matches no process.
    """
    return None if pid is None else f"{pid}:{read_start(pid) or ''}"


def is_running(client: str) -> bool:
    pid, _, started = client.partition(":")
    return read_start(int(pid)) == started


def is_young(client: str) -> bool:
    pid, _, started = client.partition(":")
    began = start_time(int(pid), started)
    return began is not None and abs(time.time() - began) < YOUNG_SECONDS


@dataclass(slots=True)
class LiveClients:
    """Ends the sessions of clients that are gone, and removes temporary hooks from their settings."""

    roster: SessionTable
    end_client: Callable[[SessionId, str], Awaitable[None]]
    temporary_hooks: TemporaryHooks
    setup: Setup
    on_end: Callable[[], None] = lambda: None  # called when a client has ended
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _watched: dict[str, int] = field(default_factory=dict)  # a descriptor of each client's process

    def note(self, session: Session) -> None:
        """Watch the client of this session, if the client is new."""
        if session.client is not None and session.client not in self._watched:
            self._changed.set()

    def is_watched(self, client: str) -> bool:
        """True if the kernel reports when this client ends."""
        return client in self._watched

    async def run(self) -> None:
        try:
            for poll in itertools.count():
                self._changed.clear()
                self.temporary_hooks.remove_unused(is_running, self.setup)
                if poll % TOUCH_EVERY_POLLS == 0:
                    self.temporary_hooks.touch_settings(is_young)
                await self.end_gone()
                is_quiet = self._watch_all() and not self.temporary_hooks.installations
                with suppress(TimeoutError):
                    pause = WATCHED_POLL_SECONDS if is_quiet else POLL_SECONDS
                    async with asyncio.timeout(pause):
                        await self._changed.wait()
        finally:
            for client in list(self._watched):
                self._unwatch(client)

    async def end_gone(self) -> None:
        """For every client that is gone, call `end_client` with each session that the client was in."""
        for session in list(self.roster.sessions.values()):
            for client in [one for one in self.roster.clients_of(session.id) if not is_running(one)]:
                await self.end_client(session.id, client)

    def _watch_all(self) -> bool:
        """Watch the processes of all clients on the roster. Return False if some cannot be watched."""
        clients = {client for name in self.roster.sessions for client in self.roster.clients_of(name)}
        for client in self._watched.keys() - clients:
            self._unwatch(client)
        for client in clients - self._watched.keys():
            self._watch(client)
        return clients == self._watched.keys()

    def _watch(self, client: str) -> None:
        descriptor = open_process(int(client.partition(":")[0]))
        if descriptor is None:
            return
        if not is_running(client):  # it has ended, and another process may have its id
            os.close(descriptor)
            return
        self._watched[client] = descriptor
        asyncio.get_running_loop().add_reader(descriptor, self._ended, client)

    def _ended(self, client: str) -> None:
        self._unwatch(client)
        self._changed.set()
        self.on_end()

    def _unwatch(self, client: str) -> None:
        descriptor = self._watched.pop(client)
        asyncio.get_running_loop().remove_reader(descriptor)
        os.close(descriptor)
