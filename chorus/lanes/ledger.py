"""The log of one work tree, kept up to date in memory.

Receives the timeline and the notes, which only grow. Gives every entry, oldest first, at a cost that follows
what came since it was last asked, not the length of the log. Where what was read no longer stands at the
beginning, it begins anew. Never changes either.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from chorus.core.ids import Oid
from chorus.lanes.chain import Recorded
from chorus.lanes.entries import (
    LogEntry,
    Marks,
    entry_of_call,
    entry_of_record,
    find_reverted,
    fold_marks,
)
from chorus.lanes.notes import Notes
from chorus.lanes.records import Kind
from chorus.lanes.timeline import Timeline

Call: TypeAlias = dict[str, Any]


class Ledger:
    def __init__(self, timeline: Timeline, notes: Notes) -> None:
        self._timeline = timeline
        self._notes = notes
        self._records = self._lines = 0  # how many of each are read
        self._last: Oid | None = None
        self._last_number = 0
        self._begin()

    def entries(self) -> list[LogEntry]:
        """Calls come by number; outside changes stand where the timeline has them."""
        if not self._goes_on():
            self._begin()
        records, lines = self._timeline.records[self._records :], self._notes.lines[self._lines :]
        if records or lines:
            calls = [line for line in lines if line.get("kind") == "call"]
            if any(call["n"] < self._last_number for call in calls):
                # Its note was read after the record that follows it.
                self._begin()
                return self.entries()
            self._records, self._lines = len(self._timeline.records), len(self._notes.lines)
            self._last = self._timeline.tip
            self._say_again(self._touch(records, lines))
            self._add(records, calls)
        return list(self._entries)

    def _begin(self) -> None:
        self._records = self._lines = self._last_number = 0
        self._last = None
        self._marks = Marks()
        self._reverted: set[str] = set()
        self._entries: list[LogEntry] = []
        self._places: dict[str, list[int]] = {}
        # Up to the last record with a number, entries stay where they are; what follows may change places.
        self._sources: list[Recorded | Call] = []
        self._open_records: list[Recorded] = []
        self._open_calls: list[Call] = []

    def _goes_on(self) -> bool:
        """Whether what was read before still stands at the beginning."""
        records = self._timeline.records
        if len(records) < self._records or len(self._notes.lines) < self._lines:
            return False
        return self._last is None or records[self._records - 1].oid == self._last

    def _touch(self, records: Sequence[Recorded], lines: Sequence[Mapping[str, Any]]) -> set[str]:
        """The calls and actions that something new is said of."""
        fold_marks(self._marks, lines)
        touched = {name for line in lines for name in line.get("ids", [line["id"]] if "id" in line else [])}
        if any(recorded.record.reverts for recorded in records):
            reverted = find_reverted(self._timeline.records)
            touched |= reverted ^ self._reverted
            self._reverted = reverted
        return touched

    def _say_again(self, names: Iterable[str]) -> None:
        for name in names:
            for place in self._places.get(name, ()):
                self._entries[place] = self._entry(self._sources[place])

    def _add(self, records: Sequence[Recorded], calls: Sequence[Call]) -> None:
        del self._entries[len(self._sources) :]
        waiting = sorted([*self._open_calls, *calls], key=lambda call: int(call["n"]))
        unsettled: list[Recorded] = []
        at = 0
        for recorded in (*self._open_records, *records):
            if recorded.record.kind is Kind.START:
                continue
            number = recorded.record.number
            if number is None:
                unsettled.append(recorded)
                continue
            first = at
            while at < len(waiting) and waiting[at]["n"] < number:
                at += 1
            self._settle([*unsettled, *waiting[first:at], recorded])
            self._last_number = max(self._last_number, number)
            unsettled = []
        self._open_records, self._open_calls = unsettled, waiting[at:]
        self._entries += [self._entry(recorded) for recorded in self._open_records]
        self._entries += [self._entry(call) for call in self._open_calls]

    def _settle(self, sources: Sequence[Recorded | Call]) -> None:
        for source in sources:
            entry = self._entry(source)
            for name in (entry.id, entry.within):
                if name is not None:
                    self._places.setdefault(name, []).append(len(self._entries))
            self._entries.append(entry)
            self._sources.append(source)

    def _entry(self, source: Recorded | Call) -> LogEntry:
        if isinstance(source, Recorded):
            return entry_of_record(source, self._marks, self._reverted)
        return entry_of_call(source, self._marks, self._reverted, self._timeline.find_action)
