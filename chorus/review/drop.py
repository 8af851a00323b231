"""Lanes dropped, and brought back: the branch goes, what it held stays until it is swept.

Receives lane names. Gives what was done. The tip is remembered beside the timeline before the branch goes.
Never removes a branch somebody is on, or one that moved meanwhile.
"""

from collections.abc import Sequence

from chorus.errors import NotFound
from chorus.history.lanes import Lane
from chorus.history.recorder import Recorder
from chorus.model.ids import Oid
from chorus.review.landing.plan import find_lane
from chorus.store.maintenance.removal import LaneInUse

KIND = "dropped"


class NoSuchLane(NotFound):
    hint = "`chorus lanes` lists the lanes that are there."


def drop(recorder: Recorder, lane: str | None) -> list[str]:
    """Remove the branch of one lane, or of every lane of this work tree; their names."""
    with recorder.journal.writing():
        chosen = [find_lane(recorder, lane)] if lane is not None else recorder.lanes.all()
        tips = [(own, recorder.workspace.refs.read(own.ref)) for own in chosen]
        there = [(own, tip) for own, tip in tips if tip is not None]
        if not there:
            raise NoSuchLane(f"{lane} is dropped already" if lane else "there is no lane to drop")
        _refuse_used(recorder, [own for own, _ in there])
        for own, tip in there:
            recorder.journal.append_mark({"kind": KIND, "lane": own.name, "tip": tip})
            recorder.workspace.refs.delete(own.ref, tip, "chorus: drop")
        return [own.name for own, _ in there]


def restore(recorder: Recorder, lane: str) -> list[str]:
    """Put the branch of a dropped lane back where it was."""
    with recorder.journal.writing():
        own = find_lane(recorder, lane)
        if recorder.workspace.refs.read(own.ref) is not None:
            raise NoSuchLane(f"{own.name} is not dropped")
        tip = _find_tip(recorder, own)
        if tip is None or not recorder.workspace.store.has(tip):
            raise NoSuchLane(f"what {own.name} held is gone")
        recorder.workspace.refs.update(own.ref, tip, None, "chorus: restore")
        return [own.name]


def _find_tip(recorder: Recorder, lane: Lane) -> Oid | None:
    """Where the branch was: as noted when it was dropped, or, if git removed it since, at its last action."""
    lines, records = recorder.journal.notes.lines, recorder.timeline.records
    noted = next((x["tip"] for x in reversed(lines) if x["kind"] == KIND and x["lane"] == lane.name), None)
    placed = (r for r in reversed(records) if r.record.lane_commit and r.record.lane_commit.lane == lane.name)
    last = next((recorder.current_commit(recorded) for recorded in placed), None)
    if noted is None or last is None:
        return Oid(noted) if noted else last
    goes_on = recorder.workspace.repository.git.attempt("merge-base", "--is-ancestor", noted, last)
    return Oid(noted) if goes_on.returncode else last


def _refuse_used(recorder: Recorder, lanes: Sequence[Lane]) -> None:
    used = recorder.workspace.repository.checked_out()
    for lane in lanes:
        if lane.ref in used:
            raise LaneInUse(f"{lane.name} is in use in {used[lane.ref]}")
