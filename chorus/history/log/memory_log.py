"""The log of one work tree, kept up to date in memory.

Receives the timeline and the notes, which only grow. Gives every entry, oldest first, at a cost that follows
what came since it was last asked, not the length of the log. Where what was read no longer stands at the
beginning, it begins anew. Never changes either.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from chorus.history.log.entry import LogEntry
from chorus.history.log.following import LogFollower
from chorus.history.mark_log import MarkLog
from chorus.history.records import RecordKind
from chorus.history.timeline import Timeline
from chorus.history.timeline_log import TimelineCommit

Call: TypeAlias = dict[str, Any]


class MemoryLog:
    def __init__(self, timeline: Timeline, notes: MarkLog) -> None:
        self._read = LogFollower(timeline, notes)
        self._begin()

    def entries(self) -> list[LogEntry]:
        """Calls come by number; outside changes stand where the timeline has them."""
        if not self._read.goes_on():
            self._begin()
        records, lines, touched = self._read.read()
        calls = [line for line in lines if line.get("kind") == "call"]
        if any(call["n"] < self._last_number for call in calls):
            # Its note was read after the record that follows it.
            self._begin()
            return self.entries()
        if records or lines:
            self._say_again(touched)
            self._add(records, calls)
        return list(self._entries)

    def _begin(self) -> None:
        self._read.begin()
        self._last_number = 0
        self._entries: list[LogEntry] = []
        self._places: dict[str, list[int]] = {}
        # Up to the last record with a number, entries stay where they are; what follows may change places.
        self._sources: list[TimelineCommit | Call] = []
        self._open_records: list[TimelineCommit] = []
        self._open_calls: list[Call] = []

    def _say_again(self, names: Iterable[str]) -> None:
        for name in names:
            for place in self._places.get(name, ()):
                self._entries[place] = self._read.entry(self._sources[place])

    def _add(self, records: Sequence[TimelineCommit], calls: Sequence[Call]) -> None:
        del self._entries[len(self._sources) :]
        waiting = sorted([*self._open_calls, *calls], key=lambda call: int(call["n"]))
        unsettled: list[TimelineCommit] = []
        at = 0
        for recorded in (*self._open_records, *records):
            if recorded.record.kind is RecordKind.START:
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
        self._entries += [self._read.entry(recorded) for recorded in self._open_records]
        self._entries += [self._read.entry(call) for call in self._open_calls]

    def _settle(self, sources: Sequence[TimelineCommit | Call]) -> None:
        for source in sources:
            entry = self._read.entry(source)
            for name in (entry.id, entry.within):
                if name is not None:
                    self._places.setdefault(name, []).append(len(self._entries))
            self._entries.append(entry)
            self._sources.append(source)
