"""Hooks as a source: events are taken from the spool in the order in which they were written.

If an event only reports something already done, its client continues before the event is fed.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from chorus.agents.hook_event import HookEvent
from chorus.agents.hook_spool import Spool
from chorus.agents.interface import Events, Source
from chorus.watcher.notice_queue import NoticeQueue
from chorus.watcher.prompts.permission_requests import PermissionRequests
from chorus.watcher.sources.live_clients import find_client_key
from chorus.watcher.sources.lone_sessions import LoneSessions
from chorus.watcher.sources.pipeline import Pipeline
from chorus.watcher.sources.session_locations import SessionLocations
from chorus.watcher.sources.transcript_source import TranscriptSource
from chorus.watcher.work_trees import IsWaiting, WatchedTrees

log = logging.getLogger("chorus.watcher")

# How often the spool is read at least: a hook that was killed may leave its event without waking the watcher.
POLL_SECONDS = 5.0
# The hook before the next call waits for the watcher at most 257 ms. This is less, because the clock of files
# is not exact.
NEXT_HOOK_WAITS_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class HookSource:
    events: Events
    locations: SessionLocations
    spool: Spool
    pipeline: Pipeline
    trees: WatchedTrees
    transcripts: TranscriptSource
    notices: NoticeQueue
    requests: PermissionRequests
    lone_sessions: LoneSessions
    fail: Callable[[BaseException], bool]  # logs a failure; returns whether no event can be recorded now
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    _recorded: asyncio.Event = field(default_factory=asyncio.Event)
    _unsettled: list[HookEvent] = field(default_factory=list)  # handled, but perhaps not fully recorded yet

    def __post_init__(self) -> None:
        self._recorded.set()

    def listen(self) -> None:
        asyncio.get_running_loop().add_reader(self.spool.fileno(), self._wake)

    def _wake(self) -> None:
        # Empty the pipe at once, even if the spool is read later: a readable pipe wakes the loop without end.
        self.spool.drain_wakeups()
        self._woken.set()

    def close(self, *, asleep: bool) -> None:
        """Stop reading. `asleep`: from now on, hooks leave their events in the spool and start no watcher."""
        asyncio.get_running_loop().remove_reader(self.spool.fileno())
        self.spool.close(asleep=asleep)

    async def run(self, exists: Callable[[], Awaitable[bool]], stop: Callable[[], None]) -> None:
        """Read events until the repository is removed; then stop the watcher."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await self._woken.wait()
            self._woken.clear()
            if not await exists():
                log.info("the repository was removed")
                stop()
                return
            self._repair_spool()
            await self.read()

    async def wait_until_recorded(self, seconds: float) -> None:
        """Wait until all events that were released early have been fed. Wait at most `seconds`.

        The client of such an event already continues: see `_release_early`.
        """
        if not self._recorded.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._recorded.wait()

    def _repair_spool(self) -> None:
        if not self.spool.is_intact():
            log.warning("parts of the spool were removed; it is recreated")
            asyncio.get_running_loop().remove_reader(self.spool.fileno())
            self.spool.recreate()
            self.listen()

    async def read(self) -> None:
        """Feed every event in the spool. An event that cannot be processed is set aside.

        After that, this watcher saves no more positions in transcripts. So the next watcher reads the same
        lines again, and records what this watcher could not record.
        """
        async with self._reading:
            try:
                await self._read()
            finally:
                self._recorded.set()

    async def _read(self) -> None:
        events = self.spool.take()
        for index, event in enumerate(events):
            is_last = index + 1 == len(events)
            (failure,) = await asyncio.gather(self._feed(event, is_last=is_last), return_exceptions=True)
            if failure is None:
                self.notices.reply(event)
                self.spool.release(event)
                self._unsettled.append(event)
            elif self.fail(failure):
                raise failure
            else:
                self.transcripts.tails.frozen = True
                self.spool.quarantine(event)
        self._forget_settled()
        self.trees.publish_changes()

    def _forget_settled(self) -> None:
        """Delete events once everything they report is recorded. Before that, a new watcher may need them."""
        if not any(tree.any_held for tree in self.trees.all.values()):
            for event in self._unsettled:
                self.spool.forget(event)
            self._unsettled.clear()

    def _release_early(self, event: HookEvent) -> IsWaiting:
        """If the event only reports something already done, let the client continue at once.

        Return a function that returns True while the client waits. A client that continued counts as
        waiting for a short time after its event: its next call starts with a hook, and this hook waits until
        the event was read.
        """
        if not self.events.is_after_the_fact(event.value):
            return lambda: self.spool.is_hook_waiting(event)
        self.notices.reply(event)
        self._recorded.clear()
        self.spool.release(event)
        return lambda: 0 <= time.time() - event.written_ns / 1e9 < NEXT_HOOK_WAITS_SECONDS

    def _source_of(self, event: HookEvent) -> Source:
        """Return `MOD` if the event is about a form and the mod reports the session; otherwise `HOOK`."""
        session = self.events.hook_session(event.value)
        if session is None or not self.events.is_about_form(event.value):
            return Source.HOOK
        return Source.MOD if "mod" in self.pipeline.sources_of(session.id) else Source.HOOK

    async def _feed(self, event: HookEvent, *, is_last: bool) -> None:
        client = find_client_key(event.client_pid)
        source = self._source_of(event)
        session = self.locations.remember(
            event.value,
            source,
            pane=event.pane,
            tmux_socket=event.tmux_socket,
            client=client,
        )
        if session is not None:
            self.lone_sessions.on_hook(session, event.value)
        is_waiting = self._release_early(event)
        async with self.pipeline.lock:
            self.trees.set_more_to_come(not is_last)
            try:
                outcomes = await self.pipeline.feed(
                    [event.value],
                    source,
                    client=client or "",
                    is_waiting=is_waiting,
                    reported_at=event.written_ns / 1e9,
                )
            finally:
                self.trees.set_more_to_come(False)
            if is_last:
                await self.trees.record_held()
                self.lone_sessions.update()
        self.requests.feed_hook(event, outcomes)
