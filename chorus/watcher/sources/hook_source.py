"""Hooks as a source: events are taken from the spool in the order in which they were written.

Each event is fed completely before the client that waits for it goes on. Where the session's transcript and
pane are is remembered first.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from chorus.agents.hook_event import HookEvent
from chorus.agents.hook_spool import Spool
from chorus.agents.interface import Events, Source
from chorus.system.processes import read_process
from chorus.watcher.notice_queue import NoticeQueue
from chorus.watcher.prompts.permission_requests import PermissionRequests
from chorus.watcher.sources.live_clients import client_key
from chorus.watcher.sources.pipeline import Pipeline, now
from chorus.watcher.sources.transcript_source import TranscriptSource
from chorus.watcher.work_trees import WatchedTrees

log = logging.getLogger("chorus.watcher")

# A hook that was killed on its way leaves its event and wakes nobody.
POLL_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class HookSource:
    events: Events
    spool: Spool
    pipeline: Pipeline
    trees: WatchedTrees
    transcripts: TranscriptSource
    notices: NoticeQueue
    requests: PermissionRequests
    fail: Callable[[BaseException], bool]  # whether no event can be recorded now
    _woken: asyncio.Event = field(default_factory=asyncio.Event)

    def listen(self) -> None:
        asyncio.get_running_loop().add_reader(self.spool.fileno(), self._wake)

    def _wake(self) -> None:
        # Emptied at once, also while nobody reads the spool: a readable pipe wakes the loop without end.
        self.spool.drain_wakeups()
        self._woken.set()

    def close(self, *, asleep: bool) -> None:
        """`asleep`: events written from now on are for the next watcher."""
        asyncio.get_running_loop().remove_reader(self.spool.fileno())
        self.spool.close(asleep=asleep)

    async def run(self, exists: Callable[[], Awaitable[bool]], stop: Callable[[], None]) -> None:
        """Read events until the repository is removed; then stop the watcher."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), POLL_SECONDS)
            self._woken.clear()
            if not await exists():
                log.info("the repository was removed")
                stop()
                return
            self._repair_spool()
            await self.read()

    def _repair_spool(self) -> None:
        if not self.spool.is_intact():
            log.warning("parts of the spool were removed; it is recreated")
            asyncio.get_running_loop().remove_reader(self.spool.fileno())
            self.spool.recreate()
            self.listen()

    async def read(self) -> None:
        """Feed every event in the spool. A client that waits goes on once its event is recorded.

        An event that cannot be processed is set aside, and the next one is read. Transcripts
        report the same as hooks: the next watcher reads there what this one could not record.
        """
        for event in self.spool.take():
            (failure,) = await asyncio.gather(self._feed(event), return_exceptions=True)
            if failure is None:
                self.notices.reply(event)
                self.spool.forget(event)
            elif self.fail(failure):
                raise failure
            else:
                self.transcripts.tails.frozen = True
                self.spool.quarantine(event)
        self.trees.publish_changes()

    async def _feed(self, event: HookEvent) -> None:
        self._place_session(event)
        async with self.pipeline.lock:
            outcomes = await self.pipeline.feed(
                [event.value], Source.HOOK, is_waiting=lambda: self.spool.is_hook_waiting(event)
            )
        self.requests.feed_hook(event, outcomes)

    def _place_session(self, event: HookEvent) -> None:
        """Remember where the session's transcript, directory, pane and client are."""
        session = self.events.hook_session(event.value)
        if session is None:
            return
        known = self.pipeline.roster.set_location(
            session.id,
            time=now(),
            source="hook",
            transcript=session.transcript,
            cwd=session.cwd,
            pane=event.pane,
            server=event.tmux_socket,
            client=_client_of(event),
        )
        self.transcripts.follow(known, from_start=session.is_new)
        if known.cwd is not None:
            self.trees.find(known.cwd)


def _client_of(event: HookEvent) -> str | None:
    pid = event.client_pid
    return None if pid is None else client_key(pid, read_process(pid))
