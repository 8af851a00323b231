"""The beginning of a timeline forgotten, so that its bytes can go.

Receives an age. Drops the oldest records, up to the first that is younger, still to be reviewed, or on a lane
that is there; the rest is written again, with the same trees, messages and numbers, on a new start. Never
forgets what `revert`, a lane or a person may still ask for.
"""

from dataclasses import replace

from chorus.history.chain import Recorded
from chorus.history.lanes import HEADS
from chorus.history.recorder import Recorder
from chorus.history.records import Kind, Record, render_record
from chorus.history.site import Moment
from chorus.model.ids import Oid

FORGOTTEN = "start: what came before is forgotten"


def forget(recorder: Recorder, older_than_seconds: int) -> int:
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


def on_a_lane(recorder: Recorder, recorded: Recorded) -> bool:
    placement = recorded.record.placement
    return placement is not None and recorder.site.refs.read(HEADS + placement.lane) is not None


def apply_forgetting(recorder: Recorder, count: int) -> None:
    site, timeline = recorder.site, recorder.timeline
    last, old_tip = timeline.records[count - 1], timeline.tip
    start = Record(Kind.START, FORGOTTEN, head=last.record.head)
    tip = site.commit(last.tree, (), render_record(start), Moment(last.seconds))
    for recorded in timeline.records[count:]:
        tip = on_top_of(recorder, recorded, tip)
    site.refs.update(timeline.ref, tip, old_tip, f"forget {count} records")
    timeline.refresh()


def on_top_of(recorder: Recorder, recorded: Recorded, parent: Oid) -> Oid:
    commit = recorder.site.store.read_commit(recorded.oid)
    return recorder.site.store.write_commit(replace(commit, parents=(parent,)))
