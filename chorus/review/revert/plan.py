"""Deciding what a revert changes: a plan, or the reason why there is none.

Receives the actions to take back. Gives, for each file they touch, what it is to be; or names the later
actions and outside changes that stand in the way. Reads the work tree, never writes.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from chorus.errors import ChorusError, ExitCode
from chorus.history.recorder import Recorder
from chorus.history.records import Edit, RecordKind
from chorus.history.timeline_log import TimelineCommit
from chorus.model.ids import Oid, RepoPath
from chorus.review.revert.file_content import (
    ContentConflict,
    Side,
    read_disk,
    revert_change,
    revert_change_with_markers,
    stored_content,
)
from chorus.review.revert.hunks import PatchHunk, revert_hunks
from chorus.store.worktree.file_state import FileState
from chorus.text.sanitize import printable

HINT = (
    "Take those back as well with --with-dependents (with --dry-run it shows the change first), or write "
    "conflict markers with --markers."
)
OUTSIDE_HINT = "Take that change back by hand first, or write conflict markers with --markers."


class RevertConflict(ChorusError):
    """Later changes touch the same lines. Nothing was changed."""

    exit_code = ExitCode.CONFLICT

    def __init__(self, message: str, blockers: Sequence["BlockingChange"]) -> None:
        super().__init__(message, hint=OUTSIDE_HINT if _only_outside(blockers) else HINT)
        self.details = {
            "dependents": [b.number for b in blockers if b.number is not None],
            "conflicts": [{"path": b.path, "why": b.why, "by": b.number} for b in blockers],
        }


@dataclass(frozen=True, slots=True)
class BlockingChange:
    """What stands in the way at one path. `number` is None for an outside change."""

    path: RepoPath
    why: str
    number: int | None
    record: TimelineCommit | None


@dataclass(frozen=True, slots=True)
class FileWrite:
    """One file: what the disk holds, and what it is to hold."""

    path: RepoPath
    found: FileState
    now: Side
    new: Side


@dataclass(frozen=True, slots=True)
class RevertScope:
    """What of the actions is to be taken back: all of it, some paths, or some hunks of one action."""

    paths: Collection[RepoPath] | None = None
    hunks_of: TimelineCommit | None = None
    pieces: Collection[PatchHunk] = ()

    def sides(self, recorder: Recorder, recorded: TimelineCommit, edit: Edit) -> tuple[Side, Side] | None:
        """The file as it is to be without the part, and with it; None: nothing of it is meant."""
        if self.paths is not None and not is_below(edit.path, self.paths):
            return None
        before, after = stored_content(recorder, edit.before), stored_content(recorder, edit.after)
        if self.hunks_of is not None and recorded.oid == self.hunks_of.oid:
            mine = [piece for piece in self.pieces if piece.path == edit.path]
            return (revert_hunks(before, after, mine), after) if mine else None
        return before, after


@dataclass(frozen=True, slots=True)
class ActionRevert:
    """Taking one action back, after all newer ones: path, what it holds then, what it is to hold."""

    action: TimelineCommit
    edits: tuple[tuple[RepoPath, Side, Side], ...]
    whole: bool  # no part of the action stays


@dataclass(slots=True)
class RevertPlan:
    """`steps`: newest action first."""

    steps: list[ActionRevert] = field(default_factory=list)
    changes: list[FileWrite] = field(default_factory=list)
    blockers: list[BlockingChange] = field(default_factory=list)


def plan_revert(
    recorder: Recorder,
    targets: Sequence[TimelineCommit],
    *,
    extent: RevertScope | None = None,
    with_dependents: bool = False,
    markers: bool = False,
) -> RevertPlan:
    """What taking these actions back changes. Raises RevertConflict where it cannot be done."""
    chosen = {target.oid: target for target in targets}
    extent = extent or RevertScope()
    while True:
        plan = _plan(recorder, list(chosen.values()), extent, markers=markers)
        if not plan.blockers:
            return plan
        more = {
            b.record.oid: b.record for b in plan.blockers if b.record is not None and b.number is not None
        }
        if not with_dependents or not more.keys() - chosen.keys():
            raise _conflict(recorder, plan, chosen, extent)
        chosen |= more


def _plan(
    recorder: Recorder, targets: list[TimelineCommit], extent: RevertScope, *, markers: bool
) -> RevertPlan:
    plan = RevertPlan()
    found: dict[RepoPath, FileState] = {}
    first: dict[RepoPath, Side] = {}
    now: dict[RepoPath, Side] = {}
    undo = revert_change_with_markers if markers else revert_change
    for recorded in sorted(targets, key=recorder.timeline.place, reverse=True):
        edits = recorder.timeline.edits(recorded)
        whole = True
        done: list[tuple[RepoPath, Side, Side]] = []
        for edit in edits:
            sides = extent.sides(recorder, recorded, edit)
            whole &= sides is not None and sides[0] == stored_content(recorder, edit.before)
            if sides is None:
                continue
            if edit.path not in now:
                found[edit.path], now[edit.path] = read_disk(recorder, edit.path)
                first[edit.path] = now[edit.path]
            result = undo(*sides, now[edit.path])
            if isinstance(result, ContentConflict):
                plan.blockers.append(
                    _blocker(recorder, recorded, edit.path, sides, why=result.why, taken=targets)
                )
            elif result != now[edit.path]:
                done.append((edit.path, now[edit.path], result))
                now[edit.path] = result
        plan.steps.append(ActionRevert(recorded, tuple(done), whole=whole))
    plan.changes = [
        FileWrite(path, found[path], first[path], new) for path, new in now.items() if new != first[path]
    ]
    return plan


def _blocker(
    recorder: Recorder,
    recorded: TimelineCommit,
    path: RepoPath,
    sides: tuple[Side, Side],
    *,
    why: str,
    taken: Collection[TimelineCommit],
) -> BlockingChange:
    """The first later change of this file that the action's cannot be taken out from under."""
    place = recorder.timeline.place(recorded)
    names = {recorded.oid for recorded in taken}
    for later in reversed(list(recorder.timeline.touching(path))):
        if recorder.timeline.place(later) <= place or later.oid in names:
            continue
        then = next(e.after for e in recorder.timeline.edits(later) if e.path == path)
        if isinstance(revert_change(*sides, stored_content(recorder, then)), ContentConflict):
            number = later.record.number if later.record.kind is RecordKind.ACTION else None
            return BlockingChange(path, why, number, later)
    return BlockingChange(path, why, None, None)


