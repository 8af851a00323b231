"""Apply a revert: write every file of the plan or none, then record the revert.

The files on disk are recorded and the new contents stored before the first file is written. So after a crash,
the next process can finish the revert.
"""

import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from chorus.errors import ChorusError, NotFound
from chorus.history.recorder import Recorder
from chorus.history.records import Edit, parse_edit, render_edit
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.model.action import Action, WriteScope
from chorus.model.ids import Oid, RepoPath, ToolUseId
from chorus.model.review_state import REVERT_TOOL
from chorus.review.pending_file import PendingFile
from chorus.review.revert.file_content import (
    Content,
    ContentConflict,
    UnreadableFile,
    read_disk,
    revert_change,
)
from chorus.review.revert.file_writes import write_files, write_if_unchanged
from chorus.review.revert.plan import ActionRevert, FileWrite, RevertPlan
from chorus.store.objects.trees import TreeEntry


class NothingToRevert(NotFound):
    hint = "Run `chorus log` to see which actions are recorded and which are already reverted."


@dataclass(frozen=True, slots=True)
class RevertRecord:
    """One record of a revert: its changes on one lane.

    The reverted action is in `reverts` if it is reverted as a whole, otherwise in `reverts_part`.
    """

    id: ToolUseId
    lane_of: str  # the action that is reverted: the record goes to its lane
    summary: str
    reverts: tuple[str, ...]
    reverts_part: tuple[str, ...]
    edits: tuple[Edit, ...]


def apply_revert(recorder: Recorder, plan: RevertPlan, *, verb: str = REVERT_TOOL) -> list[TimelineCommit]:
    """Write the files and record the revert. If a file cannot be written, undo all writes and raise."""
    if not plan.writes:
        raise NothingToRevert("there is nothing left to revert")
    with recorder.journal.writing():
        recorder.record_before_call([write.path for write in plan.writes])
        records = [_make_record(recorder, revert, verb) for revert in plan.reverts if revert.edits]
        pending = _pending_file(recorder)
        edits = [_make_edit(recorder, write.path, write.now, write.new) for write in plan.writes]
        pending.write(
            {
                "edits": [render_edit(edit) for edit in edits],
                "parts": [_record_json(r) for r in records],
                "tip": recorder.timeline.tip,
            }
        )
        try:
            write_files(recorder, plan.writes)
        except ChorusError:
            pending.clear()
            raise
        recorded = [_append(recorder, record) for record in records]
        pending.clear()
        return recorded


def restore_overwritten(recorder: Recorder, plan: RevertPlan) -> list[RepoPath]:
    """Repeat the revert in files that a program has overwritten since.

    Such a program wrote content from before the revert. Other changes made since the revert stay. Return the
    paths of the files written again.
    """
    lost: list[FileWrite] = []
    for write in plan.writes:
        with suppress(UnreadableFile):
            found, disk = read_disk(recorder, write.path)
            wanted = disk if disk == write.new else revert_change(write.new, write.now, disk)
            if wanted != disk and not isinstance(wanted, ContentConflict):
                lost.append(FileWrite(write.path, found, disk, wanted))
    paths = [write.path for write in lost]
    if paths:
        with recorder.journal.writing():
            recorder.record_before_call(paths)
            write_files(recorder, lost)
            recorder.record_outside(paths)
    return paths


def recover_revert(recorder: Recorder) -> list[TimelineCommit]:
    """Finish a revert whose process died: write the files that are not written yet, then record the revert.

    A file that someone has changed since then stays as it is. The revert is given up if such a change is
    recorded already, or if a content to write or record is missing.
    """
    with recorder.journal.writing():
        pending = _pending_file(recorder)
        try:
            values = pending.read()
            if values is None:
                return []
            edits = [parse_edit(edit) for edit in values["edits"]]
            records = [_parse_record(record) for record in values["parts"]]
            tip = values.get("tip")
        except (ValueError, TypeError, KeyError, AttributeError):
            pending.clear()
            return []
        for path in {edit.path.rpartition("/")[0]: edit.path for edit in edits}.values():
            recorder.workspace.work_tree.remove_scratch_files(path)
        recorded = []
        own = {record.id for record in records}
        stored = [
            side
            for edit in [*edits, *(e for r in records for e in r.edits)]
            for side in (edit.before, edit.after)
            if side
        ]
        is_whole = all(recorder.workspace.store.has(side.oid) for side in stored)
        if is_whole and not _is_overtaken(recorder, tip, edits, own):
            write_if_unchanged(recorder, edits)
            recorded = [_append(recorder, r) for r in records if not recorder.journal.has_action(r.id)]
        pending.clear()
        return recorded


