"""Drop lanes and restore them.

A drop saves the branch's tip next to the timeline and deletes the branch. The commits stay until `chorus gc`
removes them.
"""

from collections.abc import Sequence

from chorus.errors import NotFound
from chorus.history.lanes.lanes import Lane
from chorus.history.recorder import Recorder
from chorus.model.ids import Oid
from chorus.review.landing.target import find_lane
from chorus.store.maintenance.removal import LaneInUse

DROPPED = "dropped"  # the kind of the mark


class NoSuchLane(NotFound):
    hint = "Run `chorus lanes` to list the lanes."


def drop(recorder: Recorder, name: str | None) -> list[str]:
    """Delete the branch of one lane, or of every lane of this work tree; return their names.

    The user may have made a branch with the name of a dropped lane. That branch is deleted only if `name` is
    its name.
    """
    with recorder.journal.writing():
        existing = recorder.lanes.existing() if name is None else _with_tip(recorder, name)
        if not existing:
            if name is None:
                raise NoSuchLane("there is no lane to drop")
            restoring = f"Restore it with `chorus drop {name} --restore`."
            raise NoSuchLane(f"{name} is already dropped", hint=restoring)
        _refuse_checked_out(recorder, [lane for lane, _ in existing])
        for lane, tip in existing:
            recorder.journal.append_mark({"kind": DROPPED, "lane": lane.name, "tip": tip})
            recorder.workspace.refs.delete(lane.ref, tip, "chorus: drop")
        return [lane.name for lane, _ in existing]


def _with_tip(recorder: Recorder, name: str) -> list[tuple[Lane, Oid]]:
    lane = find_lane(recorder, name)
    tip = recorder.workspace.refs.read(lane.ref)
    return [] if tip is None else [(lane, tip)]


def restore(recorder: Recorder, name: str) -> list[str]:
    with recorder.journal.writing():
        lane = find_lane(recorder, name)
        if recorder.workspace.refs.read(lane.ref) is not None:
            raise NoSuchLane(f"{lane.name} is not dropped")
        tip = _find_tip(recorder, lane)
        if tip is None or not recorder.workspace.store.has(tip):
            raise NoSuchLane(
                f"the commits of {lane.name} are gone: `chorus gc` deletes those of dropped lanes",
                hint=f"Run `chorus diff --lane {lane.name}` to see its changes, which are still recorded.",
            )
        recorder.workspace.refs.update(lane.ref, tip, None, "chorus: restore")
        return [lane.name]


def _find_tip(recorder: Recorder, lane: Lane) -> Oid | None:
    """The former tip of the branch: the one saved by a drop, or the lane's last commit if that is newer."""
    lines, records = recorder.journal.marks.lines, recorder.timeline.records
    stored = next(
        (x["tip"] for x in reversed(lines) if x["kind"] == DROPPED and x["lane"] == lane.name), None
    )
    placed = (r for r in reversed(records) if r.record.lane_commit and r.record.lane_commit.lane == lane.name)
    last = next((recorder.current_commit(recorded) for recorded in placed), None)
    if stored is None or last is None:
        return Oid(stored) if stored else last
    is_ancestor = recorder.workspace.repository.git.attempt("merge-base", "--is-ancestor", stored, last)
    return Oid(stored) if is_ancestor.returncode else last


def _refuse_checked_out(recorder: Recorder, lanes: Sequence[Lane]) -> None:
    checked_out = recorder.workspace.repository.checked_out()
    for lane in lanes:
        if lane.ref in checked_out:
            raise LaneInUse(f"{lane.name} is checked out in {checked_out[lane.ref]}")
