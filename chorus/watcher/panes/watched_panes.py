"""The watched panes: which client runs in each, and which session it is in.

Each pane is polled once a second, unless nothing can have changed in it. This module never writes to a pane.
"""

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from chorus.agents.interface import Clients, DocumentFilter, RunningClient
from chorus.model.ids import PaneId, SessionId
from chorus.system.processes.processes import (
    Process,
    read_foreground,
    read_idle_shell,
    read_process,
    read_start,
)
from chorus.tmux.address import Address
from chorus.tmux.errors import ConnectionLost, PaneGone, ServerGone, ServerTimeout
from chorus.tmux.panes import PaneState, read_pane
from chorus.tmux.tmux_server import TmuxServer
from chorus.watcher.tasks import wait_for_beat

log = logging.getLogger("chorus.watcher")

# A pane that printed something counts as active for this long, and is polled every second.
ACTIVE_SECONDS = 3.0
# A pane that seems quiet is still polled now and then.
QUIET_POLL_SECONDS = 10.0
# How long to wait after output before a client is looked for. A shell may print without end, and each look
# takes milliseconds.
LOOK_SECONDS = 0.1


class Stream(Protocol):
    """A reader of a pane's output."""

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
    printing: RunningClient | None = None  # the client whose events the stream reads, or read last
    names_directory: bool = False  # that client's events say where it runs
    shown: DocumentFilter | None = None  # the events that the pane showed when it began to be watched
    looks_soon: bool = False  # the pane printed something: a client is about to be looked for
    printed_at: float = field(default_factory=time.monotonic)
    polled_at: float = 0.0
    idle_shell: tuple[str, int] | None = None  # the idle shell found at the last poll
    discovered: bool = False  # not named by the user: watched only while its client runs (`PaneDiscovery`)

    @property
    def key(self) -> tuple[Address, PaneId]:
        return (self.address, self.id)

    def is_of_other_server(self, now: PaneState) -> bool:
        """True if `now` describes a pane of another tmux server, which may have the same id."""
        if self.state is None:
            return False
        was, found = self.state.identity, now.identity
        return (was.server_pid, was.server_started) != (found.server_pid, found.server_started)


class PaneEvents(Protocol):
    """The callbacks of `WatchedPanes`."""

    def watch_begins(self, pane: WatchedPane) -> None:
        """Called when a pane begins to be watched, but not for a restored pane."""

    def client_found(self, pane: WatchedPane, client: RunningClient) -> None:
        """Called when the pane's client is found in a session, or in another session than before."""

    async def session_lost(self, session: SessionId, client: Process) -> None:
        """Called when the client that was in this session has left its pane."""

    def open_stream(self, pane: WatchedPane) -> Stream | None: ...

    def needs_poll(self, pane: WatchedPane) -> bool:
        """Return whether this pane may change without a report that it has printed something."""

    def is_end_reported(self, pane: WatchedPane) -> bool:
        """Return whether `wake` is called when the pane's client ends."""

    def polled(self, pane: WatchedPane) -> None:
        """Called after a pane was polled. The pane may no longer be watched."""

    def polled_all(self) -> None:
        """Called after all panes were polled."""


