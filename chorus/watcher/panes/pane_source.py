"""Watched panes as a source of sessions, prompts and printed events. This source never presses a key."""

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from chorus.agents.interface import Agent, Clients, RunningClient, Source
from chorus.errors import ChorusError
from chorus.model.api.json_api import EventJson, RunEndedEvent
from chorus.model.ids import PaneId, SessionId
from chorus.model.outcomes import Outcome, SessionDescribed, SessionDiscovered, SessionLinked
from chorus.model.session import Session, SessionTable
from chorus.system.processes.processes import Process, read_foreground
from chorus.tmux.address import Address
from chorus.tmux.panes import read_pane, read_width_and_history
from chorus.tmux.tmux_server import TmuxServer
from chorus.watcher.panes.activity import PaneActivity
from chorus.watcher.panes.headless_runs import HeadlessRun, HeadlessRuns
from chorus.watcher.panes.pane_file import PaneFile
from chorus.watcher.panes.pane_stream import PaneStream
from chorus.watcher.panes.printed_events import PrintedEvents
from chorus.watcher.panes.screen_stream import ScreenStream
from chorus.watcher.panes.watched_panes import Stream, WatchedPane, WatchedPanes
from chorus.watcher.prompts.pending_prompts import PendingPrompts
from chorus.watcher.prompts.permission_requests import PermissionRequests
from chorus.watcher.sources.live_clients import LiveClients, client_key
from chorus.watcher.sources.pipeline import now
from chorus.watcher.sources.transcript_source import TranscriptSource
from chorus.watcher.tasks import Start

log = logging.getLogger("chorus.watcher")

