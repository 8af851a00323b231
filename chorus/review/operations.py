"""Revert, redo and keep the actions that a selection names.

A revert is recorded as an action of its own, so it can be reverted, too.
"""

import shlex
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from chorus.errors import ChorusError, ExitCode, UsageError
from chorus.history.log.entry import LogEntry
from chorus.history.log.lookup import find_entry, find_turn, refuse_unknown_lane
from chorus.history.recorder import Recorder
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.model.api.json_api import HunkJson, KeepJson, RevertJson
from chorus.model.ids import RepoPath
from chorus.model.lane_name import lane_spellings
from chorus.model.repo_paths import is_at_or_below
from chorus.model.review_state import REVERT_TOOL, shorten_turn
from chorus.review.revert.apply import NothingToRevert, apply_revert
from chorus.review.revert.conflict import Asked
from chorus.review.revert.file_content import render_patch
from chorus.review.revert.hunks import hunks_json, list_hunks, select_hunks
from chorus.review.revert.plan import RevertPlan, RevertScope, plan_revert
from chorus.review.revert.warnings import find_warnings
from chorus.text.width import list_of


class FileBusy(ChorusError):
    """An open call names a file of the plan. Nothing was changed."""

    hint = "Try again when the agent has finished the call."


class Inseparable(ChorusError):
    """Only some of the actions that share one record were named."""

    exit_code = ExitCode.CONFLICT


@dataclass(frozen=True, slots=True)
class Selection:
    """Which actions are meant: named ones, or those of some turns or a lane.

    `paths` and `hunks` (numbers of hunks of one action) limit the selection to parts of these actions.
    """

    actions: Sequence[str] = ()
    turns: Sequence[str] = ()
    lane: str | None = None
    paths: Sequence[str] = ()
    hunks: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class PreparedRevert:
    """A revert or redo that is planned but not applied. `result`: what the revert or redo would change."""

    plan: RevertPlan
    verb: str
    result: RevertJson

    @property
    def edit_count(self) -> int:
        return sum(len(revert.edits) for revert in self.plan.reverts)


def revert(
    recorder: Recorder,
    selection: Selection,
    *,
    dry_run: bool = False,
    with_dependents: bool = False,
    markers: bool = False,
    busy: Collection[str] = (),
) -> RevertJson:
    prepared = prepare_revert(recorder, selection, with_dependents=with_dependents, markers=markers)
    return prepared.result if dry_run else apply_prepared(recorder, prepared, busy=busy)


def prepare_revert(
    recorder: Recorder,
    selection: Selection,
    *,
    with_dependents: bool = False,
    markers: bool = False,
    step: Callable[[], None] = lambda: None,
) -> PreparedRevert:
    """Plan the revert of the selected actions.

    `step` is called often. An exception that it raises ends the planning.
    """
    targets = select_changes(recorder, selection, step)
    if not selection.hunks:
        _refuse_part_of_group(recorder, selection, targets)
    scope = _scope(recorder, targets, selection)
    named = [entry.n for entry in _select(recorder.entries(), selection)] if selection.actions else []
    asked = Asked(
        named or [target.record.number for target in targets],
        _revert_command(selection, named),
        with_dependents=with_dependents,
    )
    plan = plan_revert(recorder, targets, asked, scope=scope, markers=markers, step=step)
    return PreparedRevert(plan, "Revert", _describe_plan(recorder, plan, step))


def list_revertible_hunks(recorder: Recorder, action: str) -> list[HunkJson]:
    (target,) = select_changes(recorder, Selection([action]))
    return hunks_json(list_hunks(recorder, target))


def redo(
    recorder: Recorder, selection: Selection, *, dry_run: bool = False, busy: Collection[str] = ()
) -> RevertJson:
    """Undo the newest revert of each selected action. If a revert is selected, undo that revert."""
    prepared = prepare_redo(recorder, selection)
    return prepared.result if dry_run else apply_prepared(recorder, prepared, busy=busy)


