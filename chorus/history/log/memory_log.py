"""The log of one work tree, kept in memory and updated at each request.

If the history was rewritten (`chorus gc` may drop its oldest part), everything is read again.
"""

from collections.abc import Callable, Iterable, Sequence, Set
from functools import partial
from typing import NamedTuple

from chorus.history.journal import Journal
from chorus.history.log.entry import LogEntry, entry_json, entry_of_call, entry_of_record, find_reverted
from chorus.history.log.filter import LogFilter, filter_entries
from chorus.history.log.json_views import (
    LaneCounts,
    LaneRow,
    changes_below,
    count_by_lane,
    lanes_json,
    show_json,
)
from chorus.history.log.lookup import find_entry
from chorus.history.marks.landings import BranchStamp, find_landed, read_branch_stamp
from chorus.history.marks.mark_log import ActionMarks, Mark
from chorus.history.records import Edit, RecordKind
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.model.api.json_api import ActionJson, LaneJson, LogEntryJson
from chorus.model.ids import Oid
from chorus.model.lru import LruDict

MAX_TAKEN = 4096


class LogUpdate(NamedTuple):
    """What was added to the timeline and the mark log since the last `read`."""

    records: list[TimelineCommit]
    marks: list[Mark]
    touched: dict[str, None]  # ids of the calls and actions whose entries may be different now


class LogFollower:
    """Reads additions to the timeline and the mark log, and keeps the result of all marks."""

    def __init__(self, journal: Journal) -> None:
        self._timeline = journal.timeline
        self._mark_log = journal.marks
        self._repository = journal.workspace.repository
        self.restart()

    def restart(self) -> None:
        """Make the next `read` start from the beginning."""
        self._record_count = self._mark_count = 0
        self._last: Oid | None = None
        self._marks = ActionMarks()
        self.reverted: Set[str] = frozenset()  # the actions that are reverted now
        self._branches: BranchStamp = ()

    def is_current(self) -> bool:
        """Whether the history still begins with the records that were read before."""
        records = self._timeline.records
        if len(records) < self._record_count or len(self._mark_log.lines) < self._mark_count:
            return False
        return self._last is None or records[self._record_count - 1].oid == self._last

    def read(self) -> LogUpdate:
        all_records, all_marks = self._timeline.records, self._mark_log.lines
        records, marks = all_records[self._record_count :], all_marks[self._mark_count :]
        self._record_count, self._mark_count = len(all_records), len(all_marks)
        self._last = all_records[-1].oid if all_records else None
        self._marks.add(marks)
        touched = dict.fromkeys(
            name for mark in marks for name in mark.get("ids", [mark["id"]] if "id" in mark else [])
        )
        if any(recorded.record.reverts for recorded in records):
            reverted = find_reverted(all_records)
            touched |= dict.fromkeys(sorted(reverted ^ self.reverted))
            self.reverted = reverted
        touched |= dict.fromkeys(sorted(self._find_moved_off(marks)))
        return LogUpdate(records, marks, touched)

    def _find_moved_off(self, marks: Sequence[Mark]) -> Set[str]:
        """Return the landed actions that left all branches since the last check, or came back to one."""
        if not self._marks.landings:
            return frozenset()
        stamp = read_branch_stamp(str(self._repository.common_dir), str(self._repository.git_dir))
        if stamp == self._branches and not any(mark.get("kind") == "landed" for mark in marks):
            return frozenset()
        self._branches = stamp
        before = self._marks.off_branches
        landed = find_landed(self._repository.git, self._marks.landings)
        self._marks.off_branches = self._marks.landings.keys() - landed
        return before ^ self._marks.off_branches

    def entry(self, source: TimelineCommit | Mark) -> LogEntry:
        if isinstance(source, TimelineCommit):
            return entry_of_record(source, self._marks, self.reverted)
        return entry_of_call(source, self._marks, self.reverted, self._timeline.find_action)


