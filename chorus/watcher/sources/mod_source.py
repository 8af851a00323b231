"""The mod as a source: like hooks, but over the socket.

The reply to a report is sent once the report has been fed. Reports are not stored. If a report could not be
recorded, the next watcher finds the call in the transcript.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NotRequired, TypedDict

from chorus.agents.interface import Events, Source
from chorus.history.log.filter import LogFilter
from chorus.model.api.json_api import LogEntryJson
from chorus.model.commits.commit_message import shorten
from chorus.model.ids import PaneId
from chorus.model.review_state import is_open
from chorus.watcher.notice_queue import NoticeQueue
from chorus.watcher.prompts.permission_requests import PermissionRequests
from chorus.watcher.prompts.reply_channels import ModChannel, PollReply
from chorus.watcher.server.http_exchange import HttpRequest
from chorus.watcher.sources.live_clients import find_client_key
from chorus.watcher.sources.lone_sessions import LoneSessions
from chorus.watcher.sources.mod_fallback import ModFallback
from chorus.watcher.sources.pipeline import Pipeline
from chorus.watcher.sources.session_locations import SessionLocations
from chorus.watcher.sources.transcript_source import TranscriptSource
from chorus.watcher.work_trees import WatchedTrees

log = logging.getLogger("chorus.watcher")

# How much is shown in the mod's own pane, inside the client.
MAX_LISTED = 12
MAX_TEXT_LENGTH = 60


class ListedAction(TypedDict):
    """One row of the mod's own pane, inside the client."""

    n: int | None
    id: str | None
    text: str
    status: str
    open: bool


class OpenActions(TypedDict):
    open: int
    actions: list[ListedAction]


class ReportReply(TypedDict):
    number: NotRequired[int]  # the number of the action that the call became
    notice: NotRequired[str]  # the text of notices, for the model
    alone: NotRequired[bool]  # the next edit need not be reported before it ends
    request: NotRequired[int]  # names a prompt: the mod polls for its answer with this number


ModReply = ReportReply | OpenActions | PollReply


@dataclass(frozen=True, slots=True)
class ModSource:
    events: Events
    locations: SessionLocations
    fallback: ModFallback
    pipeline: Pipeline
    trees: WatchedTrees
    transcripts: TranscriptSource
    notices: NoticeQueue
    requests: PermissionRequests
    lone_sessions: LoneSessions
    fail: Callable[[BaseException], bool]
    _held: dict[int, ModChannel] = field(default_factory=dict)
    _unread: list[None] = field(default_factory=list)  # one for each report that waits for the lock
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    async def handle(self, request: HttpRequest, client_pid: int | None) -> ModReply:
        if request.path == "/report":
            return await self._take(request.value, client_pid)
        if request.path == "/answer":
            channel = self._held.get(request.value.get("request", 0))
            reply = await channel.poll() if channel is not None else PollReply()
            if channel is not None and not reply.get("again"):
                self._held.pop(request.value["request"], None)
            return reply
        if request.path == "/open":
            return self._describe_open(request.value.get("cwd"))
        log.warning("the mod asks for %s, which this version does not have", request.path)
        return {}

    def _describe_open(self, cwd: object) -> OpenActions:
        """Count the open actions of the work tree, and list the newest actions, newest first."""
        tree = self.trees.find(cwd) if isinstance(cwd, str) else None
        if tree is None:
            return {"open": 0, "actions": []}
        log = tree.recorder.log
        newest = log.select(LogFilter(limit=MAX_LISTED))
        listed = [_describe_action(entry) for entry in reversed(newest) if entry["commit"] is not None]
        return {"open": sum(lane["open"] for lane in log.lanes()), "actions": listed}

    def _number_of(self, call: str, cwd: object) -> int | None:
        """Return the number of the action that was recorded for this call; None if there is none (yet)."""
        tree = self.trees.find(cwd) if isinstance(cwd, str) else None
        recorded = tree.recorder.timeline.find_action(call) if tree is not None else None
        return recorded.record.number if recorded is not None and recorded.record.action == call else None

    def has_new(self) -> bool:
        """True if a report has arrived that is not fed yet. May be called from any thread."""
        return bool(self._unread)

    @asynccontextmanager
    async def _lock_in_turn(self) -> AsyncIterator[None]:
        self._unread.append(None)
        try:
            await self.pipeline.lock.acquire()
        finally:
            self._unread.pop()
        try:
            yield
        finally:
            self.pipeline.lock.release()

    async def _take(self, report: Mapping[str, Any], client_pid: int | None) -> ReportReply:
        value = self.events.read_report(report)
        if value is None:
            return {}
        pane, tmux = report.get("pane"), report.get("tmux")
        client = find_client_key(client_pid)
        pane_id = PaneId(pane) if isinstance(pane, str) and pane else None
        session = self.locations.remember(
            value,
            Source.MOD,
            pane=pane_id,
            tmux_socket=tmux.rsplit(",", 2)[0] if isinstance(tmux, str) and tmux else None,
            client=client,
        )
        call = value.get("tool_use_id")
        self.fallback.on_report(call if isinstance(call, str) else None)
        try:
            async with self._lock_in_turn():
                outcomes = await self.pipeline.feed(
                    [value],
                    Source.MOD,
                    client=client or "",
                    is_waiting=_client_waits(report, self.events.report_wait_seconds),
                )
                await self.trees.record_held()
        except Exception as error:
            self.transcripts.tails.frozen = True
            if self.fail(error):
                return {}
            raise
        self.trees.publish_changes()
        reply: ReportReply = {}
        if report.get("event") == "after" and isinstance(call, str):
            number = self._number_of(call, value.get("cwd"))
            if number is not None:
                reply["number"] = number
        if session is not None and self.events.notice_session(value) == session:
            notice = self.notices.take(session)
            if notice is not None:
                reply["notice"] = notice
        if session is not None and self.lone_sessions.is_alone(session, value.get("cwd")):
            reply["alone"] = True
        channel = self.requests.feed_mod(value, pane_id, outcomes)
        if channel is not None:
            number = next(self._numbers)
            self._held[number] = channel
            reply["request"] = number
        return reply


def _describe_action(entry: LogEntryJson) -> ListedAction:
    paths = entry["paths"] or [f"{entry['files']} files"]
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    waits = is_open(entry["status"], entry["tool"], entry["reverts"], entry["within"], landed=entry["landed"])
    return {
        "n": entry["n"],
        "id": entry["id"],
        "text": shorten(f"{entry['tool']} {paths[0]}{more}", MAX_TEXT_LENGTH),
        "status": entry["status"],
        "open": waits,
    }


def _client_waits(report: Mapping[str, Any], seconds: float) -> Callable[[], bool]:
    """Return a function that returns True while the client waits for the reply, for at most `seconds`."""
    sent, received = report.get("time"), asyncio.get_running_loop().time()
    if not isinstance(sent, int):
        return lambda: False
    delay = max(0.0, time.time() - sent / 1000)
    loop = asyncio.get_running_loop()
    return lambda: delay + loop.time() - received < seconds