def prepare_redo(
    recorder: Recorder, selection: Selection, *, step: Callable[[], None] = lambda: None
) -> PreparedRevert:
    entries = recorder.entries()
    named = [find_entry(entries, name) for name in selection.actions]
    targets = [_find_revert(recorder, entry) for entry in named]
    if not targets:
        raise UsageError("no action given", hint="Name the reverted action, or the one that reverted it.")
    records = [target.record for target in targets]
    names = [name for record in records for name in (*record.reverts, *record.reverts_part)]
    origins = [recorder.timeline.find_action(name) for name in names]
    restored = _numbers(origin for origin in origins if origin is not None)
    command = shlex.join(["chorus", "redo", *(str(entry.n) for entry in named)])
    # A revert that is redone is named by the actions that it reverted, if these are still known.
    is_revert = any(entry.id == record.action for entry, record in zip(named, records, strict=True))
    numbers = restored if is_revert and restored else [entry.n for entry in named]
    plan = plan_revert(recorder, targets, Asked(numbers, command, redo=True), step=step)
    return PreparedRevert(plan, "Redo", {**_describe_plan(recorder, plan, step), "restored": restored})


def apply_prepared(recorder: Recorder, prepared: PreparedRevert, *, busy: Collection[str] = ()) -> RevertJson:
    """Write the files and record the change.

    `busy`: files that open calls may write. Raises FileBusy if the plan changes one of them.
    """
    paths = prepared.result["paths"]
    busy_paths = {recorder.workspace.locate(path) for path in busy}.intersection(paths)
    if busy_paths:
        names = ", ".join(sorted(map(str, busy_paths)))
        raise FileBusy(f"the agent is still editing {names}; nothing was changed")
    recorded = apply_revert(recorder, prepared.plan, verb=prepared.verb)
    return {**prepared.result, "n": recorded[-1].record.number, "made": _numbers(recorded)}


def keep(recorder: Recorder, selection: Selection, *, undo: bool = False) -> KeepJson:
    """Mark open actions as kept. With `undo`, mark kept actions as open again."""
    status, mark = ("kept", "open") if undo else ("committed", "kept")
    chosen = [entry for entry in _select(recorder.entries(), selection) if entry.status == status]
    names = dict.fromkeys(name for entry in chosen if (name := entry.within or entry.id))
    if names:
        recorder.mark(mark, names)
    numbers = [entry.n for entry in chosen if entry.n is not None]
    return {"kept": [] if undo else numbers, "reopened": numbers if undo else []}


def select_changes(
    recorder: Recorder, selection: Selection, step: Callable[[], None] = lambda: None
) -> list[TimelineCommit]:
    """The selected actions that changed something and are not reverted.

    Raises NothingToRevert if there are none. Also raises it if the user named an action that changed nothing
    or is already reverted.
    """
    entries = recorder.entries()
    reverted = recorder.log.reverted
    found: dict[str, TimelineCommit] = {}
    for entry in _select(entries, selection):
        step()
        recorded = recorder.timeline.find_action(entry.within or entry.id or "")
        if recorded is None:
            if selection.actions:
                raise NothingToRevert(f"action {entry.n} changed nothing ({entry.status})")
        elif recorded.record.action not in reverted:
            found[recorded.oid] = recorded
        elif selection.actions:
            raise NothingToRevert(f"action {entry.n} is already reverted")
    if not found:
        raise NothingToRevert("there is nothing to revert")
    return list(found.values())


def _refuse_part_of_group(
    recorder: Recorder, selection: Selection, targets: Sequence[TimelineCommit]
) -> None:
    """Refuse to revert only some of the actions that share a record: their lines cannot be separated."""
    entries = recorder.entries()
    chosen = {entry.id for entry in _select(entries, selection)}
    groups: dict[str, list[LogEntry]] = {
        target.record.action: [] for target in targets if target.record.action
    }
    for entry in entries:
        if entry.within in groups:
            groups[entry.within].append(entry)
        elif entry.id in groups:
            groups[entry.id].append(entry)
    for group in groups.values():
        if not chosen.issuperset(entry.id for entry in group):
            numbers = [str(entry.n) for entry in group]
            raise Inseparable(
                f"actions {' and '.join(numbers)} changed the same lines and cannot be separated",
                hint=f"Revert them together: `chorus revert {' '.join(numbers)}`.",
            )


