"""The agent: one loop that hears every source, keeps the timeline, and answers who asks.

Everything that records runs on this loop's one thread, one thing after another: the order in which
things are heard is the order in which they are recorded.
"""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from chorus.agent.audit import Audit, audit_path
from chorus.agent.desks import Desks
from chorus.agent.intake import Intake, now
from chorus.agent.lending import Lending
from chorus.agent.liveness import name_client, watch_clients
from chorus.agent.movement import Movement
from chorus.agent.panefile import PaneFile
from chorus.agent.panes import Panes, Stream, WatchedPane
from chorus.agent.prompts import Prompts
from chorus.agent.relaying import Relaying
from chorus.agent.requests import Requests
from chorus.agent.ringing import Ringing
from chorus.agent.runs import Runs
from chorus.agent.server import Server
from chorus.agent.sessions import SessionFile
from chorus.agent.streams import PaneStream
from chorus.agent.tails import Line, Tails
from chorus.agent.telling import Telling
from chorus.agent.tree import Tree
from chorus.core.events import Source
from chorus.core.ids import PaneId, SessionId
from chorus.core.outcomes import Outcome
from chorus.core.roster import Session
from chorus.errors import ChorusError
from chorus.sources.clients import RunningClient
from chorus.sources.config import read_prompt_rules
from chorus.sources.hookfile import HookEvent
from chorus.sources.hooks import Spool
from chorus.sources.preferences import read_preferences
from chorus.sources.transcript import began_after
from chorus.tmux.address import Address
from chorus.tmux.oneshot import OneShot
from chorus.tmux.processes import read_process
from chorus.wire.home import Home, NotARepository, find_work_tree

log = logging.getLogger("chorus.agent")

# How often transcripts are looked at. The client itself writes them up to 250 ms late.
POLL_SECONDS = 0.1
# A hook that was killed on its way leaves its event and wakes nobody.
SPOOL_SECONDS = 5.0
# A file that moved between calls is nobody's; a call that is about to be told of may still claim it.
OUTSIDE_SECONDS = 0.3
# Where nothing can be watched, everything is looked at now and then.
SCAN_SECONDS = 10.0
# Without hooks a call is told of by its transcript, late and in batches.
OUTSIDE_SECONDS_WITHOUT_HOOKS = 5.0


