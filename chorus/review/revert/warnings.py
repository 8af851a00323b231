"""Warn if a revert removes names that later actions use in the same file."""

from collections.abc import Callable, Iterator

from chorus.changes.lost_names import added_mentions, lost_names
from chorus.history.recorder import Recorder
from chorus.history.records import Edit, RecordKind
from chorus.model.api.json_api import RevertWarningJson
from chorus.model.ids import RepoPath
from chorus.review.revert.file_content import read_stored
from chorus.review.revert.plan import RevertPlan


def find_warnings(
    recorder: Recorder, plan: RevertPlan, step: Callable[[], None] = lambda: None
) -> list[RevertWarningJson]:
    """Return a warning for each later action that uses names which the plan removes from the same file."""
    found: list[RevertWarningJson] = []
    later_edits = _LaterEdits(recorder, plan)
    for write in plan.writes:
        if write.now is None or write.new is None:
            continue
        names = lost_names(write.now.data, write.new.data)
        if not names:
            continue
        for number, edit in later_edits.of(write.path):
            step()
            before, after = read_stored(recorder, edit.before), read_stored(recorder, edit.after)
            if after is None:
                continue
            used = added_mentions(before.data if before else b"", after.data, write.new.data, names)
            if used:
                texts = [name.decode("utf-8", "replace") for name in used]
                found.append({"path": write.path, "names": texts, "by": number})
    return sorted(found, key=lambda warning: (warning["path"], warning["by"]))


class _LaterEdits:
    """For each file, the later edits that a revert may break.

    An edit is later if its action is newer than the oldest action to revert in that file. Reverts, reverted
    actions and the actions to revert do not count.
    """

    def __init__(self, recorder: Recorder, plan: RevertPlan) -> None:
        self._timeline = recorder.timeline
        self._targets = {revert.action.oid for revert in plan.reverts}
        self._reverted = recorder.log.reverted
        self._oldest: dict[RepoPath, int] = {}
        for revert in plan.reverts:
            position = self._timeline.position(revert.action)
            for path, _, _ in revert.edits:
                self._oldest[path] = min(position, self._oldest.get(path, position))

    def of(self, path: RepoPath) -> Iterator[tuple[int, Edit]]:
        timeline, oldest = self._timeline, self._oldest[path]
        for later in timeline.touching(path):
            if timeline.position(later) <= oldest:
                return
            record = later.record
            if record.kind is not RecordKind.ACTION or record.number is None or later.oid in self._targets:
                continue
            if record.action in self._reverted or record.reverts or record.reverts_part:
                continue
            yield record.number, next(edit for edit in timeline.edits(later) if edit.path == path)