# How often to look for a client in its pane: a hook may run before the client is in the pane's foreground.
# A client that is not found in this many looks runs elsewhere: in an editor's terminal, behind another
# program, or in a tmux inside this one.
MAX_LOOKS = 30
LOOK_SECONDS = 1.0
QUIET_LOOK_SECONDS = 10.0


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
    live_clients: LiveClients
    start: Start
    publish: Callable[[EventJson], None]
    panes: WatchedPanes = field(init=False)

    def __post_init__(self) -> None:
        self.panes = WatchedPanes(self, self.agent.clients)
        self.live_clients.on_end = self.panes.wake

    async def restore(self) -> None:
        """Watch the panes that an earlier watcher watched, and restore the requests pending in them."""
        control_requests = self.requests.control_requests
        control_requests.load()
        for saved in self.file.load():
            with suppress(ChorusError):
                watched = await self.panes.watch(saved.address, PaneId(saved.pane), saved.since)
                if saved.run is not None and saved.pipe is not None:
                    run = self.runs.add(
                        saved.run, Path(saved.pipe), watched.address, watched.id, saved.servers
                    )
                    run.session, run.ending = watched.session, saved.ending
                    run.started = run.ready = run.is_cut = True
                    self.requests.restore(run)
                    self.panes.read_stream(watched)
                    if run.ending:
                        self.start(self.runs.end(run, partial(self.is_idle, run)))
        control_requests.retain_runs(self.runs.all)
        self.runs.remove_leftovers(self.fifo_directory)

    def is_idle(self, run: HeadlessRun) -> bool:
        """True if the session of this run is known and between two turns."""
        session = self.transcripts.pipeline.roster.sessions.get(run.session) if run.session else None
        return session is not None and session.state == "idle"

    def save(self) -> None:
        """Save the panes that the user named. Other panes are discovered again."""
        named = [pane for pane in self.panes.all.values() if not pane.discovered]
        self.file.save(named, self.runs.all.values())

    def look_at(self, panes: Iterable[tuple[Address, PaneId]]) -> None:
        """Look for a prompt, or for a client that has just started, in panes that have printed something."""
        moment = time.monotonic()
        for pane in [self.panes.all[key] for key in panes if key in self.panes.all]:
            pane.printed_at = moment
            self.panes.wake()
            if pane.client is None:
                self.start(self.panes.find_started(pane))
            else:
                self.transcripts.activity.note()
                self.prompts.look(pane)

    def servers(self) -> set[Address]:
        return {pane.address for pane in self.panes.all.values()}

    def close(self) -> None:
        self.panes.close()
        self.activity.close()

    def needs_poll(self, pane: WatchedPane) -> bool:
        if not self.activity.is_following(pane) or self.prompts.is_asking(pane):
            return True
        run = self.runs.in_pane(pane.address, pane.id)
        return run is not None and not run.reported and not run.is_running

    def is_end_reported(self, pane: WatchedPane) -> bool:
        client = pane.client
        return client is not None and self.live_clients.is_watched(client_key(client))

    def polled_all(self) -> None:
        for run in self.runs.take_ended():
            run.read_end()
            self.start(self._end_run(run))

    async def _end_run(self, run: HeadlessRun) -> None:
        """End the sessions of a run that has ended, then publish its end."""
        try:
            watched = self.panes.all.get((run.server, run.pane))
            if watched is not None and watched.stream is not None:
                await watched.stream.drain()  # what it printed last may name its session and its turn
            await self.live_clients.end_gone()
            await self._end_sessions(run.sessions)
        finally:
            code, output = run.read_end()
            self.publish(
                RunEndedEvent(event="run-ended", run=run.name, code=code, how=run.end_in_words, output=output)
            )

    async def _end_sessions(self, sessions: Iterable[SessionId]) -> None:
        """End these sessions, except those in which another client still runs."""
        roster = self.transcripts.pipeline.roster
        for session in list(sessions):
            if session in roster.sessions and not roster.clients_of(session):
                await self.transcripts.end_session(session)

    def polled(self, pane: WatchedPane) -> None:
        if pane.key not in self.panes.all:
            self.prompts.forget(pane)
            self.save()
            return
        self.activity.follow(pane)
        self.prompts.look(pane)

    def watch_begins(self, pane: WatchedPane) -> None:
        pane.shown = self.agent.events.document_filter()
        width, text = read_width_and_history(TmuxServer(pane.address), pane.id)
        for document in self.agent.events.read_capture(text, (width,)):
            pane.shown.is_new(document)

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
            client=client_key(client.process),
        )
        if run := self.runs.running_in_pane(pane.address, pane.id):
            known = self._enter_session(run, client.session) or known
        transcripts.trees.find(client.cwd)
        is_new = client.transcript is not None and self.agent.clients.began_after(
            client.transcript, pane.since
        )
        transcripts.follow(known, from_start=is_new)
        transcripts.pipeline.publish_session(known)
        transcripts.sessions.save()

    def _follow_session(self, run: HeadlessRun, outcomes: list[Outcome]) -> None:
        """Set the run's session to the session that its client describes."""
        named = [outcome.session for outcome in outcomes if isinstance(outcome, SessionDescribed)]
        if not named or named[-1] == run.session:
            return
        if known := self._enter_session(run, named[-1]):
            self.transcripts.pipeline.publish_session(known)
            self.transcripts.sessions.save()

    def _enter_session(self, run: HeadlessRun, session: SessionId) -> Session | None:
        """Set the run's session to `session`.

        If the run resumed another session, link both sessions and return the new one. Otherwise return None.
        """
        run.session = session
        if run.resumed is None:
            return None
        linked = SessionLinked(session, run.resumed, "fork")
        return self.transcripts.pipeline.roster.feed(linked, time=now(), source="pane")

    async def session_lost(self, session: SessionId, client: Process) -> None:
        await self.transcripts.end_client(session, client_key(client))

    def open_stream(self, pane: WatchedPane) -> Stream:
        """Read the pane's output through a pipe, or from the pane's screen if no pipe can be opened."""
        # Each tmux server numbers its panes from %0.
        server = hashlib.sha256(bytes(pane.address.socket)).hexdigest()[:8]
        fifo = self.fifo_directory / f"pane-{server}-{pane.id.lstrip('%')}.fifo"
        pipeline = self.transcripts.pipeline

        async def feed(messages: list[dict[str, Any]], history: bool) -> None:
            located = messages if history else self._add_directory(pane, messages)
            run = self.runs.in_pane(pane.address, pane.id)
            # A pane of a new server may have the same number. So a run's channel is named after the run.
            channel = run.name if run is not None else f"{server}{pane.id}"
            # The end of a turn is published while it is fed, and the run must know its session by then. So
            # messages are fed one by one until it does.
            is_unnamed = run is not None and run.session is None
            parts = [[message] for message in located] if is_unnamed else [located]
            outcomes: list[Outcome] = []
            async with pipeline.lock:
                for part in parts:
                    fed = await pipeline.feed(part, Source.STREAM, channel=channel, history=history)
                    if run is not None and not history:
                        self._follow_session(run, fed)
                    outcomes += fed
            if not history:
                self._set_location(pane, outcomes)
            self.requests.feed_stream(pane, outcomes)
            if run is not None:
                await self.runs.feed(run, outcomes)
            self.transcripts.trees.publish_changes()

        printed = PrintedEvents(self.agent.events, feed, pane.since, pane.shown)
        stream: PaneStream | ScreenStream
        try:
            stream = PaneStream(
                printed, TmuxServer(pane.address), pane.id, fifo, lambda: self._read_screen(pane, printed)
            )
        except ChorusError as error:
            log.warning("%s: %s; its screen is read instead", pane.id, error)
            stream = self._screen_stream(pane, printed)
        self.start(stream.start())
        return stream

    def _read_screen(self, pane: WatchedPane, printed: PrintedEvents) -> None:
        """Read the pane's screen from now on, because its pipe has ended. Do nothing if the pane is gone."""
        with suppress(ChorusError):
            read_pane(TmuxServer(pane.address), pane.id)
            if pane.stream is None or pane.key not in self.panes.all:
                return
            log.info("%s: its pipe has ended; its screen is read instead", pane.id)
            pane.stream.close()
            pane.stream = stream = self._screen_stream(pane, printed, continued=True)
            self.start(stream.start())

    def _screen_stream(
        self, pane: WatchedPane, printed: PrintedEvents, *, continued: bool = False
    ) -> ScreenStream:
        read_at: float | None = None

        def may_print() -> bool:
            nonlocal read_at
            if pane.client is None:
                return False
            before, read_at = read_at, pane.printed_at
            return not self.activity.is_following(pane) or before != read_at

        return ScreenStream(printed, TmuxServer(pane.address), pane.id, may_print, continued=continued)

    def is_read_from_screen(self, server: str | None, pane: PaneId | None) -> bool:
        return isinstance(self._stream_of(server, pane), ScreenStream)

    def count_gaps(self, server: str | None, pane: PaneId | None) -> int:
        stream = self._stream_of(server, pane)
        return stream.gaps if isinstance(stream, ScreenStream) else 0

    def is_piped(self, server: str | None, pane: PaneId | None) -> bool:
        """True if the events of this pane are read through Chorus's own pipe."""
        return isinstance(self._stream_of(server, pane), PaneStream)

    def _stream_of(self, server: str | None, pane: PaneId | None) -> Stream | None:
        if server is None or pane is None:
            return None
        watched = self.panes.all.get((Address(Path(server)), pane))
        return watched.stream if watched is not None else None

    def _add_directory(self, pane: WatchedPane, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Add the client's directory to the events if they do not name it, as in older clients."""
        client = self.panes.find_printing(pane)
        pane.names_directory = pane.names_directory or any("cwd" in message for message in messages)
        if client is None or pane.names_directory:
            return messages
        return [{**message, "cwd": client.cwd} for message in messages]

    def _set_location(self, pane: WatchedPane, outcomes: list[Outcome]) -> None:
        """Set the client and pane of a session that is known only from the stream."""
        pipeline, client = self.transcripts.pipeline, pane.printing
        found = [outcome.session for outcome in outcomes if isinstance(outcome, SessionDiscovered)]
        if client is None or client.session is not None or not found:
            return
        known = pipeline.roster.set_location(
            found[-1],
            time=now(),
            source="pane",
            pane=pane.id,
            server=str(pane.address.socket),
            client=client_key(client.process),
        )
        pipeline.publish_session(known)
        self.transcripts.sessions.save()


@dataclass(slots=True)
class PaneDiscovery:
    """Finds the panes of sessions known from hooks or the mod, so that their prompts can be answered.

    A discovered pane is watched only while the session's client runs in it. Headless clients are left out,
    because they draw no dialogs.
    """

    clients: Clients
    roster: SessionTable
    panes: WatchedPanes
    _looks: dict[tuple[SessionId, str | None], int] = field(default_factory=dict)
    _noted: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, session: Session) -> None:
        """Look for the pane of a new session at once."""
        if session.pane is not None and not self._looks.get((session.id, session.client)):
            self._noted.set()

    async def run(self) -> None:
        while True:
            self._noted.clear()
            is_looking = await self.discover()
            with suppress(TimeoutError):
                pause = LOOK_SECONDS if is_looking else QUIET_LOOK_SECONDS
                async with asyncio.timeout(pause):
                    await self._noted.wait()

    async def discover(self) -> bool:
        """Watch the panes of new clients. Return whether any pane was checked."""
        to_check = [(session, self._pane_to_check(session)) for session in self.roster.sessions.values()]
        for session, key in to_check:
            if key is not None and self._runs_in_pane(session, *key):
                await self._watch(*key)
        return any(key is not None for _, key in to_check)

    def _pane_to_check(self, session: Session) -> tuple[Address, PaneId] | None:
        """Return the session's pane if it is to be checked; otherwise None.

        A pane is not checked if it is already watched, or after `MAX_LOOKS` checks. This method counts them.
        """
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
        """True if the session's client is in that pane's foreground and is not headless."""
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
        return client.session == session.id or session.client == client_key(process)
