"""What the panel knows: the agent's messages in, the state to show out.

Receives every message the feed gives, in order. Keeps sessions, lanes, prompts, actions, progress and
the link to the agent; says after each message what changed. Never draws, asks or waits: the same
messages always give the same state.
"""

from bisect import insort
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Flag, auto
from typing import Any

from chorus.panel.item_parsing import (
    outside_id,
    parse_entry,
    parse_lane,
    parse_outside,
    parse_prompt,
    parse_session,
)
from chorus.panel.items import Entry, Lane, Prompt, Session

Message = dict[str, Any]
Group = tuple[str, str]
# Between two actions there is room for any number of changes nobody told us of.
OUTSIDE_STEP = 2.0**-24


class Change(Flag):
    NOTHING = 0
    LINK = auto()
    SESSIONS = auto()
    PROMPTS = auto()
    QUEUE = auto()
    PROGRESS = auto()
    NOTICE = auto()
    LOADED = auto()


@dataclass(frozen=True, slots=True)
class Notice:
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class Progress:
    what: str
    done: int
    total: int | None


class Model:
    def __init__(self) -> None:
        self.link = "connecting"
        self.link_text = ""
        self.repository = ""
        self.sessions: dict[str, Session] = {}
        self.lanes: dict[str, Lane] = {}
        self.prompts: dict[str, Prompt] = {}
        self.entries: dict[float, Entry] = {}
        # Turn -> numbers of its actions, ascending; turns in the order of their first action.
        self.groups: dict[Group, list[float]] = {}
        # Turn -> how often something in it changed: whoever planned its rows knows when to do so anew.
        self.stamps: dict[Group, int] = {}
        # Session -> how many of its actions are still to be looked at.
        self.open_counts: Counter[str] = Counter()
        self.progress: dict[str, Progress] = {}
        self.notice: Notice | None = None
        self.complete = False
        self.older_left_out = False
        self._unconfirmed: set[float] = set()
        # What no action changed -> the number it goes by here.
        self._outside: dict[str, float] = {}

    def feed(self, message: Message) -> Change:
        """Take one message; say what it changed. A message of an unknown kind changes nothing."""
        match message.get("event"):
            case "action":
                return self._take_entries([message.get("entry")])
            case "log":
                return self._take_log(message)
            case "prompt":
                return self._take_prompt(parse_prompt(message.get("prompt")))
            case "prompt-gone":
                gone = self.prompts.pop(str(message.get("id")), None)
                return Change.PROMPTS if gone else Change.NOTHING
            case "session":
                return self._take_session(parse_session(message.get("session")))
            case "lane":
                return self._take_lane(parse_lane(message.get("lane")))
            case "progress":
                return self._take_progress(message)
            case "notice":
                self.notice = Notice(str(message.get("level")), str(message.get("text")))
                return Change.NOTICE
            case "link":
                return self._take_link(str(message.get("state")), str(message.get("text", "")))
            case "snapshot":
                return self._take_snapshot(message)
        return Change.NOTHING

    @property
    def open_count(self) -> int:
        return self.open_counts.total()

    def origin_of(self, session: str) -> str:
        """Where it began, before it was cleared, resumed or forked: what it does goes by that name."""
        passed = {session}
        while (known := self.sessions.get(session)) and known.parent and known.parent not in passed:
            session = known.parent
            passed.add(session)
        return session

    def lane_of(self, session: str) -> str | None:
        known = self.sessions.get(session)
        if known and known.lane:
            return known.lane
        names = {session, self.origin_of(session)}
        return next((lane.name for lane in self.lanes.values() if lane.session in names), None)

    def _take_entries(self, values: list[Any]) -> Change:
        regroup = False
        taken = 0
        for entry in self._parse_entries(values):
            taken += 1
            old = self.entries.get(entry.n)
            self.entries[entry.n] = entry
            self._unconfirmed.discard(entry.n)
            self.open_counts[entry.session] += entry.open
            self.stamps[entry.group] = self.stamps.get(entry.group, 0) + 1
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
        return Change.QUEUE if taken else Change.NOTHING

    def _parse_entries(self, values: list[Any]) -> Iterator[Entry]:
        """The entries one by one, in their order: what no action made stands where it was told."""
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

    def _take_log(self, message: Message) -> Change:
        """One page of the log; the last one settles which actions of before are gone."""
        change = self._take_entries(_list(message, "entries"))
        if message.get("complete"):
            for n in self._unconfirmed:
                gone = self.entries.pop(n)
                self.open_counts[gone.session] -= gone.open
                self._leave_group(gone)
            self._unconfirmed = set()
            self.complete = True
            self.older_left_out = bool(message.get("older"))
            change |= Change.QUEUE | Change.LOADED
        return change

    def _leave_group(self, entry: Entry) -> None:
        numbers = self.groups[entry.group]
        numbers.remove(entry.n)
        self.stamps[entry.group] += 1
        if not numbers:
            del self.groups[entry.group]

    def _take_prompt(self, prompt: Prompt | None) -> Change:
        if prompt is None or self.prompts.get(prompt.id) == prompt:
            return Change.NOTHING
        self.prompts[prompt.id] = prompt
        return Change.PROMPTS

    def _take_session(self, session: Session | None) -> Change:
        if session is None:
            return Change.NOTHING
        self.sessions[session.id] = session
        return Change.SESSIONS

    def _take_lane(self, lane: Lane | None) -> Change:
        if lane is None:
            return Change.NOTHING
        self.lanes[lane.name] = lane
        return Change.SESSIONS

    def _take_progress(self, message: Message) -> Change:
        what, done, total = str(message.get("what")), message.get("done"), message.get("total")
        count = done if isinstance(done, int) else 0
        whole = total if isinstance(total, int) else None
        if whole is not None and count >= whole:
            self.progress.pop(what, None)
        else:
            self.progress[what] = Progress(what, count, whole)
        return Change.PROGRESS

    def _take_link(self, state: str, text: str) -> Change:
        self.link, self.link_text = state, text
        if state != "live":
            self.progress = {}
        return Change.LINK | Change.PROGRESS

    def _take_snapshot(self, message: Message) -> Change:
        """How things stand after connecting: what was known before and is not in it, is gone."""
        self.repository = str(message.get("repository", ""))
        sessions = filter(None, map(parse_session, _list(message, "sessions")))
        lanes = filter(None, map(parse_lane, _list(message, "lanes")))
        prompts = filter(None, map(parse_prompt, _list(message, "prompts")))
        self.sessions = {session.id: session for session in sessions}
        self.lanes = {lane.name: lane for lane in lanes}
        self.prompts = {prompt.id: prompt for prompt in prompts}
        self._unconfirmed = set(self.entries)
        self.complete = False
        return Change.SESSIONS | Change.PROMPTS | Change.QUEUE


def _list(message: Message, name: str) -> list[Any]:
    value = message.get(name)
    return value if isinstance(value, list) else []
