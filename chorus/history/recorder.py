"""The recorder: what happens in a work tree goes on its timeline, and what an agent did on its lane.

Receives calls and actions as the client tells them, and hints where to look. Reads the disk, appends to
the timeline, moves lane branches. An action that is known is never recorded again, whoever tells of it,
also after a restart. Never changes a file of the user's, HEAD, the index, or a branch that is not a lane.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from chorus.changes.summary import spoken
from chorus.history.ascribing import Attributor
from chorus.history.journal import Journal
from chorus.history.log.entry import LogEntry
from chorus.history.log.memory_log import MemoryLog
from chorus.history.observation import DiskChanges, Observer
from chorus.history.records import Edit
from chorus.history.timeline_log import TimelineCommit
from chorus.history.workspace import Workspace
from chorus.model.action import Action, Status
from chorus.model.ids import Oid, SessionId, ToolUseId
from chorus.store.worktree.work_tree import CAP_BYTES


class Recorder:
    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.journal = Journal(workspace)
        self.timeline = self.journal.timeline
        self.lanes = self.journal.lanes
        self._ledger = MemoryLog(self.timeline, self.journal.notes)
        self._observing = Observer(self.journal)
        self._ascribing = Attributor(self.journal, self._observing)

    @classmethod
    def open(cls, path: Path, cap_bytes: int = CAP_BYTES) -> Self:
        """The recorder of the work tree that holds `path`. Nothing is written until something is recorded."""
        return cls(Workspace.open(path, cap_bytes))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.journal.close()
        self.workspace.close()

    def entries(self) -> list[LogEntry]:
        """Every call and outside change, oldest first."""
        self.journal.refresh()
        return self._ledger.entries()

    def edits(self, entry: LogEntry) -> tuple[Edit, ...]:
        """The paths of an entry, with the file before and after."""
        recorded = self.timeline.find_commit(entry.timeline) if entry.timeline else None
        return self.timeline.edits(recorded) if recorded else ()

    def current_commit(self, recorded: TimelineCommit) -> Oid:
        """The lane commit of an action: made anew where the lane had moved meanwhile."""
        record = recorded.record
        assert record.lane_commit is not None
        return self.journal.moved.get(record.action or "", record.lane_commit.commit)

    def start(self) -> None:
        """Take the work tree as it is for the beginning, unless there is a timeline already."""
        with self.journal.writing():
            pass

    def record_before_call(
        self,
        hints: Iterable[str] | None,
        exclude: Collection[str] = (),
        *,
        waits: Callable[[], bool] = lambda: True,
    ) -> bool:
        """Before a call: what is there now is not its doing. Whether that could be said.

        `waits`: whether the client stands still. Asked after the look: a client that goes on meanwhile may
        have written what was seen, and then nothing is recorded.
        """
        if not waits():
            return False
        with self.journal.writing():
            seen = self._observe(hints, exclude)
            if not waits():
                return False
            if seen.edits:
                self.journal.append_outside(seen.edits, None)
            return True

    def record_outside(
        self, hints: Iterable[str] | None = None, exclude: Collection[str] = (), reason: str | None = None
    ) -> list[TimelineCommit]:
        """Record what moved as outside, but for the paths to spare. Without hints, look everywhere."""
        with self.journal.writing():
            seen = self._observe(hints, exclude)
            rest = [self.journal.append_outside(seen.edits, reason)] if seen.edits else []
            return [*seen.recorded, *rest]

    def record_named_paths(
        self,
        actions: Sequence[Action],
        source: str | None = None,
        open_paths: Collection[str] = (),
        *,
        wait_for_open_calls: bool = False,
    ) -> bool:
        """Record actions that write only the paths they name, oldest first.

        `busy`: paths that calls which are not over name too. `patient`: where another's change lies before
        these at such a path, record nothing and answer False: that call may be about to end.
        """
        with self.journal.writing():
            once = {action.id: action for action in reversed(actions)}
            new = [action for action in reversed(once.values()) if not self.journal.knows(action.id)]
            paths = set(self._observing.locate(open_paths))
            return self._ascribing.record_named_paths(
                new, source, paths, wait_for_open_calls=wait_for_open_calls
            )

    def record_window(
        self,
        action: Action,
        hints: Iterable[str] | None = None,
        exclude: Collection[str] = (),
        source: str | None = None,
        *,
        shared: bool = False,
    ) -> None:
        """Record what moved while this action ran as its change, but for the paths to spare.

        `shared`: others ran too, so what the client itself lists as changed counts first.
        """
        with self.journal.writing():
            if self.journal.knows(action.id):
                return
            self._ascribing.record_window(action, self._observe(hints, exclude), source, shared=shared)

    def record_unchanged(self, action: Action, source: str | None = None) -> None:
        """Remember a call that changed nothing: how it ended is what its status says."""
        with self.journal.writing():
            if not self.journal.knows(action.id):
                self._ascribing.note(action, source)

    def link_sessions(self, session: SessionId, parent: SessionId) -> None:
        """`session` goes on where `parent` left off: it writes to the same lane."""
        with self.journal.writing():
            if self.journal.root(session) != self.journal.root(parent):
                self.journal.append_mark({"kind": "link", "session": session, "parent": parent})

    def correct_status(self, action: ToolUseId, status: Status) -> None:
        """A call ended otherwise than was told when it was recorded."""
        with self.journal.writing():
            self.journal.append_mark({"kind": "status", "id": action, "status": status})

    def set_summary(self, action: ToolUseId, lead_text: str) -> None:
        """What the assistant said before an action that is recorded already."""
        words = spoken(lead_text)
        with self.journal.writing():
            if words is not None and self.journal.knows(action):
                self.journal.append_mark({"kind": "said", "id": action, "summary": words})

    def mark(self, kind: str, ids: Iterable[str], values: Mapping[str, Any] | None = None) -> None:
        """Remember something about actions: `kept`, `open`, `landed` (with `commits`), …"""
        with self.journal.writing():
            self.journal.append_mark({"kind": kind, "ids": list(ids), **(values or {})})

    def _observe(self, hints: Iterable[str] | None, exclude: Collection[str]) -> DiskChanges:
        locate = self._observing.locate
        return self._observing.observe(None if hints is None else locate(hints), set(locate(exclude)))
