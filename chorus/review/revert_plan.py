"""Deciding what a revert changes: a plan, or the reason why there is none.

Receives the actions to take back. Gives, for each file they touch, what it is to be; or names the later
actions and outside changes that stand in the way. Reads the work tree, never writes.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from chorus.changes.summary import shown
from chorus.errors import ChorusError, ExitCode
from chorus.history.chain import Recorded
from chorus.history.recorder import Recorder
from chorus.history.records import Edit, Kind
from chorus.model.ids import Oid, RepoPath
from chorus.review.contents import content_of, read_now
from chorus.review.hunks import Piece, undo_pieces
from chorus.review.taking_back import Clash, Side, take_back, take_back_with_markers
from chorus.store.worktree.file_state import FileState

HINT = (
    "Take those back as well with --with-dependents (with --dry-run it shows the change first), or write "
    "conflict markers with --markers."
)
OUTSIDE_HINT = "Take that change back by hand first, or write conflict markers with --markers."


class RevertConflict(ChorusError):
    """Later changes touch the same lines. Nothing was changed."""

    exit_code = ExitCode.CONFLICT

    def __init__(self, message: str, blockers: Sequence["Blocker"]) -> None:
        super().__init__(message, hint=OUTSIDE_HINT if _only_outside(blockers) else HINT)
        self.details = {
            "dependents": [b.number for b in blockers if b.number is not None],
            "conflicts": [{"path": b.path, "why": b.why, "by": b.number} for b in blockers],
        }


@dataclass(frozen=True, slots=True)
class Blocker:
    """What stands in the way at one path. `number` is None for an outside change."""

    path: RepoPath
    why: str
    number: int | None
    record: Recorded | None


@dataclass(frozen=True, slots=True)
class Change:
    """One file: what the disk holds, and what it is to hold."""

    path: RepoPath
    found: FileState
    now: Side
    new: Side


@dataclass(frozen=True, slots=True)
class Extent:
    """What of the actions is to be taken back: all of it, some paths, or some hunks of one action."""

    paths: Collection[RepoPath] | None = None
    hunks_of: Recorded | None = None
    pieces: Collection[Piece] = ()

    def sides(self, recorder: Recorder, recorded: Recorded, edit: Edit) -> tuple[Side, Side] | None:
        """The file as it is to be without the part, and with it; None: nothing of it is meant."""
        if self.paths is not None and not is_below(edit.path, self.paths):
            return None
        before, after = content_of(recorder, edit.before), content_of(recorder, edit.after)
        if self.hunks_of is not None and recorded.oid == self.hunks_of.oid:
            mine = [piece for piece in self.pieces if piece.path == edit.path]
            return (undo_pieces(before, after, mine), after) if mine else None
        return before, after


@dataclass(frozen=True, slots=True)
class Step:
    """Taking one action back, after all newer ones: path, what it holds then, what it is to hold."""

    action: Recorded
    edits: tuple[tuple[RepoPath, Side, Side], ...]
    whole: bool  # no part of the action stays


@dataclass(slots=True)
class Plan:
    """`steps`: newest action first."""

    steps: list[Step] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    blockers: list[Blocker] = field(default_factory=list)


def plan_revert(
    recorder: Recorder,
    targets: Sequence[Recorded],
    *,
    extent: Extent | None = None,
    with_dependents: bool = False,
    markers: bool = False,
) -> Plan:
    """What taking these actions back changes. Raises RevertConflict where it cannot be done."""
    chosen = {target.oid: target for target in targets}
    extent = extent or Extent()
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


def _plan(recorder: Recorder, targets: list[Recorded], extent: Extent, *, markers: bool) -> Plan:
    plan = Plan()
    found: dict[RepoPath, FileState] = {}
    first: dict[RepoPath, Side] = {}
    now: dict[RepoPath, Side] = {}
    undo = take_back_with_markers if markers else take_back
    for recorded in sorted(targets, key=recorder.timeline.place, reverse=True):
        edits = recorder.timeline.edits(recorded)
        whole = True
        done: list[tuple[RepoPath, Side, Side]] = []
        for edit in edits:
            sides = extent.sides(recorder, recorded, edit)
            whole &= sides is not None and sides[0] == content_of(recorder, edit.before)
            if sides is None:
                continue
            if edit.path not in now:
                found[edit.path], now[edit.path] = read_now(recorder, edit.path)
                first[edit.path] = now[edit.path]
            result = undo(*sides, now[edit.path])
            if isinstance(result, Clash):
                plan.blockers.append(
                    _blocker(recorder, recorded, edit.path, sides, why=result.why, taken=targets)
                )
            elif result != now[edit.path]:
                done.append((edit.path, now[edit.path], result))
                now[edit.path] = result
        plan.steps.append(Step(recorded, tuple(done), whole=whole))
    plan.changes = [
        Change(path, found[path], first[path], new) for path, new in now.items() if new != first[path]
    ]
    return plan


def _blocker(
    recorder: Recorder,
    recorded: Recorded,
    path: RepoPath,
    sides: tuple[Side, Side],
    *,
    why: str,
    taken: Collection[Recorded],
) -> Blocker:
    """The first later change of this file that the action's cannot be taken out from under."""
    place = recorder.timeline.place(recorded)
    names = {recorded.oid for recorded in taken}
    for later in reversed(list(recorder.timeline.touching(path))):
        if recorder.timeline.place(later) <= place or later.oid in names:
            continue
        then = next(e.after for e in recorder.timeline.edits(later) if e.path == path)
        if isinstance(take_back(*sides, content_of(recorder, then)), Clash):
            number = later.record.number if later.record.kind is Kind.ACTION else None
            return Blocker(path, why, number, later)
    return Blocker(path, why, None, None)


def _conflict(recorder: Recorder, plan: Plan, chosen: dict[Oid, Recorded], extent: Extent) -> RevertConflict:
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
    lines += [f"  {shown(b.path)} {b.why}: {_name(b)}" for b in blockers.values()]
    return RevertConflict("\n".join(lines), list(blockers.values()))


def _only_outside(blockers: Sequence[Blocker]) -> bool:
    return all(blocker.number is None for blocker in blockers)


def _name(blocker: Blocker) -> str:
    if blocker.record is None:
        return "a change that is not recorded yet"
    if blocker.number is None:
        return blocker.record.record.summary
    return f"action {blocker.number} ({blocker.record.record.summary})"


def is_below(path: RepoPath, roots: Collection[RepoPath]) -> bool:
    return any(path == root or path.startswith(root + "/") for root in roots)
