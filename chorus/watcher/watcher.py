"""The watcher: one event loop that reads every source, keeps the timeline, and answers requests.

Everything that records runs on this loop's one thread, in the order in which it is read. Here the parts are
put together, started and ended.
"""

import asyncio
import logging
import os
from contextlib import suppress

from chorus.agents import load_agent
from chorus.agents.hook_spool import Spool
from chorus.config.user_config import read_preferences, read_user_section
from chorus.errors import ChorusError
from chorus.model.ids import PaneId
from chorus.model.json_api import NoticeEvent, SessionEvent
from chorus.model.outcomes import Outcome
from chorus.model.session import Session
from chorus.tmux.address import Address
from chorus.watcher.notice_queue import NoticeQueue
from chorus.watcher.panes.activity import PaneActivity
from chorus.watcher.panes.headless_runs import HeadlessRuns
from chorus.watcher.panes.pane_file import PaneFile
from chorus.watcher.panes.pane_source import PaneDiscovery, PaneSource
from chorus.watcher.prompts.audit_log import AuditLog, audit_path
from chorus.watcher.prompts.notifications import Notifier
from chorus.watcher.prompts.pane_prompts import PanePrompts
from chorus.watcher.prompts.pending_prompts import PendingPrompts
from chorus.watcher.prompts.permission_requests import PermissionRequests
from chorus.watcher.prompts.requested_prompts import ControlRequests
from chorus.watcher.server.request_handlers import (
    PaneRequests,
    PromptRequests,
    RequestHandlers,
    StatusRequests,
)
from chorus.watcher.server.review_requests import ReviewRequests
from chorus.watcher.server.server import Server
from chorus.watcher.sources.hook_source import HookSource
from chorus.watcher.sources.live_clients import watch_clients
from chorus.watcher.sources.outside_changes import OutsideChanges
from chorus.watcher.sources.pipeline import Pipeline, now
from chorus.watcher.sources.transcript_source import TranscriptSource, TranscriptTails
from chorus.watcher.state.files import SessionFile, has_free_space
from chorus.watcher.state.lent_hooks import LENT_FILE, LentHooks
from chorus.watcher.tasks import Tasks, wait_for_either
from chorus.watcher.work_trees import WatchedTrees
from chorus.wire.home import Home
from chorus.wire.protocol import Request

log = logging.getLogger("chorus.watcher")

# How often a full disk is tried again: by the first watcher that meets it, and by one that took over from
# such.
RETRY_SECONDS = 2.0
SUCCESSOR_RETRY_SECONDS = 30.0


