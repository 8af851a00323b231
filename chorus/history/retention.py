"""The beginning of a timeline forgotten, so that its bytes can go.

Receives an age. Drops the oldest records, up to the first that is younger, still to be reviewed, or on a lane
that is there; the rest is written again, with the same trees, messages and numbers, on a new start. Never
forgets what `revert`, a lane or a person may still ask for.
"""

from dataclasses import replace

from chorus.history.lanes import HEADS
from chorus.history.recorder import Recorder
from chorus.history.records import Record, RecordKind, render_record
from chorus.history.timeline_log import TimelineCommit
from chorus.history.workspace import Authorship
from chorus.model.ids import Oid

FORGOTTEN_SUMMARY = "start: what came before is forgotten"


def forget_old_records(recorder: Recorder, older_than_seconds: int) -> int:
    """Drop what was written before that moment and is done with; how many records went."""
    with recorder.journal.writing():
        count = plan_forgetting(recorder, older_than_seconds)
        if count:
            apply_forgetting(recorder, count)
        return count


def plan_forgetting(recorder: Recorder, older_than_seconds: int) -> int:
    """How many of the oldest records can go; the last one always stays."""
    still_open = {entry.id for entry in recorder.entries() if entry.open}
    count = 0
    for recorded in recorder.timeline.records[:-1]:
        young = recorded.seconds >= older_than_seconds
        if young or recorded.record.action in still_open or on_a_lane(recorder, recorded):
            break
        count += 1
    # A start alone is replaced by a start: nothing would be gained.
    return count if count > 1 else 0


def on_a_lane(recorder: Recorder, recorded: TimelineCommit) -> bool:
    lane_commit = recorded.record.lane_commit
    return lane_commit is not None and recorder.workspace.refs.read(HEADS + lane_commit.lane) is not None


def apply_forgetting(recorder: Recorder, count: int) -> None:
    workspace, timeline = recorder.workspace, recorder.timeline
    last, old_tip = timeline.records[count - 1], timeline.tip
    start = Record(RecordKind.START, FORGOTTEN_SUMMARY, head=last.record.head)
    tip = workspace.commit(last.tree, (), render_record(start), Authorship(last.seconds))
    for recorded in timeline.records[count:]:
        tip = on_top_of(recorder, recorded, tip)
    workspace.refs.update(timeline.ref, tip, old_tip, f"forget {count} records")
    timeline.refresh()


def on_top_of(recorder: Recorder, recorded: TimelineCommit, parent: Oid) -> Oid:
    commit = recorder.workspace.store.read_commit(recorded.oid)
    return recorder.workspace.store.write_commit(replace(commit, parents=(parent,)))