def _scope(recorder: Recorder, targets: Sequence[TimelineCommit], selection: Selection) -> RevertScope:
    paths = [_locate_in(recorder, targets, path) for path in selection.paths] or None
    if not selection.hunks:
        return RevertScope(paths)
    if len(targets) != 1:
        raise UsageError("hunks can be chosen from one action only", hint="Give one action.")
    return RevertScope(paths, targets[0], select_hunks(list_hunks(recorder, targets[0]), selection.hunks))


def _locate_in(recorder: Recorder, targets: Sequence[TimelineCommit], path: str) -> RepoPath:
    """Resolve a path the user named: a file the actions changed, or a directory above one."""
    root = recorder.workspace.locate(path)
    edits = (edit for target in targets for edit in recorder.timeline.edits(target))
    if root is None or not any(is_at_or_below(edit.path, [root]) for edit in edits):
        actions = list_of([target.record.number for target in targets], "action")
        raise NothingToRevert(
            f"{actions} did not change {root or path}",
            hint="Run `chorus log --path PATH` to list the actions that changed a path.",
        )
    return root


def _select(entries: Sequence[LogEntry], selection: Selection) -> list[LogEntry]:
    if selection.actions and (selection.turns or selection.lane is not None):
        raise UsageError("actions cannot be combined with a turn or a lane", hint="Leave one out.")
    if selection.actions:
        found = [find_entry(entries, name) for name in selection.actions]
        return list({entry.n: entry for entry in found}.values())
    if not selection.turns and selection.lane is None:
        raise UsageError(
            "no ACTION, --turn or --lane was given", hint="Run `chorus log` to list actions and turns."
        )
    if selection.lane is not None:
        refuse_unknown_lane(entries, selection.lane)
    turns = {find_turn(entries, turn) for turn in selection.turns}
    lanes = lane_spellings(selection.lane) if selection.lane is not None else None
    return [
        entry
        for entry in entries
        if entry.n is not None
        and not entry.reverts
        and (not turns or entry.turn in turns)
        and (lanes is None or entry.lane in lanes)
    ]


def _find_revert(recorder: Recorder, entry: LogEntry) -> TimelineCommit:
    """The revert to undo: the entry itself if it is a revert, otherwise the newest revert of the entry.

    A revert that was itself reverted does not count. Raises NothingToRevert if no revert is left.
    """
    if entry.tool == REVERT_TOOL and entry.id:
        own = recorder.timeline.find_action(entry.id)
        if own is not None and entry.status != "reverted":
            return own
    reverted = recorder.log.reverted
    name = entry.within or entry.id
    for recorded in reversed(recorder.timeline.records):
        record = recorded.record
        if name in (*record.reverts, *record.reverts_part) and record.action not in reverted:
            return recorded
    raise NothingToRevert(
        f"action {entry.n} is not reverted",
        hint="Run `chorus log --status reverted` to list the reverted actions.",
    )


def _describe_plan(recorder: Recorder, plan: RevertPlan, step: Callable[[], None]) -> RevertJson:
    before = {write.path: write.now for write in plan.writes}
    patch = render_patch(recorder, before, {write.path: write.new for write in plan.writes})
    paths: list[str] = sorted(write.path for write in plan.writes)
    reverted = _numbers(revert.action for revert in plan.reverts)
    result: RevertJson = {"n": None, "reverted": reverted, "paths": paths, "patch": patch}
    if warnings := find_warnings(recorder, plan, step):
        result["warnings"] = warnings
    return result


def _revert_command(selection: Selection, named: Iterable[int | None]) -> str:
    turns = (word for turn in selection.turns for word in ("--turn", shorten_turn(turn)))
    lane = () if selection.lane is None else ("--lane", selection.lane)
    paths = (word for path in selection.paths for word in ("--path", path))
    hunks = (word for hunk in selection.hunks for word in ("--hunk", str(hunk)))
    return shlex.join(["chorus", "revert", *map(str, named), *turns, *lane, *paths, *hunks])


def _numbers(records: Iterable[TimelineCommit]) -> list[int]:
    return [recorded.record.number for recorded in records if recorded.record.number is not None]