class WatchedPanes:
    def __init__(self, events: PaneEvents, clients: Clients) -> None:
        self.all: dict[tuple[Address, PaneId], WatchedPane] = {}
        self._events = events
        self._clients = clients
        self._woken = asyncio.Event()

    async def watch(self, address: Address, pane: PaneId, since: float | None = None) -> WatchedPane:
        """Watch a pane, with or without a client in it. Raises if there is no such pane."""
        state = read_pane(TmuxServer(address), pane)
        known = self.all.get((address, pane))
        if known is not None and known.is_of_other_server(state):
            await self.unwatch(known)
            self._events.polled(known)
            known = None
        if known is not None:
            known.discovered = False
            await self._poll(known)
            return known
        watched = WatchedPane(address, pane, state=state)
        if since is None:
            self._events.watch_begins(watched)
        else:
            watched.since = since
        self.all[watched.key] = watched
        self.wake()
        await self._poll(watched)
        return watched

    def read_stream(self, watched: WatchedPane) -> None:
        """Read the pane's output from now on, whichever program prints it."""
        if watched.stream is None:
            watched.stream = self._events.open_stream(watched)

    def wake(self) -> None:
        """Poll soon, because something has changed in a pane, or a client has ended."""
        self._woken.set()

    async def poll_forever(self) -> None:
        while True:
            await self._wait_for_poll()
            for watched in list(self.all.values()):
                if not self._is_quiet(watched):
                    await self._poll(watched)
            self._events.polled_all()

    async def find_started(self, watched: WatchedPane) -> None:
        """Look for a client that has just started in the pane, once per burst of output."""
        if watched.looks_soon:
            return
        watched.looks_soon = True
        await asyncio.sleep(LOOK_SECONDS)
        watched.looks_soon = False
        if watched.key in self.all:
            await self._poll(watched)

    async def unwatch(self, watched: WatchedPane) -> None:
        if self.all.pop(watched.key, None) is None:
            return
        await self._leave_client(watched)
        if watched.stream is not None:
            watched.stream.close()
            watched.stream = None

    def close(self) -> None:
        for watched in self.all.values():
            if watched.stream is not None:
                watched.stream.close()

    async def _wait_for_poll(self) -> None:
        panes = self.all.values()
        if not all(self._is_quiet(pane) and self._events.is_end_reported(pane) for pane in panes):
            await wait_for_beat()
            return
        self._woken.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(QUIET_POLL_SECONDS):
                await self._woken.wait()

    def _is_quiet(self, watched: WatchedPane) -> bool:
        """True if nothing can have changed since the pane was last polled."""
        now = time.monotonic()
        if now - watched.printed_at < ACTIVE_SECONDS or now - watched.polled_at > QUIET_POLL_SECONDS:
            return False
        if watched.client is None:
            return watched.idle_shell is not None and _read_idle_shell(watched) == watched.idle_shell
        is_running = read_start(watched.client.pid) == watched.client.started
        return is_running and watched.session is not None and not self._events.needs_poll(watched)

    async def _poll(self, watched: WatchedPane) -> None:
        watched.polled_at = time.monotonic()
        watched.idle_shell = _read_idle_shell(watched)
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
            state = read_pane(TmuxServer(watched.address), watched.id)
        except (PaneGone, ServerGone, ConnectionLost) as error:
            log.info("stopped watching %s: %s", watched.id, error)
            await self.unwatch(watched)
            return
        except ServerTimeout as error:
            log.info("%s cannot be read: %s", watched.id, error)
            return
        if watched.is_of_other_server(state):
            log.info("stopped watching %s: its tmux server was replaced", watched.id)
            await self.unwatch(watched)
            return
        watched.state = state
        watched.client = self._foreground_client(watched.state)
        if watched.client is not None and _prints_events(watched.client):
            self.read_stream(watched)

    def find_printing(self, watched: WatchedPane) -> RunningClient | None:
        """Return the client that runs in this pane now, even if it started after the last poll.

        If no client runs now, return the last client, whose output may still be read. None if there was none.
        """
        last = watched.printing
        if watched.state is None or (last is not None and read_process(last.process.pid) == last.process):
            return last
        client = self._foreground_client(watched.state)
        running = self._clients.read_client(client) if client is not None else None
        if running is not None:
            watched.printing, watched.names_directory = running, False
        return watched.printing

    def _foreground_client(self, state: PaneState) -> Process | None:
        processes = read_foreground(state.identity.pane_pid)
        return next((process for process in processes if self._clients.is_client(process)), None)

    async def _leave_client(self, watched: WatchedPane) -> None:
        if watched.stream is not None:
            await watched.stream.drain()
        session, client = watched.session, watched.client
        watched.client = watched.session = None
        if session is not None and client is not None:
            await self._events.session_lost(session, client)


def _read_idle_shell(watched: WatchedPane) -> tuple[str, int] | None:
    return read_idle_shell(watched.state.identity.pane_pid) if watched.state is not None else None


def _prints_events(client: Process) -> bool:
    return "stream-json" in " ".join(client.arguments)
