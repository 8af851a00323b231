"""The history of a file: the records of its path, newest first, for `chorus blame`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from chorus.history.log.disk_log import DiskLog
from chorus.history.log.entry import LogEntry
from chorus.history.records import NOTHING, Edit
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.history.workspace import Workspace
from chorus.model.commits.commit_message import EDIT, render_trailer
from chorus.model.ids import RepoPath
from chorus.store.objects.trees import TreeEntry

if TYPE_CHECKING:
    from chorus.history.recorder import Recorder


class FileHistory(Protocol):
    @property
    def workspace(self) -> Workspace: ...

    def touching(self, path: RepoPath) -> Iterable[TimelineCommit]:
        """The records that changed a path, newest first."""

    def position(self, recorded: TimelineCommit) -> int:
        """The position of a record; older ones have lower numbers."""

    def edits(self, recorded: TimelineCommit) -> tuple[Edit, ...]: ...

    def newest(self, path: RepoPath) -> TreeEntry | None:
        """The file last seen at a path."""

    def entry_of(self, action: str) -> LogEntry | None: ...


class MemoryFileHistory:
    def __init__(self, recorder: Recorder) -> None:
        self.workspace = recorder.workspace
        recorder.journal.refresh()
        self._recorder = recorder
        self.touching = recorder.timeline.touching
        self.position = recorder.timeline.position
        self.edits = recorder.timeline.edits
        self.newest = recorder.timeline.entry

    def entry_of(self, action: str) -> LogEntry | None:
        return self._entries.get(action)

    @cached_property
    def _entries(self) -> dict[str | None, LogEntry]:
        return {entry.id: entry for entry in self._recorder.entries()}


class DiskFileHistory:
    """Reads file histories from disk. Raises TimelineUnreadable if the answer needs the whole history."""

    def __init__(self, workspace: Workspace, log: DiskLog) -> None:
        self.workspace = workspace
        self._scanner = log.scanner
        self._touching: dict[RepoPath, list[TimelineCommit]] = {}
        self.entry_of = log.find_action_entry

    def touching(self, path: RepoPath) -> Iterable[TimelineCommit]:
        if path not in self._touching:
            # The path ends a line, plain or as a JSON string. A record that lists no files is checked too.
            ends = (f" {path}\n", f"{json.dumps(path)[1:]}\n", f"\n{render_trailer(EDIT, NOTHING)}\n")
            found = self._scanner.containing([end.encode("utf-8", "surrogateescape") for end in ends])
            own = [r for r in found if any(edit.path == path for edit in self.edits(r))]
            self._touching[path] = own
        return self._touching[path]

    def position(self, recorded: TimelineCommit) -> int:
        return -self._scanner.position(recorded)

    def edits(self, recorded: TimelineCommit) -> tuple[Edit, ...]:
        if recorded.record.listed:
            return recorded.record.edits
        before = self._scanner.record(self._scanner.position(recorded) + 1)
        changes = self.workspace.trees.diff(before.tree if before else None, recorded.tree)
        return tuple(Edit(change.path, change.before, change.after) for change in changes)

    def newest(self, path: RepoPath) -> TreeEntry | None:
        tip = self._scanner.record(0)
        found = self.workspace.trees.lookup(tip.tree, path) if tip else None
        return None if found is None or found.is_tree else found
