"""The watcher: one event loop that reads every source, keeps the timeline, and answers requests.

Sources record one at a time, under the pipeline's lock.
"""

import asyncio
import gc
import logging
import os
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from chorus.agents import load_agent
from chorus.agents.hook_spool import Spool
from chorus.config.user_config import read_preferences, read_user_section
from chorus.errors import ChorusError
from chorus.model.api.json_api import AlertEvent, SessionEvent
from chorus.model.ids import PaneId
from chorus.model.outcomes import Outcome, TurnStarted
from chorus.model.session import LIVE_SOURCES, Session
from chorus.model.turn import TURNS_FILE
from chorus.tmux.address import Address
from chorus.watcher.note_delivery import NoteDelivery
from chorus.watcher.notice_queue import NoticeQueue
from chorus.watcher.panes.activity import PaneActivity
from chorus.watcher.panes.capture_files import CaptureFiles
from chorus.watcher.panes.headless_runs import HeadlessRuns
from chorus.watcher.panes.pane_file import PaneFile
from chorus.watcher.panes.pane_source import PaneDiscovery, PaneSource
from chorus.watcher.prompts.audit_log import AuditLog, audit_path
from chorus.watcher.prompts.notifications import Notifier
from chorus.watcher.prompts.pane_prompts import PanePrompts
from chorus.watcher.prompts.pending_prompts import PendingPrompts
from chorus.watcher.prompts.permission_requests import PermissionRequests
from chorus.watcher.prompts.requested_prompts import ControlRequests
from chorus.watcher.recorder_pool import RecorderPool
from chorus.watcher.server.http_exchange import HttpRequest
from chorus.watcher.server.request_handlers import (
    PaneRequests,
    PromptRequests,
    RequestHandlers,
    StatusRequests,
)
from chorus.watcher.server.review_requests import ReviewRequests
from chorus.watcher.server.server import Server
from chorus.watcher.sources.hook_source import HookSource
from chorus.watcher.sources.live_clients import LiveClients
from chorus.watcher.sources.lone_sessions import LoneSessions
from chorus.watcher.sources.mod_fallback import ModFallback
from chorus.watcher.sources.mod_source import ModSource
from chorus.watcher.sources.outside_changes import OutsideChanges
from chorus.watcher.sources.pipeline import Pipeline, now
from chorus.watcher.sources.session_locations import SessionLocations
from chorus.watcher.sources.transcript_source import TranscriptSource, TranscriptTails
from chorus.watcher.state.files import SessionFile, has_free_space
from chorus.watcher.state.temporary_hooks import TEMPORARY_HOOKS_FILE, TemporaryHooks
from chorus.watcher.state.turns import TurnStore
from chorus.watcher.tasks import Tasks, wait_for_either
from chorus.watcher.work_trees import WatchedTrees
from chorus.wire import registry
from chorus.wire.home import Home
from chorus.wire.protocol import Request

log = logging.getLogger("chorus.watcher")

# How often a watcher checks whether a full disk has space again. A watcher that took over because of a full
# disk checks less often.
RETRY_SECONDS = 2.0
SUCCESSOR_RETRY_SECONDS = 30.0

# How long a request waits until the events that hooks have just reported are recorded. That takes
# milliseconds, unless a large change is being written. `status` waits less, and AT_ONCE lists the requests
# that do not wait.
RECORDED_SECONDS = 1.0
STATUS_SECONDS = 0.05
AT_ONCE = ("hello", "stop", "subscribe", "prompts", "answer", "audit")


