"""The panel's state: sessions, lanes, prompts, log entries and progress, built from the feed's messages.

No I/O and no clock: the same messages always give the same state.
"""

from bisect import insort
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Flag, auto
from typing import Any

from chorus.panel.state.items import (
    LaneInfo,
    LogItem,
    NoteInfo,
    PendingPrompt,
    SessionInfo,
    TurnInfo,
    outside_id,
    parse_lane,
    parse_log_item,
    parse_note,
    parse_outside,
    parse_prompt,
    parse_session,
    parse_turn,
)
from chorus.wire.protocol import Message

# A session and one of its turns.
Group = tuple[str, str]
# Outside changes are numbered in steps of this: any number of them fits between two actions.
OUTSIDE_STEP = 2.0**-24


class ModelChange(Flag):
    """The parts of the model that a message changed."""

    NOTHING = 0
    LINK = auto()
    SESSIONS = auto()
    PROMPTS = auto()
    QUEUE = auto()
    PROGRESS = auto()
    ALERT = auto()
    NOTES = auto()
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
        self.turns: dict[Group, TurnInfo] = {}  # in the order in which they began
        self.entries: dict[float, LogItem] = {}
        # Turn -> numbers of its actions, ascending; turns in the order of their first action.
        self.groups: dict[Group, list[float]] = {}
        # Turn -> how often something in it changed: tells whether its planned rows are still valid.
        self.versions: dict[Group, int] = {}
        # Session -> how many of its actions are still to be reviewed.
        self.open_counts: Counter[str] = Counter()
        self.notes: dict[int, NoteInfo] = {}
        self.progress: dict[str, TaskProgress] = {}
        self.alert: WatcherAlert | None = None
        self.complete = False
        self._unconfirmed: set[float] = set()
        self.here = ""  # the name of the panel's work tree
        # Timeline commit of an outside change -> its number in `entries`.
        self._outside: dict[str, float] = {}
        self._by_id: dict[str, float] = {}
        self._reverts: dict[float, None] = {}  # entries that revert or redo others

    def feed(self, message: Message) -> ModelChange:
        """Apply one message and return the changed parts. An unknown message changes nothing."""
        takers: dict[object, Callable[[Message], ModelChange]] = {
            "action": lambda m: self._take_entries([m.get("entry")]),
            "log": self._take_log,
            "prompt": lambda m: self._take_prompt(parse_prompt(m.get("prompt"))),
            "prompt-gone": self._drop_prompt,
            "turn": lambda m: self._take_turn(parse_turn(m.get("turn"))),
            "session": lambda m: self._take_session(parse_session(m.get("session"))),
            "lane": lambda m: self._take_lane(parse_lane(m.get("lane"))),
            "progress": self._take_progress,
            "alert": self._take_alert,
            "link": lambda m: self._take_link(str(m.get("state")), str(m.get("text", ""))),
            "notes": self._take_notes,
            "snapshot": self._take_snapshot,
        }
        taker = takers.get(message.get("event"))
        return taker(message) if taker is not None else ModelChange.NOTHING

    @property
    def open_count(self) -> int:
        return self.open_counts.total()

    def lane_of(self, session: str) -> str | None:
        known = self.sessions.get(session)
        if known and known.lane:
            return known.lane
        return next((lane.name for lane in self.lanes.values() if lane.session == session), None)

    def name_of(self, action: str) -> str:
        """Return the number of the action with this id, or the id of an action that is not known."""
        known = self.entries.get(self._by_id.get(action, -1))
        return action if known is None else known.number

    def reverts_of(self, entry: LogItem) -> list[tuple[LogItem, str]]:
        """Return the actions that reverted or redid `entry`, oldest first, each with a word like `redone`."""
        found = []
        for n in sorted(self._reverts):
            origins, word = self._origins(self.entries[n])
            if entry.id in origins:
                found.append((self.entries[n], word))
        return found

    def _origins(self, revert: LogItem) -> tuple[tuple[str, ...], str]:
        """Return the ids of the actions that an entry reverted or redid, and a word such as `redone`.

        A redo is a revert of a revert, so the chain is followed back to actions that are not reverts.
        """
        depth = 1
        while (names := revert.reverts or revert.reverts_part) and (
            below := self._by_id.get(names[0], revert.n)
        ) in self._reverts:
            if below >= revert.n:
                break  # invalid: a revert comes after what it reverts
            revert, depth = self.entries[below], depth + 1
        partly = not revert.reverts
        word = "reverted" if depth % 2 else "redone"
        return names, f"partly {word}" if partly else word

    def _take_entries(self, values: list[Any]) -> ModelChange:
        regroup = False
        taken = 0
        for entry in self._parse_entries(values):
            old = self.entries.get(entry.n)
            if old is not None and entry.worktree not in (old.worktree, self.here):
                continue  # older versions gave a number twice: keep the entry of the panel's own work tree
            taken += 1
            self.entries[entry.n] = entry
            self._by_id[entry.id] = entry.n
            if entry.is_revert:
                self._reverts[entry.n] = None
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

    def _parse_entries(self, values: list[Any]) -> Iterator[LogItem]:
        """Parse entries in order. An outside change is numbered between two actions.

        Its number is just above the number of the action before it.
        """
        numbers = [entry.n for entry in map(parse_log_item, values) if entry]
        after = numbers[0] - 1 if numbers else None
        for value in values:
            if entry := parse_log_item(value):
                after = entry.n
                yield self._placed(entry)
            elif identity := outside_id(value):
                if identity not in self._outside:
                    before = int(max(self.entries, default=0) if after is None else after)
                    self._outside[identity] = before + (len(self._outside) + 1) * OUTSIDE_STEP
                n = self._outside[identity]
                yield self._placed(parse_outside(value, n, self.entries.get(int(n))))

    def _placed(self, entry: LogItem) -> LogItem:
        elsewhere = bool(self.here and entry.worktree) and entry.worktree != self.here
        return replace(entry, elsewhere=True) if elsewhere else entry

    def _take_log(self, message: Message) -> ModelChange:
        """Add a page of the log. After the last page, remove old entries that were on no page."""
        change = self._take_entries(list_in(message, "entries"))
        if message.get("complete"):
            for n in self._unconfirmed:
                gone = self.entries.pop(n)
                self._reverts.pop(n, None)
                self.open_counts[gone.session] -= gone.open
                self._leave_group(gone)
            self._unconfirmed = set()
            self.complete = True
            change |= ModelChange.QUEUE | ModelChange.LOADED
        return change

    def _leave_group(self, entry: LogItem) -> None:
        numbers = self.groups[entry.group]
        numbers.remove(entry.n)
        self.versions[entry.group] += 1
        if not numbers:
            del self.groups[entry.group]

    def notes_on(self, entry: LogItem) -> list[NoteInfo]:
        return [note for note in self.notes.values() if note.action == entry.id]

    @property
    def draft_count(self) -> int:
        return sum(note.state == "draft" for note in self.notes.values())

    def _take_notes(self, message: Message) -> ModelChange:
        notes = filter(None, map(parse_note, list_in(message, "notes")))
        self.notes = {note.n: note for note in notes}
        return ModelChange.NOTES

    def _drop_prompt(self, message: Message) -> ModelChange:
        gone = self.prompts.pop(str(message.get("id")), None)
        return ModelChange.PROMPTS if gone else ModelChange.NOTHING

    def _take_alert(self, message: Message) -> ModelChange:
        self.alert = WatcherAlert(str(message.get("level")), str(message.get("text")))
        return ModelChange.ALERT

    def _take_prompt(self, prompt: PendingPrompt | None) -> ModelChange:
        if prompt is None or self.prompts.get(prompt.id) == prompt:
            return ModelChange.NOTHING
        self.prompts[prompt.id] = prompt
        return ModelChange.PROMPTS

    def _take_turn(self, turn: TurnInfo | None) -> ModelChange:
        if turn is None:
            return ModelChange.NOTHING
        group = (turn.session, turn.turn)
        self.turns[group] = turn
        if group in self.groups:
            self.versions[group] += 1
        return ModelChange.SESSIONS | (ModelChange.QUEUE if group in self.groups else ModelChange.NOTHING)

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
        """Replace sessions, lanes, prompts, turns and notes. Entries stay until the whole log is read."""
        sessions = filter(None, map(parse_session, list_in(message, "sessions")))
        lanes = filter(None, map(parse_lane, list_in(message, "lanes")))
        prompts = filter(None, map(parse_prompt, list_in(message, "prompts")))
        turns = filter(None, map(parse_turn, list_in(message, "turns")))
        self.sessions = {session.id: session for session in sessions}
        self.lanes = {lane.name: lane for lane in lanes}
        self.prompts = {prompt.id: prompt for prompt in prompts}
        self.turns = {(turn.session, turn.turn): turn for turn in turns}
        self._take_notes(message)
        self.here = str(message.get("here", ""))
        self._unconfirmed = set(self.entries)
        self.complete = False
        return ModelChange.SESSIONS | ModelChange.PROMPTS | ModelChange.QUEUE | ModelChange.NOTES


def list_in(message: Message, name: str) -> list[object]:
    value = message.get(name)
    return value if isinstance(value, list) else []
