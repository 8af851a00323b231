"""Drop the oldest records of a timeline, so that git can free their objects.

Stops at the first record that is younger than the limit, still open for review, or on an existing lane. That
record and all newer ones are rewritten on top of a new start record, with the same trees, messages and
numbers.
"""

from dataclasses import replace

from chorus.history.recorder import Recorder
from chorus.history.records import Record, RecordKind, render_record
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.history.workspace import Authorship
from chorus.model.ids import Oid
from chorus.model.lane_name import lane_ref

FORGOTTEN_SUMMARY = "start: what came before is forgotten"


def forget_old_records(recorder: Recorder, before_seconds: int) -> int:
    """Drop the oldest records, up to the first that must stay, and return their number.

    `before_seconds`: records written at this time (in seconds since the epoch) or later must stay.
    """
    with recorder.journal.writing():
        count = count_droppable(recorder, before_seconds)
        if count:
            apply_forgetting(recorder, count)
        return count


def count_droppable(recorder: Recorder, before_seconds: int) -> int:
    """Count the oldest records that can be dropped. The newest record always stays."""
    still_open = {entry.id for entry in recorder.entries() if entry.open}
    count = 0
    for recorded in recorder.timeline.records[:-1]:
        young = recorded.seconds >= before_seconds
        if young or recorded.record.action in still_open or _is_on_lane(recorder, recorded):
            break
        count += 1
    # Dropping only the start record would gain nothing: a new start replaces it.
    return count if count > 1 else 0


def _is_on_lane(recorder: Recorder, recorded: TimelineCommit) -> bool:
    lane_commit = recorded.record.lane_commit
    return lane_commit is not None and recorder.workspace.refs.read(lane_ref(lane_commit.lane)) is not None


def apply_forgetting(recorder: Recorder, count: int) -> None:
    workspace, timeline = recorder.workspace, recorder.timeline
    last, old_tip = timeline.records[count - 1], timeline.tip
    start = Record(RecordKind.START, FORGOTTEN_SUMMARY, head=last.record.head)
    tip = workspace.commit(last.tree, (), render_record(start), Authorship(last.seconds))
    for recorded in timeline.records[count:]:
        tip = _rewrite(recorder, recorded, tip)
    workspace.refs.update(timeline.ref, tip, old_tip, f"forget {count} records")
    timeline.refresh()
    recorder.journal.renew_head_mark(old_tip)


def _rewrite(recorder: Recorder, recorded: TimelineCommit, parent: Oid) -> Oid:
    commit = recorder.workspace.store.read_commit(recorded.oid)
    return recorder.workspace.store.write_commit(replace(commit, parents=(parent,)))