class MemoryLog:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._follower = LogFollower(journal)
        self._lane_counts: LaneCounts | None = None  # of the current entries; None until they are counted
        self._restart()

    def entries(self) -> list[LogEntry]:
        """Every entry, oldest first: calls by number, outside changes at their place on the timeline."""
        self._journal.refresh()
        return self.known_entries()

    @property
    def reverted(self) -> Set[str]:
        """The actions that were reverted when the entries were last read."""
        return self._follower.reverted

    def summary_of(self, recorded: TimelineCommit) -> str:
        """Return the summary of a record as the log shows it."""
        return self._follower.entry(recorded).summary

    def known_entries(self) -> list[LogEntry]:
        """The entries of all records and marks that this process has already read."""
        if not self._follower.is_current():
            self._restart()
        records, marks, touched = self._follower.read()
        calls = [mark for mark in marks if mark.get("kind") == "call"]
        if any(call["n"] < self._last_number for call in calls):
            # The mark of a call was read after a record with a higher number.
            self._restart()
            return self.known_entries()
        if records or marks or touched:
            self._lane_counts = None
            self._update(touched)
            self._add(records, calls)
        return list(self._entries)

    def select(self, wanted: LogFilter) -> list[LogEntryJson]:
        """The entries that match, oldest first."""
        workspace = self._journal.workspace
        changes_path = partial(changes_below, workspace.repository.git)
        found = filter_entries(reversed(self.entries()), wanted, workspace.locate, changes_path)
        return [entry_json(entry, workspace.label) for entry in found]

    def lanes(self) -> list[LaneJson]:
        """Every lane whose branch exists, oldest first."""
        entries = self.entries()
        if self._lane_counts is None:
            self._lane_counts = count_by_lane(entries)
        rows = [LaneRow(lane.name, lane.base, lane.session) for lane in self._journal.lanes.all()]
        workspace = self._journal.workspace
        return lanes_json(self._lane_counts, rows, workspace.refs.read, workspace.label)

    def show(self, name: str, *, user_diff: bool = False) -> ActionJson:
        """Show an action by its number, id or lane commit, or an outside change by its timeline commit."""
        return self.prepare_show(self.find(name), user_diff=user_diff)()

    def find(self, name: str) -> LogEntry:
        """Find an entry by a name that `show` takes."""
        entries = self.entries()
        outside = next((e for e in entries if e.status == "outside" and e.timeline == name), None)
        return outside or find_entry(entries, name)

    def prepare_show(self, entry: LogEntry, *, user_diff: bool) -> Callable[[], ActionJson]:
        """Return a function that shows an entry. Any thread may call it, because git's diff takes long."""
        workspace = self._journal.workspace
        repository = workspace.repository
        own_dir, edits = str(repository.own_dir), self.edits(entry)
        return partial(show_json, repository.git, own_dir, entry, edits, workspace.label, user_diff=user_diff)

    def edits(self, entry: LogEntry) -> tuple[Edit, ...]:
        """The edits of an entry; none for a call that changed nothing."""
        timeline = self._journal.timeline
        recorded = timeline.find_commit(entry.timeline) if entry.timeline else None
        return timeline.edits(recorded) if recorded else ()

    def _restart(self) -> None:
        self._follower.restart()
        self._last_number = 0
        self._entries: list[LogEntry] = []
        self._lane_counts = None
        self._indexes: dict[str, list[int]] = {}  # by call or action
        # The order of the entries is final up to the last record with a number. `_sources` ends there. The
        # loose records and calls after it may still be reordered.
        self._sources: list[TimelineCommit | Mark] = []
        self._loose_records: list[TimelineCommit] = []
        self._loose_calls: list[Mark] = []

    def _update(self, names: Iterable[str]) -> None:
        for name in names:
            for index in self._indexes.get(name, ()):
                self._entries[index] = self._follower.entry(self._sources[index])

    def _add(self, records: Sequence[TimelineCommit], calls: Sequence[Mark]) -> None:
        del self._entries[len(self._sources) :]
        calls = sorted([*self._loose_calls, *calls], key=lambda call: call["n"])
        unnumbered: list[TimelineCommit] = []
        at = 0
        for recorded in (*self._loose_records, *records):
            if recorded.record.kind is RecordKind.START:
                continue
            number = recorded.record.number
            if number is None:
                unnumbered.append(recorded)
                continue
            first = at
            while at < len(calls) and calls[at]["n"] < number:
                at += 1
            self._append([*unnumbered, *calls[first:at], recorded])
            self._last_number = max(self._last_number, number)
            unnumbered = []
        self._loose_records, self._loose_calls = unnumbered, calls[at:]
        self._entries += [self._follower.entry(recorded) for recorded in self._loose_records]
        self._entries += [self._follower.entry(call) for call in self._loose_calls]

    def _append(self, sources: Sequence[TimelineCommit | Mark]) -> None:
        for source in sources:
            entry = self._follower.entry(source)
            for name in (entry.id, entry.within):
                if name is not None:
                    self._indexes.setdefault(name, []).append(len(self._entries))
            self._entries.append(entry)
            self._sources.append(source)


class LogChanges:
    """Finds the entries that are new or have changed since the last `take`."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        # The entries last returned, up to a limit. An entry beyond it may be returned again unchanged, which
        # does no harm.
        self._taken: LruDict[tuple[int | None, Oid | None], LogEntry] = LruDict(MAX_TAKEN)
        self._follower = LogFollower(journal)
        self._lane_counts: LaneCounts | None = None  # of the current entries; None until they are counted
        self._restart()

    def take(self) -> list[LogEntry]:
        self._journal.refresh()
        if not self._follower.is_current():
            self._restart()
        return [entry for entry in self._entries(self._follower.read()) if self._is_new(entry)]

    def _restart(self) -> None:
        self._follower.restart()
        self._calls: dict[str, Mark] = {}
        self._contained: dict[str, list[str]] = {}  # calls by the action whose record holds their change

    def _entries(self, update: LogUpdate) -> list[LogEntry]:
        for mark in update.marks:
            if mark.get("kind") == "call":
                self._calls[mark["id"]] = mark
                if within := mark.get("within"):
                    self._contained.setdefault(within, []).append(mark["id"])
        contained = (call for name in update.touched for call in self._contained.get(name, ()))
        touched = update.touched | dict.fromkeys(contained)
        find_action = self._journal.timeline.find_action
        earlier = [found for name in touched if (found := find_action(name)) is not None]
        listed = {recorded.oid: recorded for recorded in [*earlier, *update.records]}
        changes = [recorded for recorded in listed.values() if recorded.record.kind is not RecordKind.START]
        calls = [self._calls[name] for name in touched if name in self._calls]
        entries = [self._follower.entry(recorded) for recorded in changes]
        entries += [self._follower.entry(call) for call in calls]
        # The sort is stable, so an outside change, which has no number, comes first among what is new.
        return sorted(entries, key=lambda entry: entry.n or 0) if calls else entries

    def _is_new(self, entry: LogEntry) -> bool:
        key = (entry.n, entry.timeline)
        known, self._taken[key] = self._taken.get(key), entry
        return known != entry
