"""The panel's state: sessions, lanes, prompts, log entries and progress, built from the feed's messages.

Does no I/O and has no clock: the same messages always give the same state.
"""

from bisect import insort
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Flag, auto
from typing import Any

from chorus.panel.items import (
    LaneInfo,
    LogEntry,
    PendingPrompt,
    SessionInfo,
    outside_id,
    parse_entry,
    parse_lane,
    parse_outside,
    parse_prompt,
    parse_session,
)
from chorus.wire.protocol import Message

# A turn, with its session.
Group = tuple[str, str]
# Outside changes are numbered in steps of this: any number of them fits between two actions.
OUTSIDE_STEP = 2.0**-24


class ModelChange(Flag):
    """What a message changed."""

    NOTHING = 0
    LINK = auto()
    SESSIONS = auto()
    PROMPTS = auto()
    QUEUE = auto()
    PROGRESS = auto()
    ALERT = auto()
    LOADED = auto()


@dataclass(frozen=True, slots=True)
class WatcherAlert:
    """A warning or piece of information from the watcher, for the status line."""

    level: str
    text: str


@dataclass(frozen=True, slots=True)
class TaskProgress:
    what: str
    done: int
    total: int | None


class PanelModel:
    def __init__(self) -> None:
        self.link = "connecting"  # then "live" or "lost"
        self.link_text = ""
        self.sessions: dict[str, SessionInfo] = {}
        self.lanes: dict[str, LaneInfo] = {}
        self.prompts: dict[str, PendingPrompt] = {}
        self.entries: dict[float, LogEntry] = {}
        # Turn -> numbers of its actions, ascending; turns in the order of their first action.
        self.groups: dict[Group, list[float]] = {}
        # Turn -> how often something in it changed: tells whether its planned rows are still valid.
        self.versions: dict[Group, int] = {}
        # Session -> how many of its actions are still to be reviewed.
        self.open_counts: Counter[str] = Counter()
        self.progress: dict[str, TaskProgress] = {}
        self.alert: WatcherAlert | None = None
        self.complete = False
        self._unconfirmed: set[float] = set()
        # Timeline commit of an outside change -> its number here.
        self._outside: dict[str, float] = {}

    def feed(self, message: Message) -> ModelChange:
        """Take one message and return what it changed. A message of an unknown kind changes nothing."""
        match message.get("event"):
            case "action":
                return self._take_entries([message.get("entry")])
            case "log":
                return self._take_log(message)
            case "prompt":
                return self._take_prompt(parse_prompt(message.get("prompt")))
            case "prompt-gone":
                gone = self.prompts.pop(str(message.get("id")), None)
                return ModelChange.PROMPTS if gone else ModelChange.NOTHING
            case "session":
                return self._take_session(parse_session(message.get("session")))
            case "lane":
                return self._take_lane(parse_lane(message.get("lane")))
            case "progress":
                return self._take_progress(message)
            case "notice":
                self.alert = WatcherAlert(str(message.get("level")), str(message.get("text")))
                return ModelChange.ALERT
            case "link":
                return self._take_link(str(message.get("state")), str(message.get("text", "")))
            case "snapshot":
                return self._take_snapshot(message)
        return ModelChange.NOTHING

    @property
    def open_count(self) -> int:
        return self.open_counts.total()

    def origin_of(self, session: str) -> str:
        """Return the first session that this one continues: the log has its actions under that id."""
        visited = {session}
        while (known := self.sessions.get(session)) and known.parent and known.parent not in visited:
            session = known.parent
            visited.add(session)
        return session

    def lane_of(self, session: str) -> str | None:
        known = self.sessions.get(session)
        if known and known.lane:
            return known.lane
        names = {session, self.origin_of(session)}
        return next((lane.name for lane in self.lanes.values() if lane.session in names), None)

    def _take_entries(self, values: list[Any]) -> ModelChange:
        regroup = False
        taken = 0
        for entry in self._parse_entries(values):
            taken += 1
            old = self.entries.get(entry.n)
            self.entries[entry.n] = entry
            self._unconfirmed.discard(entry.n)
            self.open_counts[entry.session] += entry.open
            self.versions[entry.group] = self.versions.get(entry.group, 0) + 1
            if old is not None:
                self.open_counts[old.session] -= old.open
                if old.group == entry.group:
                    continue
                self._leave_group(old)
            numbers = self.groups.setdefault(entry.group, [])
            insort(numbers, entry.n)
            regroup |= old is not None or numbers[0] == entry.n
        if regroup:
            self.groups = dict(sorted(self.groups.items(), key=lambda item: item[1][0]))
        return ModelChange.QUEUE if taken else ModelChange.NOTHING

    def _parse_entries(self, values: list[Any]) -> Iterator[LogEntry]:
        """Parse entries in their order; an outside change comes after the action it follows."""
        numbers = [entry.n for entry in map(parse_entry, values) if entry]
        after = numbers[0] - 1 if numbers else None
        for value in values:
            if entry := parse_entry(value):
                after = entry.n
                yield entry
            elif identity := outside_id(value):
                if identity not in self._outside:
                    before = int(max(self.entries, default=0) if after is None else after)
                    self._outside[identity] = before + (len(self._outside) + 1) * OUTSIDE_STEP
                n = self._outside[identity]
                yield parse_outside(value, n, self.entries.get(int(n)))

    def _take_log(self, message: Message) -> ModelChange:
        """Take one page of the log; after the last one, entries that were in none are removed."""
        change = self._take_entries(_list(message, "entries"))
        if message.get("complete"):
            for n in self._unconfirmed:
                gone = self.entries.pop(n)
                self.open_counts[gone.session] -= gone.open
                self._leave_group(gone)
            self._unconfirmed = set()
            self.complete = True
            change |= ModelChange.QUEUE | ModelChange.LOADED
        return change

    def _leave_group(self, entry: LogEntry) -> None:
        numbers = self.groups[entry.group]
        numbers.remove(entry.n)
        self.versions[entry.group] += 1
        if not numbers:
            del self.groups[entry.group]

    def _take_prompt(self, prompt: PendingPrompt | None) -> ModelChange:
        if prompt is None or self.prompts.get(prompt.id) == prompt:
            return ModelChange.NOTHING
        self.prompts[prompt.id] = prompt
        return ModelChange.PROMPTS

    def _take_session(self, session: SessionInfo | None) -> ModelChange:
        if session is None:
            return ModelChange.NOTHING
        self.sessions[session.id] = session
        return ModelChange.SESSIONS

    def _take_lane(self, lane: LaneInfo | None) -> ModelChange:
        if lane is None:
            return ModelChange.NOTHING
        self.lanes[lane.name] = lane
        return ModelChange.SESSIONS

    def _take_progress(self, message: Message) -> ModelChange:
        what, done, total = str(message.get("what")), message.get("done"), message.get("total")
        count = done if isinstance(done, int) else 0
        whole = total if isinstance(total, int) else None
        if whole is not None and count >= whole:
            self.progress.pop(what, None)
        else:
            self.progress[what] = TaskProgress(what, count, whole)
        return ModelChange.PROGRESS

    def _take_link(self, state: str, text: str) -> ModelChange:
        self.link, self.link_text = state, text
        if state != "live":
            self.progress = {}
        return ModelChange.LINK | ModelChange.PROGRESS

    def _take_snapshot(self, message: Message) -> ModelChange:
        """Replace what was known before connecting; entries stay until the log is read again."""
        sessions = filter(None, map(parse_session, _list(message, "sessions")))
        lanes = filter(None, map(parse_lane, _list(message, "lanes")))
        prompts = filter(None, map(parse_prompt, _list(message, "prompts")))
        self.sessions = {session.id: session for session in sessions}
        self.lanes = {lane.name: lane for lane in lanes}
        self.prompts = {prompt.id: prompt for prompt in prompts}
        self._unconfirmed = set(self.entries)
        self.complete = False
        return ModelChange.SESSIONS | ModelChange.PROMPTS | ModelChange.QUEUE


def _list(message: Message, name: str) -> list[Any]:
    value = message.get(name)
    return value if isinstance(value, list) else []
