"""What came to a timeline and its notes since they were last read.

Both only grow, unless the history was made anew. Gives the new records and lines with the names they speak
of, and keeps what all lines so far say (marks, what is taken back). Never changes either.
"""

from typing import Any, NamedTuple

from chorus.history.log.entry import (
    ActionMarks,
    LogEntry,
    entry_of_call,
    entry_of_record,
    find_reverted,
    fold_marks,
)
from chorus.history.mark_log import MarkLog
from chorus.history.timeline import Timeline
from chorus.history.timeline_log import TimelineCommit
from chorus.model.ids import Oid


class LogUpdate(NamedTuple):
    records: list[TimelineCommit]
    lines: list[dict[str, Any]]
    touched: dict[str, None]  # the calls and actions that something new is said of


class LogFollower:
    def __init__(self, timeline: Timeline, notes: MarkLog) -> None:
        self._timeline = timeline
        self._notes = notes
        self.begin()

    def begin(self) -> None:
        """Forget everything: the next reading is one of the whole."""
        self._records = self._lines = 0  # how many of each are read
        self._last: Oid | None = None
        self._marks = ActionMarks()
        self._reverted: set[str] = set()

    def goes_on(self) -> bool:
        """Whether what was read before still stands at the beginning."""
        records = self._timeline.records
        if len(records) < self._records or len(self._notes.lines) < self._lines:
            return False
        return self._last is None or records[self._records - 1].oid == self._last

    def read(self) -> LogUpdate:
        all_records, all_lines = self._timeline.records, self._notes.lines
        records, lines = all_records[self._records :], all_lines[self._lines :]
        self._records, self._lines = len(all_records), len(all_lines)
        self._last = all_records[-1].oid if all_records else None
        fold_marks(self._marks, lines)
        names = (name for line in lines for name in line.get("ids", [line["id"]] if "id" in line else []))
        touched = dict.fromkeys(names)
        if any(recorded.record.reverts for recorded in records):
            reverted = find_reverted(all_records)
            touched |= dict.fromkeys(sorted(reverted ^ self._reverted))
            self._reverted = reverted
        return LogUpdate(records, lines, touched)

    def entry(self, source: TimelineCommit | dict[str, Any]) -> LogEntry:
        """The line of the log that a record or a noted call is, by all that was read."""
        if isinstance(source, TimelineCommit):
            return entry_of_record(source, self._marks, self._reverted)
        return entry_of_call(source, self._marks, self._reverted, self._timeline.find_action)
