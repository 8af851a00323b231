"""Check what is recorded: the timeline against the disk, each lane against its actions. Repairs nothing."""

from collections.abc import Iterator
from dataclasses import dataclass

from chorus.history.lanes.lane_change import plan_lane_change
from chorus.history.recorder import Recorder
from chorus.history.records import Edit
from chorus.history.retention import FORGOTTEN_SUMMARY
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.model.ids import LaneName, Oid, RepoPath
from chorus.store.objects.object_store import ObjectMissing
from chorus.store.objects.trees import TreeEntry
from chorus.store.worktree.file_state import Absent, File, Skipped


@dataclass(frozen=True, slots=True)
class Problem:
    where: str
    what: str


def verify(recorder: Recorder) -> list[Problem]:
    return [*verify_history(recorder), *find_unrecorded(recorder)]


def verify_history(recorder: Recorder) -> list[Problem]:
    """Check the timeline and the lanes, but not the disk."""
    recorder.journal.refresh()
    if not recorder.timeline.records:
        return []
    with recorder.workspace.recording():
        recorder.journal.refresh()
        return [*check_timeline(recorder), *check_lanes(recorder)]


def find_unrecorded(recorder: Recorder) -> list[Problem]:
    recorder.journal.refresh()
    if not recorder.timeline.records:
        return []
    with recorder.workspace.recording():
        recorder.journal.refresh()
        return list(check_disk(recorder))


def check_timeline(recorder: Recorder) -> Iterator[Problem]:
    """Check each record: its tree must differ from the previous tree by exactly the record's edits."""
    trees, before = recorder.workspace.trees, None
    for index, recorded in enumerate(recorder.timeline.records):
        if index:
            found = {Edit(c.path, c.before, c.after) for c in trees.diff(before, recorded.tree)}
            if found != set(recorder.timeline.edits(recorded)):
                yield Problem(f"timeline {recorded.oid[:12]}", "its tree differs from what its message lists")
        before = recorded.tree


def check_disk(recorder: Recorder) -> Iterator[Problem]:
    """Compare the work tree with the newest tree of the timeline.

    Every file of that tree is read, because no timestamp is trusted. A scan finds new files and changed
    modes.
    """
    workspace, tree = recorder.workspace, recorder.timeline.tree
    assert tree is not None
    known = dict(workspace.trees.walk(tree))
    differing = {path for path, entry in known.items() if not is_on_disk(recorder, path, entry)}
    found = {change.path for change in workspace.scanner.changed(tree).changes}
    for path in sorted(differing | found):
        what = "differs on disk from the timeline" if path in known else "is on disk but not on the timeline"
        yield Problem(path, what)


def is_on_disk(recorder: Recorder, path: RepoPath, entry: TreeEntry) -> bool:
    workspace = recorder.workspace
    match workspace.work_tree.read_file(path):
        case File(data=data):
            return data == workspace.read(entry)
        case Absent():
            return False
        case Skipped():
            return True  # no longer followed


def check_lanes(recorder: Recorder) -> Iterator[Problem]:
    """Check that each lane has the commits that its actions make, and that its branch is at the last commit.

    Dropped lanes are skipped: their commits may be gone. If old history was forgotten, the first known commit
    of each lane is not checked.
    """
    tips = {lane.name: recorder.workspace.refs.read(lane.ref) for lane in recorder.lanes.all()}
    last: dict[LaneName, Oid] = {}
    whole = recorder.timeline.records[0].record.summary != FORGOTTEN_SUMMARY
    for recorded in recorder.timeline.records:
        lane_commit = recorded.record.lane_commit
        if lane_commit is not None and tips[lane_commit.lane] is not None:
            commit = recorder.current_commit(recorded)
            # The parent of a lane's first known commit may have been dropped from the timeline.
            if whole or lane_commit.lane in last:
                yield from check_action(
                    recorder, recorded, commit, last.get(lane_commit.lane, lane_commit.base)
                )
            last[lane_commit.lane] = commit
    for lane, tip in tips.items():
        if tip is not None and tip != last[lane]:
            yield Problem(lane, f"is at {tip[:12]}, not at its last action: someone moved it")


def check_action(
    recorder: Recorder, recorded: TimelineCommit, commit: Oid, before: Oid | None
) -> Iterator[Problem]:
    workspace, where = recorder.workspace, f"action {recorded.record.number}"
    try:
        tree = workspace.store.read_commit(before).tree if before else None
        edits = recorder.timeline.edits(recorded)
        plan = plan_lane_change(
            workspace, tree, edits, lambda edit: recorder.lanes.lines.at_edit(edit, recorded)
        )
        expected = workspace.trees.splice(workspace.trees.splice(tree, plan.context), plan.changes)
        if workspace.store.read_commit(commit).tree != expected:
            yield Problem(where, f"the tree of commit {commit[:12]} differs from replaying its change")
    except ObjectMissing as missing:
        yield Problem(where, str(missing))
