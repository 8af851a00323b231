"""Watched panes as a source: clients give sessions, screens give prompts, streams give events.

Saves which panes are watched and watches them again after a restart. Also finds panes that the user did not
name: those in which a session known from hooks runs. Never presses a key.
"""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chorus.agents.interface import Agent, Clients, RunningClient, Source
from chorus.errors import ChorusError
from chorus.model.ids import PaneId, SessionId
from chorus.model.session import Session, SessionTable
from chorus.system.processes import Process, read_foreground
from chorus.tmux.address import Address
from chorus.tmux.panes import read_pane
from chorus.tmux.tmux_server import TmuxServer
from chorus.watcher.panes.activity import PaneActivity
from chorus.watcher.panes.headless_runs import HeadlessRuns
from chorus.watcher.panes.pane_file import PaneFile
from chorus.watcher.panes.pane_stream import PaneStream
from chorus.watcher.panes.watched_panes import Stream, WatchedPane, WatchedPanes
from chorus.watcher.prompts.pending_prompts import PendingPrompts
from chorus.watcher.prompts.permission_requests import PermissionRequests
from chorus.watcher.sources.live_clients import client_key
from chorus.watcher.sources.pipeline import now
from chorus.watcher.sources.transcript_source import TranscriptSource
from chorus.watcher.tasks import Start

log = logging.getLogger("chorus.watcher")

DISCOVERY_SECONDS = 1.0
# A hook may run before its client is in the pane's foreground. A client that is not there after this many
# looks runs elsewhere: in an editor's terminal, behind another program, in a tmux inside this one.
MAX_LOOKS = 30


@dataclass(slots=True)
class PaneSource:
    agent: Agent
    fifo_directory: Path
    file: PaneFile
    runs: HeadlessRuns
    activity: PaneActivity
    prompts: PendingPrompts
    requests: PermissionRequests
    transcripts: TranscriptSource
    start: Start
    panes: WatchedPanes = field(init=False)

    def __post_init__(self) -> None:
        self.panes = WatchedPanes(self, self.agent.clients)

    async def restore(self) -> None:
        """Watch the panes of a watcher that was killed, with the requests that were pending there."""
        control_requests = self.requests.control_requests
        control_requests.load()
        for saved in self.file.load():
            with suppress(ChorusError):
                watched = await self.panes.watch(saved.address, PaneId(saved.pane), saved.since)
                if saved.run is not None and saved.pipe is not None:
                    self.runs.add(saved.run, Path(saved.pipe), watched.id).session = watched.session
                    self.requests.restore(watched.id)
                    self.panes.read_stream(watched)
        control_requests.retain_panes(run.pane for run in self.runs.all.values())

    def save(self) -> None:
        """Save the panes that the user named. The others are discovered again."""
        named = [pane for pane in self.panes.all.values() if not pane.discovered]
        self.file.save(named, self.runs.all.values())

    def look_at(self, panes: Iterable[tuple[Address, PaneId]]) -> None:
        """Read the screens of these panes, which have printed something."""
        for key in panes:
            if key in self.panes.all:
                self.prompts.look(self.panes.all[key])

    def servers(self) -> set[Address]:
        return {pane.address for pane in self.panes.all.values()}

    def close(self) -> None:
        self.panes.close()
        self.activity.close()

    def polled(self, pane: WatchedPane) -> None:
        if pane.key not in self.panes.all:
            self.prompts.forget(pane)
            self.save()
            return
        if pane.client is not None:
            self.activity.follow(pane)
        self.prompts.look(pane)

    def client_found(self, pane: WatchedPane, client: RunningClient) -> None:
        assert client.session is not None
        transcripts = self.transcripts
        known = transcripts.pipeline.roster.set_location(
            client.session,
            time=now(),
            source="pane",
            cwd=client.cwd,
            transcript=str(client.transcript) if client.transcript else None,
            pane=pane.id,
            server=str(pane.address.socket),
            client=client_key(client.process.pid, client.process),
        )
        if run := self.runs.in_pane(pane.id):
            run.session = client.session
        transcripts.trees.find(client.cwd)
        is_new = client.transcript is not None and self.agent.clients.began_after(
            client.transcript, pane.since
        )
        transcripts.follow(known, from_start=is_new)
        transcripts.pipeline.publish_session(known)
        transcripts.sessions.save()

    async def session_lost(self, session: SessionId) -> None:
        await self.transcripts.end_session(session)

    def open_stream(self, pane: WatchedPane) -> Stream | None:
        """Read what the pane prints, unless another program pipes it: the transcript has the same, later."""
        fifo = self.fifo_directory / f"pane-{pane.id.lstrip('%')}.fifo"
        pipeline = self.transcripts.pipeline

        async def feed(messages: list[dict[str, Any]], history: bool) -> None:
            async with pipeline.lock:
                outcomes = await pipeline.feed(messages, Source.STREAM, channel=pane.id, history=history)
            self.requests.feed_stream(pane, outcomes)
            self.transcripts.trees.publish_changes()

        try:
            stream = PaneStream(
                self.agent.events, TmuxServer(pane.address), pane.id, fifo, feed, since=pane.since
            )
        except ChorusError as error:
            log.warning("%s: %s", pane.id, error)
            return None
        self.start(stream.start())
        return stream


@dataclass(slots=True)
class PaneDiscovery:
    """Finds the panes of sessions known from hooks (`chorus hooks install`), so that prompts are answered
    there too.

    A discovered pane is watched for as long as this client runs in it: nobody chose to watch the next
    program there. Panes that the user named (`chorus attach`) and headless clients, which draw no dialogs,
    are left alone.
    """

    clients: Clients
    roster: SessionTable
    panes: WatchedPanes
    _looks: dict[tuple[SessionId, str | None], int] = field(default_factory=dict)

    async def run(self) -> None:
        while True:
            await self.discover()
            await asyncio.sleep(DISCOVERY_SECONDS)

    async def discover(self) -> None:
        """Watch the panes of new clients."""
        for session in list(self.roster.sessions.values()):
            if (key := self._pane_to_check(session)) is not None and self._runs_in_pane(session, *key):
                await self._watch(*key)

    def _pane_to_check(self, session: Session) -> tuple[Address, PaneId] | None:
        """Return the pane a live session reports, unless it is watched or was checked often enough."""
        if session.state == "gone" or session.pane is None or session.server is None:
            return None
        key = (Address(Path(session.server)), session.pane)
        looks = self._looks.get((session.id, session.client), 0)
        if key in self.panes.all or looks >= MAX_LOOKS:
            return None
        self._looks[session.id, session.client] = looks + 1
        return key

    async def _watch(self, address: Address, pane: PaneId) -> None:
        try:
            watched = await self.panes.watch(address, pane)
        except ChorusError:
            return  # the pane was closed in between
        watched.discovered = True

    def _runs_in_pane(self, session: Session, address: Address, pane: PaneId) -> bool:
        """Return whether the session's own client is in that pane's foreground and draws dialogs."""
        try:
            state = read_pane(TmuxServer(address), pane)
        except ChorusError:
            return False
        processes = read_foreground(state.identity.pane_pid)
        return any(self._is_client_of(session, one) for one in processes if self.clients.is_client(one))

    def _is_client_of(self, session: Session, process: Process) -> bool:
        client = self.clients.read_client(process)
        if client is None or client.headless:
            return False
        return client.session == session.id or session.client == client_key(process.pid, process)
