"""The recorder: puts what happens in a work tree on its timeline, and what an agent did on its lane.

Receives calls and actions as the client reports them, and hints where to look. Reads the disk
(`observation`), decides who made each change (`attribution`), and writes both histories (`journal`). An
action is recorded once, even if it is reported again, also after a restart. Never changes the user's files,
HEAD, the index, or a branch that is not a lane.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Self

from chorus.changes.summary import first_words
from chorus.history.attribution import WRITTEN_OVER, Attribution, Attributor, undoes
from chorus.history.journal import Journal
from chorus.history.log.entry import LogEntry
from chorus.history.log.memory_log import MemoryLog
from chorus.history.mark_log import Mark
from chorus.history.observation import DiskChanges, Observer, render_omitted
from chorus.history.records import Edit
from chorus.history.timeline_log import TimelineCommit
from chorus.history.workspace import Workspace
from chorus.model.action import Action, Status
from chorus.model.ids import Oid, RepoPath, SessionId, ToolUseId
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
        return self.log.entries()

    def edits(self, entry: LogEntry) -> tuple[Edit, ...]:
        """The paths of an entry, with the file before and after."""
        return self.log.edits(entry)

    def current_commit(self, recorded: TimelineCommit) -> Oid:
        """The lane commit of an action, also where it was rewritten because the lane had moved."""
        return self.journal.current_commit(recorded)

    def start(self) -> None:
        """Start the timeline with the work tree as it is now, unless there is a timeline already."""
        with self.journal.writing():
            pass

    def record_before_call(
        self,
        hints: Iterable[str] | None,
        exclude: Collection[str] = (),
        *,
        is_waiting: Callable[[], bool] = lambda: True,
    ) -> bool:
        """Record what changed so far as outside changes: the call that starts now did not make them.

        `is_waiting` tells whether the client still waits. Once it goes on it may have written what was
        seen here; then nothing is recorded, and the result is False.
        """
        if not is_waiting():
            return False
        with self.journal.writing():
            seen = self._observe(hints, exclude)
            if not is_waiting():
                return False
            if seen.edits:
                self.journal.append_outside(seen.edits, None)
            return True

    def record_outside(
        self, hints: Iterable[str] | None = None, exclude: Collection[str] = (), reason: str | None = None
    ) -> list[TimelineCommit]:
        """Record every change at the hinted paths as an outside change. Without hints, look everywhere."""
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

        `open_paths`: what calls that have not ended name. `wait_for_open_calls`: if part of the change at
        such a path may be an open call's, record nothing and return False: that call may be about to end.
        """
        with self.journal.writing():
            once = {action.id: action for action in reversed(actions)}
            new = [action for action in reversed(once.values()) if not self.journal.has_action(action.id)]
            new = self._without_contained(new, source)
            located = set(self.workspace.locate_all(open_paths))
            named = dict.fromkeys(path for action in new for path in self.workspace.locate_all(action.paths))
            seen = self._observer.observe(list(named))
            result = self._attributor.attribute(new, seen.edits, located)
            if wait_for_open_calls and not result.outside_paths.isdisjoint(located):
                return False
            self._append_attribution(result, seen, source)
            return True

    def record_window(
        self,
        action: Action,
        hints: Iterable[str] | None = None,
        exclude: Collection[str] = (),
        source: str | None = None,
        *,
        shared: bool = False,
    ) -> None:
        """Record what changed while this action ran as its change.

        `shared`: other calls ran too, so only what the client reports as changed counts, if it does.
        """
        with self.journal.writing():
            if self.journal.has_action(action.id):
                return
            seen = self._observe(hints, exclude)
            edits = self._attributor.own_edits(action, seen.edits) if shared else seen.edits
            skipped = self._new_omissions(seen)
            if edits:
                reason = OTHERS_RAN if shared else None
                self.journal.append_action(action, edits, source=source, skipped=skipped, reason=reason)
            else:
                self._append_unchanged(action, source, skipped=skipped)

    def record_unchanged(self, action: Action, source: str | None = None) -> None:
        """Mark a call that changed nothing; its status says how it ended."""
        with self.journal.writing():
            if not self.journal.has_action(action.id):
                self._append_unchanged(action, source)

    def link_sessions(self, session: SessionId, parent: SessionId) -> None:
        """Let `session` continue `parent`: it writes to the same lane."""
        with self.journal.writing():
            if self.journal.root_session(session) != self.journal.root_session(parent):
                self.journal.append_mark({"kind": "link", "session": session, "parent": parent})

    def correct_status(self, action: ToolUseId, status: Status) -> None:
        """Replace the status of a call that is recorded already."""
        with self.journal.writing():
            self.journal.append_mark({"kind": "status", "id": action, "status": status})

    def set_summary(self, action: ToolUseId, lead_text: str) -> None:
        """Replace the summary of an action by the assistant's own text, which arrived later."""
        summary = first_words(lead_text)
        with self.journal.writing():
            if summary is not None and self.journal.has_action(action):
                self.journal.append_mark({"kind": "said", "id": action, "summary": summary})

    def mark(self, kind: str, ids: Iterable[str], commits: Sequence[str] | None = None) -> None:
        """Mark actions as `kept`, `open` again, or `landed` (with the commits that hold them)."""
        mark: Mark = {"kind": kind, "ids": list(ids)}
        if commits is not None:
            mark["commits"] = list(commits)
        with self.journal.writing():
            self.journal.append_mark(mark)

    def _observe(self, hints: Iterable[str] | None, exclude: Collection[str]) -> DiskChanges:
        locate_all = self.workspace.locate_all
        return self._observer.observe(None if hints is None else locate_all(hints), set(locate_all(exclude)))

    def _without_contained(self, actions: Sequence[Action], source: str | None) -> list[Action]:
        """Mark the calls whose change is already in a record: a watcher died before it marked them."""
        rest = []
        for action in actions:
            holder = self.timeline.find_action(action.id)
            if holder is None:
                rest.append(action)
            else:
                self._append_unchanged(action, source, within=holder.record.action)
        return rest

    def _append_attribution(self, result: Attribution, seen: DiskChanges, source: str | None) -> None:
        """Put the steps on the timeline, and mark the actions for which nothing is left."""
        actions = result.actions
        done: set[int] = set()
        for step_index, step in enumerate(result.steps):
            if step.action is None:
                reason = WRITTEN_OVER if undoes(step, result.steps[:step_index]) else None
                self.journal.append_outside(step.edits, reason)
                continue
            done.add(step.action)
            action = actions[step.action]
            inside = [actions[part].id for part, holder in result.contained.items() if holder == step.action]
            skipped = self._skipped(action, result.paths[step.action], seen)
            self.journal.append_action(action, step.edits, source=source, skipped=skipped, contained=inside)
        for index, action in enumerate(actions):
            if index not in done:
                holder_index = result.contained.get(index)
                within = actions[holder_index].id if holder_index in done else None
                paths = result.paths[index]
                skipped = self._skipped(action, paths, seen)
                self._append_unchanged(action, source, skipped=skipped, within=within, paths=paths)

    def _append_unchanged(
        self,
        action: Action,
        source: str | None,
        *,
        skipped: Sequence[str] = (),
        within: str | None = None,
        paths: Sequence[RepoPath] = (),
    ) -> None:
        """Mark a call that changed nothing, or whose change is in another action's record."""
        paths = paths or self.workspace.locate_all(action.paths)
        within, reason = self._attributor.explain_missing(action, paths, within)
        status = "contained" if within else "noop" if action.status == "succeeded" else action.status
        self.journal.append_call(
            action, status, source=source, skipped=skipped, within=within, paths=paths, reason=reason
        )

    def _skipped(self, action: Action, named: Collection[RepoPath], seen: DiskChanges) -> list[str]:
        """The paths an action names that are not recorded, and why."""
        outside = [path for path in action.paths if self.workspace.locate(path) is None]
        omitted = [render_omitted(omitted) for omitted in seen.omitted if omitted.path in named]
        return [*(f"{path} {SkipReason.OUTSIDE.value}" for path in outside), *omitted]

    def _new_omissions(self, seen: DiskChanges) -> list[str]:
        """What a scan leaves out, reported once and not after every command."""
        lines = [render_omitted(omitted) for omitted in seen.omitted]
        new = [line for line in lines if line not in self._reported_omissions]
        self._reported_omissions.update(new)
        return new
