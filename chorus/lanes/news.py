"""What is new in the log since it was last asked for.

Receives the recorder each time. Gives the entries that came or changed, at a cost that follows their
number, not the length of the log. Never reads what it has read, unless the history was made anew.
"""

from typing import Any

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
from chorus.lanes.recorder import Recorder
from chorus.lanes.records import Kind


class News:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._told: dict[tuple[int | None, Oid | None], LogEntry] = {}
        self._records = self._lines = 0  # how many of each are read
        self._last: Oid | None = None
        self._begin()

    def take(self) -> list[LogEntry]:
        """The entries that are new or different since the last call."""
        self._recorder.journal.refresh()
        timeline, lines = self._recorder.timeline, self._recorder.journal.notes.lines
        if not self._goes_on(timeline.records, lines):
            self._begin()
        records, added = timeline.records[self._records :], lines[self._lines :]
        self._records, self._lines = len(timeline.records), len(lines)
        self._last = timeline.records[-1].oid if timeline.records else None
        touched = self._touch(records, added)
        return [entry for entry in self._entries(records, touched) if self._tell(entry)]

    def _begin(self) -> None:
        self._records, self._lines, self._last = 0, 0, None
        self._marks = Marks()
        self._calls: dict[str, dict[str, Any]] = {}
        self._held: dict[str, list[str]] = {}  # calls by the action whose record holds their change
        self._reverted: set[str] = set()

    def _goes_on(self, records: list[Recorded], lines: list[dict[str, Any]]) -> bool:
        """Whether what was read before still stands at the beginning."""
        if len(records) < self._records or len(lines) < self._lines:
            return False
        return self._last is None or records[self._records - 1].oid == self._last

    def _touch(self, records: list[Recorded], lines: list[dict[str, Any]]) -> dict[str, None]:
        """The calls and actions that something new is said of."""
        fold_marks(self._marks, lines)
        touched: dict[str, None] = {}
        for line in lines:
            touched |= dict.fromkeys(line.get("ids", [line["id"]] if "id" in line else []))
            if line.get("kind") == "call":
                self._calls[line["id"]] = line
                if line.get("within"):
                    self._held.setdefault(line["within"], []).append(line["id"])
        if any(recorded.record.reverts for recorded in records):
            reverted = find_reverted(self._recorder.timeline.records)
            touched |= dict.fromkeys(sorted(reverted ^ self._reverted))
            self._reverted = reverted
        return touched | dict.fromkeys(call for name in touched for call in self._held.get(name, ()))

    def _entries(self, records: list[Recorded], touched: dict[str, None]) -> list[LogEntry]:
        timeline = self._recorder.timeline
        earlier = [found for name in touched if (found := timeline.find_action(name)) is not None]
        listed = {recorded.oid: recorded for recorded in [*earlier, *records]}
        entries = [
            entry_of_record(recorded, self._marks, self._reverted)
            for recorded in listed.values()
            if recorded.record.kind is not Kind.START
        ]
        calls = [self._calls[name] for name in touched if name in self._calls]
        entries += [entry_of_call(call, self._marks, self._reverted, timeline.find_action) for call in calls]
        # An outside change has no number: it stays where it stands.
        return sorted(entries, key=lambda entry: entry.n or 0) if calls else entries

    def _tell(self, entry: LogEntry) -> bool:
        key = (entry.n, entry.timeline)
        known, self._told[key] = self._told.get(key), entry
        return known != entry