class Agent:
    def __init__(self, home: Home) -> None:
        self.home = home
        self.since = now()
        self.trees: dict[Path, Tree] = {}
        self.intake = Intake(self.find_tree, self._announce, self._heard)
        self.tails = Tails(home.root / "transcripts.json")
        self.sessions = SessionFile(home.root / "sessions.json", self.intake.roster)
        self.server = Server(home, Requests(self).handle)
        self.spool = Spool(home.spool)
        self.panes = Panes(self._found_client, self._lost_client, self._open_stream, self._looked_at)
        self.runs = Runs()
        self.lending = Lending(home.root / "lent.json")
        self.pane_file = PaneFile(home.root / "panes.json")
        self.telling = Telling(home.root / "untold.json", self.spool, self.root_of)
        self.movement = Movement(self._panes_moved)
        self.audit = Audit(audit_path(home))
        desks = Desks(read_prompt_rules(), self.movement.tmux)
        ringing = Ringing(
            read_preferences, lambda: {pane.address for pane in self.panes.all.values()}, self._start
        )
        self.prompts = Prompts(
            desks,
            self.audit,
            self.server.publish,
            read_preferences,
            has_hooks=self._has_hooks,
            ring=ringing.ring,
        )
        self.relaying = Relaying(
            self.spool,
            self.runs,
            self.intake.roster,
            self.prompts,
            start=self._start,
            tmux=self.movement.tmux,
        )
        self.problems: dict[str, str] = {}
        self._stopping = asyncio.Event()
        self._moved = asyncio.Event()
        self._hooks_came = asyncio.Event()
        self.history = asyncio.Lock()  # one source at a time changes history
        self._tasks: set[asyncio.Task[None]] = set()

    async def serve(self, stopping: asyncio.Event) -> None:
        """Catch up with what happened while no agent ran, then watch until told to stop."""
        self._stopping = stopping
        self.tails.load()
        self.telling.load()
        self.lending.load()
        for session in self.sessions.load():
            self._follow(session)
        self.spool.open()
        await self._read_hooks()
        await self.catch_up()
        await self._watch_again()
        asyncio.get_running_loop().add_reader(self.spool.fileno(), self._hooks_came.set)
        await self.server.open()
        self._start(self._hear_hooks())
        self._start(self._poll())
        self._start(self.panes.keep_looking())
        self._start(watch_clients(self.intake.roster, self._lost_client, self.lending))
        self._start(self._sweep_outside())
        log.info("the agent watches %s", self.home.common_dir)
        await stopping.wait()
        await self._close()

    def stop(self) -> None:
        self._stopping.set()

    def find_tree(self, cwd: str) -> Tree | None:
        """The work tree of this repository that `cwd` is in; None if it is in none."""
        try:
            root, home = find_work_tree(Path(cwd))
        except NotARepository:
            return None
        if home != self.home:
            return None
        if root not in self.trees:
            loop = asyncio.get_running_loop()
            tree = Tree(root, wake=lambda: _wake(loop, self._moved))
            tree.start()
            self.trees[root] = tree
        return self.trees[root]

    async def catch_up(self) -> None:
        """Handle everything that has been told by now."""
        async with self.history:
            await self._read_transcripts()
        self.announce_actions()

    async def hear_hook(self, event: HookEvent) -> None:
        """One event of a hook: what it says of the session's transcript and pane is remembered first."""
        message = event.value
        session, transcript = message.get("session_id"), message.get("transcript_path")
        if isinstance(session, str) and isinstance(transcript, str):
            begins = message.get("hook_event_name") == "SessionStart" and message.get("source") == "startup"
            known = self.intake.roster.place(
                SessionId(session),
                time=now(),
                source="hook",
                transcript=transcript,
                cwd=message.get("cwd"),
                pane=event.pane,
                server=event.tmux_socket,
                client=self._client_of(event),
            )
            self._follow(known, from_start=begins)
            if known.cwd is not None:
                self.find_tree(known.cwd)
        async with self.history:
            outcomes = await self.intake.take(
                [message], Source.HOOK, waits=lambda: self.spool.is_waiting(event)
            )
        self.relaying.hear_hook(event, outcomes)

    async def _hear_hooks(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._hooks_came.wait(), SPOOL_SECONDS)
            self._hooks_came.clear()
            if not self.home.lock.exists():
                log.info("the repository is gone")
                self.stop()
                return
            await self._read_hooks()

    async def _read_hooks(self) -> None:
        """Deal with every event in the spool. A client that waits goes on once its event is recorded."""
        for event in self.spool.take():
            await self.hear_hook(event)
            self.telling.answer(event)
            self.spool.forget(event)
        self.announce_actions()

    def root_of(self, session: SessionId) -> SessionId | None:
        """The session under which the actions of this one are recorded."""
        known = self.intake.roster.sessions.get(session)
        tree = self.find_tree(known.cwd) if known is not None and known.cwd else None
        return tree.recorder.journal.root(session) if tree is not None else None

    async def _watch_again(self) -> None:
        """The panes that an agent which was killed had watched."""
        for kept in self.pane_file.load():
            with suppress(ChorusError):
                watched = await self.panes.watch(kept.address, PaneId(kept.pane), kept.since)
                if kept.run is not None and kept.pipe is not None:
                    self.runs.add(kept.run, Path(kept.pipe), watched.id).session = watched.session
                    self.panes.listen(watched)

    def keep_panes(self) -> None:
        self.pane_file.keep(self.panes.all.values(), self.runs.all.values())

    def _client_of(self, event: HookEvent) -> str | None:
        pid = event.client_pid
        return None if pid is None else name_client(pid, read_process(pid))

    def _looked_at(self, pane: WatchedPane) -> None:
        if pane.key not in self.panes.all:
            self.prompts.forget(pane)
            self.keep_panes()
            return
        if pane.client is not None:
            self.movement.follow(pane)
        self.prompts.look(pane)

    def _panes_moved(self, panes: set[tuple[Address, PaneId]]) -> None:
        for key in panes:
            if key in self.panes.all:
                self.prompts.look(self.panes.all[key])

    def _found_client(self, pane: WatchedPane, client: RunningClient) -> None:
        """A client in a watched pane is in this session now."""
        assert client.session is not None
        server = str(pane.address.socket)
        known = self.intake.roster.place(
            client.session,
            time=now(),
            source="pane",
            cwd=client.cwd,
            transcript=str(client.transcript) if client.transcript else None,
            pane=pane.id,
            server=server,
            client=name_client(client.process.pid, client.process),
        )
        if run := self.runs.at(pane.id):
            run.session = client.session
        self.find_tree(client.cwd)
        begins = client.transcript is not None and began_after(client.transcript, pane.since)
        self._follow(known, from_start=begins)
        self._announce(known)
        self.sessions.keep()

    async def _lost_client(self, session: SessionId) -> None:
        if self.intake.roster.sessions[session].state == "gone":
            return
        async with self.history:
            await self._read_transcripts()
            await self.intake.end(session, source="pane")
        self.tails.forget(session)
        self.sessions.keep()

    def _open_stream(self, pane: WatchedPane) -> Stream | None:
        """Listen to what the pane prints, unless somebody else does: the transcript tells the same, later."""
        fifo = self.home.root / f"pane-{pane.id.lstrip('%')}.fifo"

        async def hear(messages: list[dict[str, Any]], history: bool) -> None:
            async with self.history:
                outcomes = await self.intake.take(messages, Source.STREAM, channel=pane.id, history=history)
            self.relaying.hear_stream(pane, outcomes)
            self.announce_actions()

        try:
            stream = PaneStream(OneShot(pane.address), pane.id, fifo, hear, since=pane.since)
        except ChorusError as error:
            log.warning("%s: %s", pane.id, error)
            return None
        self._start(stream.start())
        return stream

    def _follow(self, session: Session, *, from_start: bool = False) -> None:
        if session.transcript is not None and session.state != "gone":
            self.tails.follow(session.id, Path(session.transcript), from_start=from_start)

    async def _read_transcripts(self) -> None:
        lines = list(self.tails.read())
        for history in (True, False):
            messages = [m for line in lines if line.history is history and (m := _decode(line)) is not None]
            if messages:
                await self.intake.take(messages, Source.TRANSCRIPT, history=history)
        if lines:
            self.tails.keep()
            self.sessions.keep()

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(POLL_SECONDS)
            await self.catch_up()

    async def _sweep_outside(self) -> None:
        """Record what moves between calls, once it is sure that no call claims it."""
        while True:
            blind = any(tree.watch.is_blind for tree in self.trees.values())
            with suppress(TimeoutError):
                await asyncio.wait_for(self._moved.wait(), SCAN_SECONDS if blind else None)
            self._moved.clear()
            await asyncio.sleep(OUTSIDE_SECONDS)
            async with self.history:
                await self._read_transcripts()
                left = [self._sweep(tree) for tree in self.trees.values()]
            if any(left):
                self._moved.set()
            self.announce_actions()

    def _sweep(self, tree: Tree) -> bool:
        """True: something moved that is not ready to be recorded."""
        tree.record_held()
        if tree.windows.open:
            return tree.moved
        live = [s for s in self.intake.roster.sessions.values() if s.state != "gone"]
        # An agent that starts finds changes of calls which are told of late, however they are told of.
        late = (tree.is_new and live) or not all("hook" in session.sources for session in live)
        return tree.sweep(grace_seconds=OUTSIDE_SECONDS_WITHOUT_HOOKS if late else OUTSIDE_SECONDS)

    def announce_actions(self) -> None:
        """Tell subscribers of every entry that is new or different since the last time."""
        if self.server.subscribers:
            for root, tree in self.trees.items():
                for entry in tree.news():
                    self.server.publish("action", entry=entry, work_tree=str(root))

    def _has_hooks(self, session: SessionId) -> bool:
        known = self.intake.roster.sessions.get(session)
        return known is not None and "hook" in known.sources

    def _heard(self, outcomes: list[Outcome]) -> None:
        self.prompts.hear(outcomes)

    def _announce(self, session: Session) -> None:
        self.server.publish("session", session=session.as_json())

    def _start(self, task: Coroutine[Any, Any, None]) -> None:
        """Run a loop of the agent's. One that fails is told, and the agent goes on with the others."""
        started = asyncio.get_running_loop().create_task(task)
        self._tasks.add(started)
        started.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a loop of the agent failed", exc_info=error)
            self.problems[type(error).__name__] = str(error)

    async def _close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*self._tasks, return_exceptions=True)
        self.panes.close()
        self.movement.close()
        asyncio.get_running_loop().remove_reader(self.spool.fileno())
        self.spool.close(asleep=self.home.lock.exists())
        await self.server.close()
        for tree in self.trees.values():
            tree.close()
        self.lending.take_back(lambda client: False)
        if self.home.lock.exists():
            self.tails.keep()
            self.sessions.keep()
        log.info("the agent ends")


def _wake(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    """Called from a thread of the file watch's, perhaps after the loop has ended."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(event.set)


def _decode(line: Line) -> dict[str, Any] | None:
    try:
        value = orjson.loads(line.text)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None
