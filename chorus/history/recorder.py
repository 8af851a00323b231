"""The recorder: records the changes of a work tree on its timeline, and an agent's changes on its lane.

An action is recorded once, even if it is reported again, for example after a restart. The recorder never
changes the user's files, HEAD, the index, or a branch that is not a lane.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Self

from chorus.changes.summary import first_words
from chorus.history.disk_changes.attribution import (
    WRITTEN_OVER,
    Attribution,
    Attributor,
    EndedCall,
    paths_of_calls,
    undoes,
)
from chorus.history.disk_changes.observation import DiskChanges, Observer, render_omitted
from chorus.history.journal import Journal
from chorus.history.log.entry import LogEntry
from chorus.history.log.memory_log import MemoryLog
from chorus.history.marks.mark_log import Mark
from chorus.history.records import Edit
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.history.workspace import Workspace
from chorus.model.action import Action, Status
from chorus.model.ids import Oid, RepoPath, ToolUseId
from chorus.store.objects.tree_object import TreeEntry
from chorus.store.worktree.file_state import SkipReason
from chorus.store.worktree.work_tree import CAP_BYTES

OTHERS_RAN = "other calls ran at the same time"


class Recorder:
    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.journal = Journal(workspace)
        self.timeline = self.journal.timeline
        self.lanes = self.journal.lanes
        self.log = MemoryLog(self.journal)
        self._observer = Observer(self.journal)
        self._attributor = Attributor(workspace, self.timeline)
        self._reported_omissions: set[str] = set()

    @classmethod
    def open(cls, path: Path, cap_bytes: int = CAP_BYTES) -> Self:
        """Open the recorder of the work tree that holds `path`, without writing anything yet."""
        return cls(Workspace.open(path, cap_bytes))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.journal.close()
        self.workspace.close()

    def entries(self) -> list[LogEntry]:
        return self.log.entries()

    def edits(self, entry: LogEntry) -> tuple[Edit, ...]:
        return self.log.edits(entry)

    def current_commit(self, recorded: TimelineCommit) -> Oid:
        return self.journal.current_commit(recorded)

    def recorded_size(self, path: str) -> int:
        """Return the size in bytes of a file when it was last recorded; 0 if that is not known."""
        located = self.workspace.work_tree.locate(path)
        entry = None if located is None else self.journal.timeline.entry(located)
        return 0 if entry is None else self.workspace.store.blob_size(entry.oid) or 0

    def start(self) -> None:
        """Start the timeline with the work tree as it is now, unless there is a timeline already."""
        with self.journal.writing():
            pass

    def record_before_call(
        self,
        paths: Iterable[str] | None,
        exclude: Collection[str] = (),
        *,
        is_waiting: Callable[[], bool] = lambda: True,
    ) -> bool:
        """Record, as an outside change, what changed at `paths` (None: anywhere) before a call starts.

        `is_waiting` returns whether the client still waits for its hook. If it does not wait, the call itself
        may have made the changes: record none of them, and return False.
        """
        if not is_waiting():
            return False
        with self.journal.writing():
            seen = self._observe(paths, exclude)
            if not is_waiting():
                self.journal.head_tracker.keeps_base = True
                return False
            if seen.edits:
                self.journal.append_outside(seen.edits, None)
            return True

    def find_changes(
        self, paths: Iterable[str] | None, exclude: Collection[str] = ()
    ) -> dict[RepoPath, TreeEntry | None]:
        """Return what changed at `paths` (None: anywhere) except at `exclude`, without recording it.

        The value is the file's new entry, None if the file is gone. Changes that git itself made are not
        returned: these are recorded at once.
        """
        with self.journal.writing():
            seen = self._observe(paths, exclude)
            self.journal.head_tracker.keeps_base = bool(seen.edits)  # until they are recorded
            return {edit.path: edit.after for edit in seen.edits}

    def record_outside(
        self, paths: Iterable[str] | None = None, exclude: Collection[str] = (), reason: str | None = None
    ) -> list[TimelineCommit]:
        """Record, as an outside change, what changed at `paths` (None: anywhere) except at `exclude`."""
        with self.journal.writing():
            seen = self._observe(paths, exclude)
            rest = [self.journal.append_outside(seen.edits, reason)] if seen.edits else []
            return [*seen.recorded, *rest]

    def record_named_paths(
        self, actions: Sequence[Action], source: str | None = None, open_paths: Collection[str] = ()
    ) -> bool:
        """Record actions that write only the paths they name, oldest first. Always returns True."""
        return self.record_ended([EndedCall(action) for action in actions], source, open_paths)

    def record_window(
        self,
        action: Action,
        paths: Collection[str] | None = None,
        source: str | None = None,
        *,
        shared: bool = False,
    ) -> None:
        """Record, as the action's change, what changed at `paths` (None: anywhere) while the action ran."""
        self.record_ended([EndedCall(action, paths, shared=shared)], source)

    def record_ended(
        self,
        calls: Sequence[EndedCall],
        source: str | None = None,
        open_paths: Collection[str] = (),
        *,
        wait_for_open_calls: bool = False,
        is_overtaken: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Record calls that have ended, oldest first, each with its own part of what changed.

        `open_paths`: the paths that unfinished calls name.

        `wait_for_open_calls`: record none of the changes, and return False, in two cases. Some of the changes
        may belong to a call whose end is not reported yet; or `is_overtaken` returns True after the files
        were read.
        """
        with self.journal.writing():
            once = {call.action.id: call for call in reversed(calls)}
            new = [call for call in reversed(once.values()) if not self.journal.has_action(call.action.id)]
            new = in_order_of_ends(self._without_contained(new, source))
            located = set(self.workspace.locate_all(open_paths))
            seen = self._observe(paths_of_calls(new), ())
            self.journal.head_tracker.keeps_base = True  # until these changes are recorded
            if wait_for_open_calls and is_overtaken():
                return False
            # The client did not wait until these calls were recorded. So a later call that is still unknown
            # may have written to their files: its end may be reported at any moment.
            late_paths = {
                path for call in new if call.is_late for path in self._named_or_reported(call.action)
            }
            result = self._attributor.attribute(new, seen.edits, located | late_paths)
            unclear = (result.outside_paths & (located | late_paths)) | (result.window_paths & located)
            unfinished = result.unfinished_paths(seen.edits)
            unclear |= unfinished & ((result.window_paths & late_paths) | set(result.written_since))
            if wait_for_open_calls and unclear:
                return False
            self._append_attribution(result, seen, source)
            self.journal.head_tracker.keeps_base = False
            return True

    def record_unchanged(self, action: Action, source: str | None = None) -> None:
        """Mark a call that changed nothing, unless the call is recorded already."""
        with self.journal.writing():
            if not self.journal.has_action(action.id):
                self._append_unchanged(action, source)

    def correct_status(self, action: ToolUseId, status: Status) -> None:
        with self.journal.writing():
            self.journal.append_mark({"kind": "status", "id": action, "status": status})

    def set_summary(self, action: ToolUseId, lead_text: str) -> None:
        """Replace the summary of an action with the agent's own text, which arrived later.

        If the action's lane commit can no longer be reworded, nothing is changed.
        """
        summary = first_words(lead_text)
        with self.journal.writing():
            if summary is not None and self.journal.has_action(action):
                self.journal.reword(action, summary)

    def mark(self, kind: str, ids: Iterable[str], commits: Sequence[str] | None = None) -> None:
        """Mark actions as `kept`, `open` again, or `landed` (with the commits that hold them)."""
        mark: Mark = {"kind": kind, "ids": list(ids)}
        if commits is not None:
            mark["commits"] = list(commits)
        with self.journal.writing():
            self.journal.append_mark(mark)

    def _observe(self, paths: Iterable[str] | None, exclude: Collection[str]) -> DiskChanges:
        locate_all = self.workspace.locate_all
        return self._observer.observe(None if paths is None else locate_all(paths), set(locate_all(exclude)))

    def _without_contained(self, calls: Sequence[EndedCall], source: str | None) -> list[EndedCall]:
        """Mark calls whose change is already in another action's record, and return the other calls."""
        rest = []
        for call in calls:
            holder = self.timeline.find_action(call.action.id)
            if holder is None:
                rest.append(call)
            else:
                self._append_unchanged(call.action, source, within=holder.record.action)
        return rest

    def _append_attribution(self, result: Attribution, seen: DiskChanges, source: str | None) -> None:
        actions = [call.action for call in result.calls]
        done = {step.action for step in result.steps}
        marked: set[int] = set()

        def mark_unchanged(calls: Iterable[int]) -> None:
            for index in calls:
                if index not in done and index not in marked:
                    marked.add(index)
                    holder = result.contained.get(index)
                    within = actions[holder].id if holder in done and holder is not None else None
                    skipped = self._skipped(result, index, seen)
                    self._append_unchanged(actions[index], source, skipped=skipped, within=within)

        for step_index, step in enumerate(result.steps):
            if step.action is None:
                reason = WRITTEN_OVER if undoes(step, result.steps[:step_index]) else None
                self.journal.append_outside(step.edits, reason)
                continue
            # Marks follow the order of the calls. A call that names its paths is marked at the end, because
            # a later record may explain why it has no change of its own.
            mark_unchanged(index for index in range(step.action) if not result.calls[index].names_its_paths)
            inside = [actions[part].id for part, holder in result.contained.items() if holder == step.action]
            self.journal.append_action(
                actions[step.action],
                step.edits,
                source=source,
                skipped=self._skipped(result, step.action, seen),
                contained=inside,
                reason=OTHERS_RAN if result.calls[step.action].shared else None,
            )
        mark_unchanged(range(len(actions)))

    def _append_unchanged(
        self,
        action: Action,
        source: str | None,
        *,
        skipped: Sequence[str] = (),
        within: str | None = None,
    ) -> None:
        paths = self.workspace.locate_all(action.paths)
        # A path in `skipped` has its reason already.
        expected = [path for path in self._named_or_reported(action) if not is_skipped(path, skipped)]
        within, reason = self._attributor.explain_missing(action, expected, within)
        status = "contained" if within else "noop" if action.status == "succeeded" else action.status
        self.journal.append_call(
            action, status, source=source, skipped=skipped, within=within, paths=paths, reason=reason
        )

    def _named_or_reported(self, action: Action) -> list[RepoPath]:
        return self.workspace.locate_all(action.paths or (action.report.changed if action.report else ()))

    def _skipped(self, result: Attribution, index: int, seen: DiskChanges) -> list[str]:
        """Return the paths that a call names but that are not recorded, each with the reason.

        For a call that may write anywhere, return the paths that the scan left out. Each of these is returned
        for one call only.
        """
        call, paths = result.calls[index], result.paths[index]
        if not call.names_its_paths:
            return self._new_omissions(seen)
        outside = [path for path in call.action.paths if self.workspace.locate(path) is None]
        omitted = [render_omitted(omitted) for omitted in seen.omitted if omitted.path in paths]
        return [*(f"{path} {SkipReason.OUTSIDE.value}" for path in outside), *omitted]

    def _new_omissions(self, seen: DiskChanges) -> list[str]:
        lines = [render_omitted(omitted) for omitted in seen.omitted]
        new = [line for line in lines if line not in self._reported_omissions]
        self._reported_omissions.update(new)
        return new


def in_order_of_ends(calls: list[EndedCall]) -> list[EndedCall]:
    """Sort the calls by the time they ended. If that time is not known for all, keep the given order."""
    moments = {call.action.id: call.until for call in calls if call.until is not None}
    return sorted(calls, key=lambda call: moments[call.action.id]) if len(moments) == len(calls) else calls


def is_skipped(path: RepoPath, skipped: Iterable[str]) -> bool:
    """Whether one of the lines `PATH REASON` in `skipped` is about this path."""
    return any(line.startswith(f"{path} ") for line in skipped)