def _is_overtaken(recorder: Recorder, tip: Oid | None, edits: Sequence[Edit], own: set[ToolUseId]) -> bool:
    """Whether a record after `tip` changed one of the revert's files. `own`: actions that do not count.

    True if `tip` is not on the timeline any more: the history was rewritten.
    """
    if tip is None:  # written by an older version
        return False
    timeline = recorder.timeline
    begun = timeline.find_commit(tip)
    if begun is None:  # the history was rewritten meanwhile
        return True
    position = timeline.position(begun)
    newer = (recorded.record for edit in edits for recorded in timeline.touching_after(edit.path, position))
    return any(record.action not in own for record in newer)


def _pending_file(recorder: Recorder) -> PendingFile:
    return PendingFile(recorder.workspace.repository.own_dir / "reverting.json")


def _append(recorder: Recorder, record: RevertRecord) -> TimelineCommit:
    """Record a revert on the timeline, and on the lane of the reverted action if that lane is free."""
    reverted = recorder.timeline.find_action(record.lane_of)
    assert reverted is not None
    origin = reverted.record
    # A dropped lane stays dropped, and a lane that is checked out does not move.
    lane = (
        recorder.lanes.find_free(origin.lane_commit.lane, recorder.journal.head_tracker.base)
        if origin.lane_commit
        else None
    )
    paths = tuple(str(edit.path) for edit in record.edits)
    action = Action(
        record.id, REVERT_TOOL, {}, "succeeded", origin.session, origin.turn, None, paths, WriteScope.NAMED,
        None, record.summary, origin.message, None,
    )  # fmt: skip
    return recorder.journal.append_action(
        action,
        record.edits,
        source="chorus",
        reverts=record.reverts,
        reverts_part=record.reverts_part,
        lane=lane,
    )


def _make_record(recorder: Recorder, revert: ActionRevert, verb: str) -> RevertRecord:
    record = revert.action.record
    assert record.action is not None
    name = f"{verb} {record.number}" if revert.complete else f"{verb} part of {record.number}"
    return RevertRecord(
        ToolUseId(f"chorus-{uuid.uuid4().hex[:16]}"),
        record.action,
        f"{name}: {recorder.log.summary_of(revert.action)}",
        (record.action,) if revert.complete else (),
        () if revert.complete else (record.action,),
        tuple(_make_edit(recorder, path, now, new) for path, now, new in revert.edits),
    )


def _make_edit(recorder: Recorder, path: RepoPath, before: Content | None, after: Content | None) -> Edit:
    return Edit(path, _write_blob(recorder, before), _write_blob(recorder, after))


def _write_blob(recorder: Recorder, content: Content | None) -> TreeEntry | None:
    if content is None:
        return None
    return TreeEntry(content.mode, Oid(recorder.workspace.store.write_blob(content.data)))


class _RecordJson(TypedDict):
    """A `RevertRecord` as it is saved on disk until the revert is done."""

    id: str
    lane_of: str
    said: str
    reverts: list[str]
    reverts_part: NotRequired[list[str]]
    edits: list[str]


def _record_json(record: RevertRecord) -> _RecordJson:
    return {
        "id": record.id,
        "lane_of": record.lane_of,
        "said": record.summary,
        "reverts": list(record.reverts),
        "reverts_part": list(record.reverts_part),
        "edits": [render_edit(edit) for edit in record.edits],
    }


def _parse_record(values: _RecordJson) -> RevertRecord:
    edits = tuple(parse_edit(edit) for edit in values["edits"])
    return RevertRecord(
        ToolUseId(values["id"]),
        values["lane_of"],
        values["said"],
        tuple(values["reverts"]),
        tuple(values.get("reverts_part", ())),
        edits,
    )
