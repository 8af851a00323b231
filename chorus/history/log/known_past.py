"""A file's past, of a history that is in memory: the same as `lanes.past` finds on disk."""

from functools import cached_property

from chorus.history.log.entries import LogEntry
from chorus.history.recorder import Recorder


class KnownPast:
    def __init__(self, recorder: Recorder) -> None:
        self.site = recorder.site
        recorder.journal.refresh()
        self._recorder = recorder
        self.touching = recorder.timeline.touching
        self.place = recorder.timeline.place
        self.edits = recorder.timeline.edits
        self.newest = recorder.timeline.entry

    def entry_of(self, action: str) -> LogEntry | None:
        return self._entries.get(action)

    @cached_property
    def _entries(self) -> dict[str | None, LogEntry]:
        return {entry.id: entry for entry in self._recorder.entries()}