class Watcher:
    def __init__(self, home: Home, *, successor: bool = False) -> None:
        self.home = home
        agent = self._agent = load_agent()
        self._lock = home.lock.stat()
        self._retry_seconds = SUCCESSOR_RETRY_SECONDS if successor else RETRY_SECONDS
        self._stopping = asyncio.Event()
        self.tasks = Tasks(lambda: has_free_space(home.root))
        self.server = Server(home, self._handle)
        self.trees = WatchedTrees(home, self.server)
        self.pipeline = Pipeline(
            agent.events.read_outcomes(), self.trees.find, self._publish_session, self._feed_prompts
        )
        roster = self.pipeline.roster
        self.transcripts = TranscriptSource(
            TranscriptTails(agent.clients, home.root / "transcripts.json"),
            SessionFile(home.root / "sessions.json", roster),
            self.pipeline,
            self.trees,
        )
        self.outside_changes = OutsideChanges(self.trees, roster, self.transcripts)
        spool = Spool(home.spool)
        self.notices = NoticeQueue(home.root / "untold.json", agent.events, spool, self.pipeline.root_of)
        self.lent_hooks = LentHooks(home.root / LENT_FILE)
        self.audit_log = AuditLog(audit_path(home))

        runs = HeadlessRuns()
        activity = PaneActivity(self._look_at_panes)
        notifier = Notifier(read_preferences, self._tmux_servers, self.tasks.start)
        screen_reader = agent.prompts.screen_reader(read_user_section("prompts"))
        self.prompts = PendingPrompts(
            agent.prompts,
            PanePrompts(agent.prompts, screen_reader, activity.tmux),
            self.audit_log,
            self.server.publish,
            read_preferences,
            has_hooks=self.pipeline.has_hooks,
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
        self.hooks = HookSource(
            agent.events,
            spool,
            self.pipeline,
            self.trees,
            self.transcripts,
            self.notices,
            requests,
            self.tasks.fail,
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
            self.tasks.start,
        )
        self._handlers = RequestHandlers(
            StatusRequests(
                home,
                now(),
                self.trees,
                self.transcripts,
                self.prompts,
                self.tasks.problems,
                lambda: self.server.subscribers,
                self.stop,
            ).handlers,
            PaneRequests(self.panes, runs, roster, self.trees, self.notices, self.lent_hooks).handlers,
            PromptRequests(self.prompts, self.panes, self.audit_log).handlers,
            ReviewRequests(
                home.common_dir.parent, self.trees, self.pipeline, self.notices, self.transcripts.catch_up
            ).handlers,
        )

    async def serve(self, stopping: asyncio.Event) -> bool:
        """Catch up with what happened while no watcher ran, then watch until stopped.

        Return True if another watcher is to take over: this one has read what it could not record; the
        sources report it again to the next one, as after a watcher that was killed.
        """
        self._stopping = stopping
        self.notices.load()
        self.lent_hooks.load()
        self.transcripts.load()
        self.hooks.spool.open()
        try:
            await self.hooks.read()
            await self.transcripts.catch_up()
            await self.panes.restore()
        except ChorusError as error:
            if not self.tasks.fail(error):
                raise
        self.hooks.listen()
        await self.server.open()
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

    def _start_loops(self) -> None:
        roster = self.pipeline.roster
        run_forever = self.tasks.run_forever
        run_forever(lambda: self.hooks.run(self._repair_home, self.stop))
        run_forever(self.transcripts.run)
        run_forever(self.panes.panes.poll_forever)
        run_forever(PaneDiscovery(self._agent.clients, roster, self.panes.panes).run)
        run_forever(
            lambda: watch_clients(roster, self.transcripts.end_session, self.lent_hooks, self._agent.setup)
        )
        run_forever(self.outside_changes.run)
        run_forever(self.trees.pack_forever)

    async def _wait_for_free_space(self) -> None:
        """Record nothing, and say why, until the disk takes something again."""
        self.transcripts.tails.frozen = True
        await self.tasks.cancel()
        why = "; ".join(self.tasks.problems.values())
        text = f"nothing is recorded for now: {why}"
        self.server.publish(NoticeEvent(event="notice", level="warning", text=text))
        while not self._stopping.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), self._retry_seconds)
            if not self._holds_lock():
                self.stop()
            elif has_free_space(self.home.root):
                return

    def _holds_lock(self) -> bool:
        """Return whether the lock file in the repository is the one this watcher holds, and not another's."""
        try:
            return os.path.samestat(self._lock, self.home.lock.stat())
        except OSError:
            return False

    async def _repair_home(self) -> bool:
        """Recreate the socket if it was removed. Return False if this watcher no longer holds the lock."""
        if not self._holds_lock():
            return False
        await self.server.reopen_if_gone()
        return True

    async def _handle(self, request: Request) -> object:
        return await self._handlers.handle(request)

    def _look_at_panes(self, panes: set[tuple[Address, PaneId]]) -> None:
        self.panes.look_at(panes)

    def _tmux_servers(self) -> set[Address]:
        return self.panes.servers()

    def _feed_prompts(self, outcomes: list[Outcome]) -> None:
        self.prompts.feed(outcomes)
        self._control_requests.feed(outcomes)

    def _publish_session(self, session: Session) -> None:
        self.server.publish(SessionEvent(event="session", session=session.as_json()))

    async def _close(self) -> None:
        await self.tasks.cancel()
        self.panes.close()
        holds_lock = self._holds_lock()
        self.hooks.close(asleep=holds_lock)
        await self.server.close()
        self.trees.close()
        self.lent_hooks.remove_unused(lambda client: False, self._agent.setup)
        if holds_lock:
            self.transcripts.save()
        log.info("the watcher is stopping")