class Watcher:
    def __init__(self, home: Home, *, listener: socket.socket | None = None, successor: bool = False) -> None:
        self.home = home
        agent = self._agent = load_agent()
        self._lock = home.lock.stat()
        self._retry_seconds = SUCCESSOR_RETRY_SECONDS if successor else RETRY_SECONDS
        self._stopping = asyncio.Event()
        self._asleep = False
        self.tasks = Tasks(lambda: has_free_space(home.root))
        self.server = Server(home, self._handle, self._handle_http, listener)
        self._pool = RecorderPool()
        self.trees = WatchedTrees(home, self.server, self._pool)
        self.pipeline = Pipeline(
            agent.events.read_outcomes(), self.trees.find, self._publish_session, self._observe
        )
        roster = self.pipeline.roster
        self.trees.was_rewound = self._was_rewound
        self.transcripts = TranscriptSource(
            TranscriptTails(agent.clients, home.root / "transcripts.json"),
            SessionFile(home.root / "sessions.json", roster),
            self.pipeline,
            self.trees,
        )
        self.outside_changes = OutsideChanges(
            self.trees,
            roster,
            self.transcripts,
            lambda call: self.prompts.is_surely_asked(call),  # noqa: PLW0108  made later
        )
        spool = Spool(home.spool)
        self.notices = NoticeQueue(home.root / "notices.json", agent.events, spool)
        self.temporary_hooks = TemporaryHooks(home.root / TEMPORARY_HOOKS_FILE)
        self.audit_log = AuditLog(audit_path(home))

        self.turns = TurnStore(home.root / TURNS_FILE, self.server)
        runs = HeadlessRuns()
        self.note_delivery = NoteDelivery(self.trees.readers, self.notices, runs, roster, self.server.publish)
        activity = PaneActivity(self._look_at_panes)
        notifier = Notifier(home, read_preferences, self._tmux_servers, self._later)
        screen_reader = agent.prompts.screen_reader(read_user_section("prompts"))
        self.prompts = PendingPrompts(
            agent.prompts,
            PanePrompts(agent.prompts, screen_reader, activity.tmux),
            self.audit_log,
            self.server.publish,
            read_preferences,
            sources_of=self.pipeline.sources_of,
            notify=notifier.notify,
        )
        self._control_requests = ControlRequests(home.root / "asked.json")
        requests = PermissionRequests(
            agent.prompts,
            spool,
            runs,
            roster,
            self.prompts,
            self._control_requests,
            self.tasks.start,
            activity.tmux,
        )
        locations = SessionLocations(agent.events, self.pipeline, self.trees, self.transcripts)
        self._mod_fallback = ModFallback(
            agent.clients,
            agent.setup,
            self.temporary_hooks,
            roster.sessions.get,
            self.trees.root_of,
            self.trees.record_own_change,
        )
        lone_sessions = LoneSessions(agent.events, self.pipeline, self.trees, spool)
        self.pipeline.on_fed = lone_sessions.update
        self.mod = ModSource(
            agent.events,
            locations,
            self._mod_fallback,
            self.pipeline,
            self.trees,
            self.transcripts,
            self.notices,
            requests,
            lone_sessions,
            self.tasks.fail,
        )
        self.hooks = HookSource(
            agent.events,
            locations,
            spool,
            self.pipeline,
            self.trees,
            self.transcripts,
            self.notices,
            requests,
            lone_sessions,
            self.tasks.fail,
        )
        self.trees.has_unread = lambda: spool.has_new() or self.mod.has_new()
        self._live_clients = LiveClients(
            roster, self.transcripts.end_client, self.temporary_hooks, agent.setup
        )
        self.panes = PaneSource(
            agent,
            home.root,
            PaneFile(home.root / "panes.json"),
            runs,
            activity,
            self.prompts,
            requests,
            self.transcripts,
            self._live_clients,
            self.tasks.start,
            self.server.publish,
        )
        self.captures = CaptureFiles(
            agent.events,
            agent.clients,
            self.transcripts,
            requests,
            self.tasks.start,
            home.root / "captures.json",
        )
        self._discovery = PaneDiscovery(agent.clients, roster, self.panes.panes)
        self._handlers = RequestHandlers(
            StatusRequests(
                home,
                now(),
                self.trees,
                self.transcripts,
                self.prompts,
                self.panes,
                self.tasks.problems,
                lambda: self.server.subscribers,
                self._stop_for_user,
                self.hooks.read,
                self.turns,
                runs,
                self.captures,
            ).handlers,
            PaneRequests(
                self.panes,
                runs,
                roster,
                self.trees,
                self.notices,
                self.temporary_hooks,
                self.note_delivery,
                self.captures,
            ).handlers,
            PromptRequests(
                self.prompts, self.panes, self.audit_log, self.outside_changes.record_before_answer
            ).handlers,
            ReviewRequests(
                home.common_dir.parent,
                self.trees,
                self.pipeline,
                self.notices,
                self.transcripts.catch_up,
                self.note_delivery,
                pool=self._pool,
            ).handlers,
        )

    async def serve(self, stopping: asyncio.Event) -> bool:
        """Catch up with what happened while no watcher ran, then watch until stopped.

        Return True if a new watcher must take over and read again the events that this one could not record.
        """
        self._stopping = stopping
        self.notices.load()
        self.turns.load()
        self.temporary_hooks.load()
        self.transcripts.load()
        self.hooks.spool.open()
        self.notices.announce()
        try:
            await self.hooks.read()
            await self.transcripts.catch_up()
            await self.panes.restore()
            await self.captures.restore()
        except ChorusError as error:
            if not self.tasks.fail(error):
                raise
        self.hooks.listen()
        await self.server.open()
        self._mod_fallback.reachable_since = time.time()
        self._register()
        if not self.tasks.failed.is_set():
            self._start_loops()
            log.info("watching %s", self.home.common_dir)
        await wait_for_either(stopping, self.tasks.failed)
        if not stopping.is_set():
            await self._wait_for_free_space()
        await self._close()
        return not stopping.is_set()

    def stop(self) -> None:
        self._stopping.set()

    def _stop_for_user(self) -> None:
        """Stop at the user's request. Hooks start a new watcher after a signal, but not after this stop."""
        self._asleep = True
        self.captures.forget()
        self.stop()

    def _start_loops(self) -> None:
        # Everything loaded so far stays until the end, so the garbage collector need not look at it.
        gc.freeze()
        run_forever = self.tasks.run_forever
        run_forever(lambda: self.hooks.run(self._repair_home, self.stop))
        run_forever(self.transcripts.run)
        run_forever(self.panes.panes.poll_forever)
        run_forever(self._discovery.run)
        run_forever(self._live_clients.run)
        run_forever(self.outside_changes.run)
        run_forever(self.trees.pack_forever)
        run_forever(self.trees.copy_forever)

    async def _wait_for_free_space(self) -> None:
        """Pause recording, report why, and wait until the disk has space again or the watcher must stop."""
        self.transcripts.tails.frozen = True
        await self.tasks.cancel()
        why = "; ".join(self.tasks.problems.values())
        text = f"nothing is recorded for now: {why}"
        self.server.publish(AlertEvent(event="alert", level="warning", text=text))
        while not self._stopping.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(self._retry_seconds):
                    await self._stopping.wait()
            if not self._holds_lock():
                self.stop()
            elif has_free_space(self.home.root):
                return

    def _holds_lock(self) -> bool:
        try:
            now = os.stat(self.home.file("watcher.lock"))  # noqa: PTH116  with every hook
            return os.path.samestat(self._lock, now)
        except OSError:
            return False

    async def _repair_home(self) -> bool:
        """Recreate the socket if it was removed. Return False if this watcher no longer holds the lock."""
        if not self._holds_lock():
            return False
        await self.server.reopen_if_gone()
        return True

    async def _handle(self, request: Request) -> object:
        if request.do not in AT_ONCE:
            await self.hooks.wait_until_recorded(
                STATUS_SECONDS if request.do == "status" else RECORDED_SECONDS
            )
        return await self._handlers.handle(request)

    def _register(self) -> None:
        """Register the repository, so that `chorus inbox` lists it. A failure is only logged."""
        try:
            registry.register(self.home)
        except (ChorusError, OSError) as error:
            log.warning("the inbox will not list this repository: %s", error)

    def _look_at_panes(self, panes: set[tuple[Address, PaneId]]) -> None:
        self.panes.look_at(panes)

    def _later(self, seconds: float, do: Callable[[], None]) -> None:
        asyncio.get_running_loop().call_later(seconds, do)

    def _tmux_servers(self) -> set[Address]:
        return self.panes.servers()

    async def _handle_http(self, request: HttpRequest, client_pid: int | None) -> Mapping[str, object]:
        return await self.mod.handle(request, client_pid)

    def _observe(self, outcomes: list[Outcome], source: str) -> None:
        for name in self.turns.feed(outcomes):
            if session := self.pipeline.roster.sessions.get(name):
                self._publish_sums(session)
        if source in LIVE_SOURCES:
            for outcome in outcomes:
                if isinstance(outcome, TurnStarted) and outcome.session is not None:
                    self.note_delivery.send_with_message(outcome.session)
        self.prompts.feed(outcomes)
        self._control_requests.feed(outcomes)
        self._mod_fallback.feed(outcomes, source)

    def _was_rewound(self, path: Path) -> bool:
        """True if the file's last change may be a rewind: a client set it back to an earlier turn."""
        try:
            moment = (path if path.exists() else path.parent).stat().st_mtime
        except OSError:
            return False
        transcripts = [session.transcript for session in self.pipeline.roster.sessions.values()]
        is_rewinding = self._agent.clients.is_rewinding
        return any(is_rewinding(Path(name), path, moment) for name in transcripts if name)

    def _publish_session(self, session: Session) -> None:
        self._discovery.note(session)
        self._live_clients.note(session)
        self._publish_sums(session)

    def _publish_sums(self, session: Session) -> None:
        """Publish a session with the total tokens, cost and duration of its turns."""
        if not self.server.subscribers:
            return
        described = session.as_json()
        self.turns.add_sums(described)
        self.server.publish(SessionEvent(event="session", session=described))

    async def _close(self) -> None:
        await self.tasks.cancel()
        self.panes.close()
        self.transcripts.activity.close()
        holds_lock = self._holds_lock()
        self.hooks.close(asleep=holds_lock and self._asleep)
        await self.server.close()
        self._pool.close()
        self.trees.close()
        self.temporary_hooks.remove_unused(lambda client: False, self._agent.setup)
        if holds_lock:
            self.transcripts.save()
        log.info("the watcher is stopping")
