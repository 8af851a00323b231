"""Plan a revert: what each file will hold, or which later changes prevent it."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from chorus.changes.line_merge import Positions
from chorus.history.recorder import Recorder
from chorus.history.records import Edit, RecordKind
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.model.ids import Oid, RepoPath
from chorus.model.repo_paths import is_at_or_below
from chorus.review.revert.conflict import Asked, BlockingChange, RevertConflict
from chorus.review.revert.file_content import (
    Content,
    ContentConflict,
    read_disk,
    read_stored,
    revert_change,
    revert_change_with_markers,
)
from chorus.review.revert.hunks import PatchHunk, revert_hunks
from chorus.store.worktree.file_state import FileState
from chorus.text.sanitize import printable


@dataclass(frozen=True, slots=True)
class FileWrite:
    """One file's content on disk, and the content to write.

    `found` is the file's state when it was read, to detect a later change.
    """

    path: RepoPath
    found: FileState
    now: Content | None
    new: Content | None


@dataclass(frozen=True, slots=True)
class RevertScope:
    """How much of the actions to revert: everything, some paths, or some hunks of one action."""

    paths: Collection[RepoPath] | None = None
    hunks_of: TimelineCommit | None = None
    hunks: Collection[PatchHunk] = ()

    def contents(
        self, recorder: Recorder, recorded: TimelineCommit, edit: Edit
    ) -> tuple[Content | None, Content | None] | None:
        """The file without and with the part to revert; None if the edit is out of scope."""
        if self.paths is not None and not is_at_or_below(edit.path, self.paths):
            return None
        before, after = read_stored(recorder, edit.before), read_stored(recorder, edit.after)
        if self.hunks_of is not None and recorded.oid == self.hunks_of.oid:
            chosen = [hunk for hunk in self.hunks if hunk.path == edit.path]
            return (revert_hunks(before, after, chosen), after) if chosen else None
        return before, after


@dataclass(frozen=True, slots=True)
class ActionRevert:
    """The revert of one action, made after the reverts of the newer actions in the plan.

    `edits`: (path, content before this revert, content after it) of each file.
    """

    action: TimelineCommit
    edits: tuple[tuple[RepoPath, Content | None, Content | None], ...]
    complete: bool  # no part of the action stays


@dataclass(slots=True)
class RevertPlan:
    """A planned revert. `reverts`: newest action first."""

    reverts: list[ActionRevert] = field(default_factory=list)
    writes: list[FileWrite] = field(default_factory=list)
    blocking: list[BlockingChange] = field(default_factory=list)


def plan_revert(
    recorder: Recorder,
    targets: Sequence[TimelineCommit],
    asked: Asked,
    *,
    scope: RevertScope | None = None,
    markers: bool = False,
    step: Callable[[], None] = lambda: None,
) -> RevertPlan:
    """Plan to revert these actions. Raises RevertConflict if later changes prevent it.

    `step` is called often. An exception that it raises ends the planning.
    """
    chosen = {target.oid: target for target in targets}
    scope = scope or RevertScope()
    while True:
        plan = _plan(recorder, list(chosen.values()), scope, markers=markers, step=step)
        if not plan.blocking:
            return plan
        dependents = _blocking_actions(plan.blocking)
        if not asked.with_dependents or not dependents.keys() - chosen.keys():
            raise _conflict(recorder, plan, chosen, scope, asked, markers=markers, step=step)
        chosen |= dependents
        chosen |= _blocking_actions(_follow(recorder, plan.blocking, chosen.values(), step))


def _plan(
    recorder: Recorder,
    targets: list[TimelineCommit],
    scope: RevertScope,
    *,
    markers: bool,
    step: Callable[[], None],
) -> RevertPlan:
    plan = RevertPlan()
    found: dict[RepoPath, FileState] = {}
    on_disk: dict[RepoPath, Content | None] = {}
    now: dict[RepoPath, Content | None] = {}
    revert_one = revert_change_with_markers if markers else revert_change
    # Files in which an action blocks the revert. Older actions may conflict there only because of that: what
    # blocks them is searched once the blocking action is reverted too.
    widening: set[RepoPath] = set()
    for recorded in sorted(targets, key=recorder.timeline.position, reverse=True):
        complete = True
        edits: list[tuple[RepoPath, Content | None, Content | None]] = []
        for edit in recorder.timeline.edits(recorded):
            contents = scope.contents(recorder, recorded, edit)
            complete &= contents is not None and contents[0] == read_stored(recorder, edit.before)
            if contents is None:
                continue
            path = edit.path
            if path not in now:
                found[path], now[path] = read_disk(recorder, path)
                on_disk[path] = now[path]
            step()
            positions = _positions(recorder, path, on_disk[path], step)
            result = revert_one(*contents, now[path], positions)
            if isinstance(result, ContentConflict):
                if path in widening:
                    continue
                found_blocking = _find_blocking(
                    recorder, recorded, path, contents, reason=result.reason, targets=targets, step=step
                )
                plan.blocking.append(found_blocking)
                if found_blocking.number is not None:
                    widening.add(path)
            elif result != now[path]:
                edits.append((path, now[path], result))
                now[path] = result
        plan.reverts.append(ActionRevert(recorded, tuple(edits), complete))
    plan.writes = [
        FileWrite(path, found[path], on_disk[path], new) for path, new in now.items() if new != on_disk[path]
    ]
    return plan


def _find_blocking(
    recorder: Recorder,
    recorded: TimelineCommit,
    path: RepoPath,
    contents: tuple[Content | None, Content | None],
    *,
    reason: str,
    targets: Collection[TimelineCommit],
    step: Callable[[], None],
) -> BlockingChange:
    """Find the first later change of this file that conflicts with the revert."""
    position = recorder.timeline.position(recorded)
    positions = _positions(recorder, path, None, step)
    reverted = {target.oid for target in targets}
    for later in recorder.timeline.touching_after(path, position):
        step()
        if later.oid in reverted:
            continue
        after = next(edit.after for edit in recorder.timeline.edits(later) if edit.path == path)
        stored = read_stored(recorder, after)
        if isinstance(revert_change(*contents, stored, positions), ContentConflict):
            number = later.record.number if later.record.kind is RecordKind.ACTION else None
            return BlockingChange(path, reason, number, later)
    return BlockingChange(path, reason, None, None)


def _follow(
    recorder: Recorder,
    blocking: Collection[BlockingChange],
    chosen: Collection[TimelineCommit],
    step: Callable[[], None],
) -> list[BlockingChange]:
    """Find the changes that block reverting `blocking`, the changes that block reverting those, and so on.

    The newest action is reverted first. So only the newest action can be compared with the file on disk, and
    the search ends at an action if a newer action is to be reverted, too. It also ends at an outside change.
    """
    timeline = recorder.timeline
    targets = list(chosen)
    found: list[BlockingChange] = []
    for first in blocking:
        change = first
        while change.record is not None and change.number is not None:
            place = timeline.position(change.record)
            if any(timeline.position(target) > place for target in targets):
                break
            edit = next(edit for edit in timeline.edits(change.record) if edit.path == change.path)
            contents = read_stored(recorder, edit.before), read_stored(recorder, edit.after)
            step()
            now = read_disk(recorder, change.path)[1]
            result = revert_change(*contents, now, _positions(recorder, change.path, now, step))
            if not isinstance(result, ContentConflict):
                break
            change = _find_blocking(
                recorder,
                change.record,
                change.path,
                contents,
                reason=result.reason,
                targets=targets,
                step=step,
            )
            found.append(change)
            targets += _blocking_actions([change]).values()
    return found


def _positions(
    recorder: Recorder, path: RepoPath, now: Content | None, step: Callable[[], None]
) -> Positions:
    return recorder.lanes.lines.now(path, now.data if now else None, step)


def _blocking_actions(blocking: Collection[BlockingChange]) -> dict[Oid, TimelineCommit]:
    return {c.record.oid: c.record for c in blocking if c.record is not None and c.number is not None}


def _conflict(
    recorder: Recorder,
    plan: RevertPlan,
    chosen: dict[Oid, TimelineCommit],
    scope: RevertScope,
    asked: Asked,
    *,
    markers: bool,
    step: Callable[[], None],
) -> RevertConflict:
    """Make the error with all blocking changes.

    These are the changes that block the plan, and the changes that block reverting a blocking change.
    """
    blocking = {(change.path, change.number): change for change in plan.blocking}
    widened = dict(chosen)
    while True:
        dependents = _blocking_actions(blocking.values())
        if not dependents.keys() - widened.keys():
            break
        widened |= dependents
        followed = _follow(recorder, list(blocking.values()), widened.values(), step)
        widened |= _blocking_actions(followed)
        again = _plan(recorder, list(widened.values()), scope, markers=False, step=step)
        blocking |= {(change.path, change.number): change for change in (*followed, *again.blocking)}
    places = [
        f"  {printable(change.path)} {change.reason}: {_describe(recorder, change)}"
        for change in blocking.values()
    ]
    # No markers can be written for a file that was deleted, or that is not text.
    markers_help = (
        not asked.redo
        and not markers
        and not _plan(recorder, list(chosen.values()), scope, markers=True, step=step).blocking
    )
    return RevertConflict(asked, list(blocking.values()), places, markers_help=markers_help)


def _describe(recorder: Recorder, change: BlockingChange) -> str:
    if change.record is None:
        return "a change that is not recorded yet"
    summary = recorder.log.summary_of(change.record)
    return summary if change.number is None else f"action {change.number} ({summary})"
