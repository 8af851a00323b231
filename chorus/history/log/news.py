"""What is new in the log since it was last asked for.

Receives the recorder each time. Gives the entries that came or changed, at a cost that follows their
number, not the length of the log. Never reads what it has read, unless the history was made anew.
"""

from typing import Any

from chorus.history.log.entry import LogEntry
from chorus.history.log.following import LogFollower, LogUpdate
from chorus.history.recorder import Recorder
from chorus.history.records import RecordKind
from chorus.model.ids import Oid


class LogChanges:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._told: dict[tuple[int | None, Oid | None], LogEntry] = {}
        self._read = LogFollower(recorder.timeline, recorder.journal.notes)
        self._begin()

    def take(self) -> list[LogEntry]:
        """The entries that are new or different since the last call."""
        self._recorder.journal.refresh()
        if not self._read.goes_on():
            self._begin()
        return [entry for entry in self._entries(self._read.read()) if self._tell(entry)]

    def _begin(self) -> None:
        self._read.begin()
        self._calls: dict[str, dict[str, Any]] = {}
        self._held: dict[str, list[str]] = {}  # calls by the action whose record holds their change

    def _entries(self, fresh: LogUpdate) -> list[LogEntry]:
        for line in fresh.lines:
            if line.get("kind") == "call":
                self._calls[line["id"]] = line
                if line.get("within"):
                    self._held.setdefault(line["within"], []).append(line["id"])
        held = (call for name in fresh.touched for call in self._held.get(name, ()))
        touched = fresh.touched | dict.fromkeys(held)
        find_action = self._recorder.timeline.find_action
        earlier = [found for name in touched if (found := find_action(name)) is not None]
        listed = {recorded.oid: recorded for recorded in [*earlier, *fresh.records]}
        changes = [recorded for recorded in listed.values() if recorded.record.kind is not RecordKind.START]
        calls = [self._calls[name] for name in touched if name in self._calls]
        entries = [self._read.entry(recorded) for recorded in changes]
        entries += [self._read.entry(call) for call in calls]
        # An outside change has no number: it stays where it stands.
        return sorted(entries, key=lambda entry: entry.n or 0) if calls else entries

    def _tell(self, entry: LogEntry) -> bool:
        key = (entry.n, entry.timeline)
        known, self._told[key] = self._told.get(key), entry
        return known != entry