def _conflict(
    recorder: Recorder, plan: RevertPlan, chosen: dict[Oid, TimelineCommit], extent: RevertScope
) -> RevertConflict:
    """The error that names everything in the way, found by asking again with each blocker taken back too."""
    blockers = {(b.path, b.number): b for b in plan.blockers}
    widened = dict(chosen)
    while True:
        more = {b.record.oid: b.record for b in blockers.values() if b.record and b.number is not None}
        if not more.keys() - widened.keys():
            break
        widened |= more
        again = _plan(recorder, list(widened.values()), extent, markers=False)
        blockers |= {(b.path, b.number): b for b in again.blockers}
    asked = ", ".join(str(t.record.number) for t in chosen.values())
    lines = [f"action {asked} cannot be taken back alone; nothing was changed"]
    lines += [f"  {printable(b.path)} {b.why}: {_name(b)}" for b in blockers.values()]
    return RevertConflict("\n".join(lines), list(blockers.values()))


def _only_outside(blockers: Sequence[BlockingChange]) -> bool:
    return all(blocker.number is None for blocker in blockers)


def _name(blocker: BlockingChange) -> str:
    if blocker.record is None:
        return "a change that is not recorded yet"
    if blocker.number is None:
        return blocker.record.record.summary
    return f"action {blocker.number} ({blocker.record.record.summary})"


def is_below(path: RepoPath, roots: Collection[RepoPath]) -> bool:
    return any(path == root or path.startswith(root + "/") for root in roots)
