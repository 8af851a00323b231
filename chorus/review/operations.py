"""Keep, take back and bring back actions: what people do with the log.

Receives actions by name. Gives what was done. A revert is an action of its own, so it can be taken back
too. Nothing here blocks the agent: every operation takes the recording lock for its own short time.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from chorus.errors import ChorusError, UsageError
from chorus.history.log.entry import REVERT, LogEntry, find_reverted
from chorus.history.log.lookup import find_entry, find_turn, refuse_unknown_lane
from chorus.history.recorder import Recorder
from chorus.history.timeline_log import TimelineCommit
from chorus.model.ids import RepoPath
from chorus.review.revert.apply import NothingToRevert, apply_revert
from chorus.review.revert.file_content import render_patch
from chorus.review.revert.hunks import hunks_json, list_hunks, select_hunks
from chorus.review.revert.plan import RevertPlan, RevertScope, is_below, plan_revert


class FileBusy(ChorusError):
    """A call that is under way names a file of the plan. Nothing was changed."""

    hint = "Try again when the call is over."


@dataclass(frozen=True, slots=True)
class Selection:
    """Which actions are meant: named ones, all of a turn, all of a lane; or of those a path's part.

    `hunks`: of one action, only these, by number.
    """

    actions: Sequence[str] = ()
    turn: str | None = None
    lane: str | None = None
    paths: Sequence[str] = ()
    hunks: Sequence[int] = ()


def revert(
    recorder: Recorder,
    selection: Selection,
    *,
    dry_run: bool = False,
    with_dependents: bool = False,
    markers: bool = False,
    busy: Collection[str] = (),
) -> dict[str, Any]:
    """Take the selected actions back, or say what that would change.

    `busy`: files that somebody is just about to write; rather than touch one, it raises FileBusy.
    """
    targets = select_changes(recorder, selection)
    extent = _extent(recorder, targets, selection)
    plan = plan_revert(recorder, targets, extent=extent, with_dependents=with_dependents, markers=markers)
    return _carry_out(recorder, plan, dry_run=dry_run, word="Revert", busy=busy)


def hunks(recorder: Recorder, action: str) -> list[dict[str, Any]]:
    """What of an action can be taken back by itself, with the numbers to name it by."""
    (target,) = select_changes(recorder, Selection([action]))
    return hunks_json(list_hunks(recorder, target))


def redo(
    recorder: Recorder, selection: Selection, *, dry_run: bool = False, busy: Collection[str] = ()
) -> dict[str, Any]:
    """Bring back what was reverted: name the action, or its revert."""
    entries = recorder.entries()
    targets = [_revert_of(recorder, find_entry(entries, name)) for name in selection.actions]
    if not targets:
        raise UsageError("name the action to bring back")
    plan = plan_revert(recorder, targets)
    done = _carry_out(recorder, plan, dry_run=dry_run, word="Redo", busy=busy)
    origins = [recorder.timeline.find_action(name) for target in targets for name in target.record.reverts]
    return {**done, "restored": [origin.record.number for origin in origins if origin is not None]}


def keep(recorder: Recorder, selection: Selection) -> list[int]:
    """Mark actions as reviewed."""
    chosen = [e for e in _select(recorder.entries(), selection) if e.status == "committed"]
    names = [entry.within or entry.id for entry in chosen]
    recorder.mark("kept", dict.fromkeys(name for name in names if name))
    return [entry.n for entry in chosen if entry.n is not None]


def select_changes(recorder: Recorder, selection: Selection) -> list[TimelineCommit]:
    """The selected actions that changed something and still stand."""
    reverted = find_reverted(recorder.timeline.records)
    found: dict[str, TimelineCommit] = {}
    for entry in _select(recorder.entries(), selection):
        recorded = recorder.timeline.find_action(entry.within or entry.id or "")
        if recorded is None:
            if selection.actions:
                raise NothingToRevert(f"action {entry.n} changed nothing ({entry.status})")
        elif recorded.record.action not in reverted:
            found[recorded.oid] = recorded
        elif selection.actions:
            raise NothingToRevert(f"action {entry.n} is taken back already")
    if not found:
        raise NothingToRevert("there is nothing to take back")
    return list(found.values())


def _extent(recorder: Recorder, targets: Sequence[TimelineCommit], selection: Selection) -> RevertScope:
    paths = [_locate_in(recorder, targets, path) for path in selection.paths] or None
    if not selection.hunks:
        return RevertScope(paths)
    if len(targets) != 1:
        raise UsageError("hunks are taken back of one action at a time", hint="Name one action.")
    return RevertScope(paths, targets[0], select_hunks(list_hunks(recorder, targets[0]), selection.hunks))


def _locate_in(recorder: Recorder, targets: Sequence[TimelineCommit], path: str) -> RepoPath:
    """A path as a person names it: of a file the actions changed, or of a directory above one."""
    root = recorder.workspace.locate(path)
    edits = (edit for target in targets for edit in recorder.timeline.edits(target))
    if root is None or not any(is_below(edit.path, [root]) for edit in edits):
        numbers = ", ".join(str(target.record.number) for target in targets)
        raise NothingToRevert(f"action {numbers} did not change {root or path}")
    return root


def _select(entries: Sequence[LogEntry], selection: Selection) -> list[LogEntry]:
    if selection.actions and (selection.turn is not None or selection.lane is not None):
        raise UsageError("actions are named one by one, or by their turn and lane", hint="Leave one out.")
    if selection.actions:
        found = [find_entry(entries, name) for name in selection.actions]
        return list({entry.n: entry for entry in found}.values())
    if selection.turn is None and selection.lane is None:
        raise UsageError("name the actions, or a turn or a lane", hint="`chorus log` lists them.")
    if selection.lane is not None:
        refuse_unknown_lane(entries, selection.lane)
    turn = find_turn(entries, selection.turn) if selection.turn is not None else None
    return [
        entry
        for entry in entries
        if entry.n is not None
        and not entry.reverts
        and turn in (None, entry.turn)
        and (selection.lane is None or entry.lane in (selection.lane, f"chorus/{selection.lane}"))
    ]


def _revert_of(recorder: Recorder, entry: LogEntry) -> TimelineCommit:
    """The revert that is to be taken back: the entry itself, or the newest one that took it back."""
    if entry.tool == REVERT and entry.id:
        own = recorder.timeline.find_action(entry.id)
        if own is not None and entry.status != "reverted":
            return own
    reverted = find_reverted(recorder.timeline.records)
    for recorded in reversed(recorder.timeline.records):
        if (entry.within or entry.id) in recorded.record.reverts and recorded.record.action not in reverted:
            return recorded
    raise NothingToRevert(f"action {entry.n} is not taken back")


def _carry_out(
    recorder: Recorder, plan: RevertPlan, *, dry_run: bool, word: str, busy: Collection[str]
) -> dict[str, Any]:
    before = {change.path: change.now for change in plan.changes}
    patch = render_patch(recorder, before, {change.path: change.new for change in plan.changes})
    numbers = [step.action.record.number for step in plan.steps]
    paths = sorted(change.path for change in plan.changes)
    answer = {"n": None, "reverted": numbers, "paths": paths, "patch": patch}
    if dry_run:
        return answer
    taken = {recorder.workspace.locate(path) for path in busy}.intersection(paths)
    if taken:
        raise FileBusy(f"{', '.join(map(str, taken))} is being edited")
    recorded = apply_revert(recorder, plan, word=word)
    return {**answer, "n": recorded[-1].record.number, "made": [r.record.number for r in recorded]}
