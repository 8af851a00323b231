"""Carrying a revert out: every file of the plan, or none, and then the record of it.

Receives a plan made a moment ago. What the disk holds is on the timeline before a byte is written; what
is to be written is noted before the first file, so that a crash in between is finished by whoever records
next. Touches the plan's files and nothing else.
"""

import json
import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chorus.errors import ChorusError, NotFound
from chorus.history.recorder import Recorder
from chorus.history.records import Edit, parse_edit, render_edit
from chorus.history.timeline_log import TimelineCommit
from chorus.model.action import Action, WriteScope
from chorus.model.ids import Oid, RepoPath, ToolUseId
from chorus.review.revert.file_content import Side
from chorus.review.revert.file_writes import write_files, write_if_unchanged
from chorus.review.revert.plan import ActionRevert, RevertPlan
from chorus.store.objects.trees import TreeEntry


class NothingToRevert(NotFound):
    hint = "`chorus log` shows what is recorded and what was taken back already."


@dataclass(frozen=True, slots=True)
class RevertRecord:
    """One record of a revert: what it takes back on one lane."""

    id: ToolUseId
    lane_of: str  # an action of the lane this goes on
    said: str
    reverts: tuple[str, ...]
    edits: tuple[Edit, ...]


def apply_revert(recorder: Recorder, plan: RevertPlan, *, word: str = "Revert") -> list[TimelineCommit]:
    """Write the files and record it. Raises, with everything as it was, if a file changed meanwhile."""
    if not plan.changes:
        raise NothingToRevert("there is nothing left to take back")
    with recorder.journal.writing():
        recorder.record_before_call([change.path for change in plan.changes])
        parts = [_part(recorder, step, word) for step in plan.steps if step.edits]
        intent = PendingRevert(recorder)
        intent.write([_edit(recorder, c.path, c.now, c.new) for c in plan.changes], parts)
        try:
            write_files(recorder, plan.changes)
        except ChorusError:
            intent.clear()
            raise
        recorded = [_record(recorder, part) for part in parts]
        intent.clear()
        return recorded


def recover_revert(recorder: Recorder) -> list[TimelineCommit]:
    """Finish a revert whose process died: write the files that are still as it found them, then record it.

    A file that somebody changed since stays as it is.
    """
    with recorder.journal.writing():
        intent = PendingRevert(recorder)
        left = intent.read()
        if left is None:
            return []
        edits, parts = left
        for path in {edit.path.rpartition("/")[0]: edit.path for edit in edits}.values():
            recorder.workspace.work_tree.remove_scratch_files(path)
        write_if_unchanged(recorder, edits)
        new = [part for part in parts if not recorder.journal.knows(part.id)]
        recorded = [_record(recorder, part) for part in new]
        intent.clear()
        return recorded


class PendingRevert:
    """The note that a revert is under way."""

    def __init__(self, recorder: Recorder) -> None:
        self._place: Path = recorder.workspace.repository.own_dir / "reverting.json"

    def write(self, edits: Sequence[Edit], parts: Sequence[RevertRecord]) -> None:
        values = {
            "edits": [render_edit(edit) for edit in edits],
            "parts": [_part_json(part) for part in parts],
        }
        temporary = self._place.with_suffix(".tmp")
        with temporary.open("w", encoding="ascii") as file:
            json.dump(values, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._place)

    def read(self) -> tuple[list[Edit], list[RevertRecord]] | None:
        try:
            values = json.loads(self._place.read_bytes())
        except FileNotFoundError:
            return None
        parts = [_parse_part(part) for part in values["parts"]]
        return [parse_edit(edit) for edit in values["edits"]], parts

    def clear(self) -> None:
        self._place.unlink(missing_ok=True)


def _record(recorder: Recorder, part: RevertRecord) -> TimelineCommit:
    origin = recorder.timeline.find_action(part.lane_of)
    assert origin is not None
    record, lane_commit = origin.record, origin.record.lane_commit
    # A lane that was dropped stays dropped, and one that somebody is on does not move under them.
    lane = recorder.lanes.find_free(lane_commit.lane, recorder.journal.heads.base) if lane_commit else None
    paths = tuple(str(edit.path) for edit in part.edits)
    action = Action(
        part.id, "Revert", {}, "succeeded", record.session, record.turn, None, paths, WriteScope.NAMED, None,
        part.said, record.message, None,
    )  # fmt: skip
    return recorder.journal.append_action(
        action,
        part.edits,
        source="chorus",
        reverts=part.reverts,
        lane=lane,
    )


def _part(recorder: Recorder, step: ActionRevert, word: str) -> RevertRecord:
    record = step.action.record
    assert record.action is not None
    name = f"{word} {record.number}" if step.whole else f"{word} part of {record.number}"
    return RevertRecord(
        ToolUseId(f"chorus-{uuid.uuid4().hex[:16]}"),
        record.action,
        f"{name}: {record.summary}",
        (record.action,) if step.whole else (),
        tuple(_edit(recorder, path, now, new) for path, now, new in step.edits),
    )


def _edit(recorder: Recorder, path: RepoPath, before: Side, after: Side) -> Edit:
    return Edit(path, _entry(recorder, before), _entry(recorder, after))


def _entry(recorder: Recorder, side: Side) -> TreeEntry | None:
    return None if side is None else TreeEntry(side.mode, Oid(recorder.workspace.store.write_blob(side.data)))


def _part_json(part: RevertRecord) -> dict[str, Any]:
    edits = [render_edit(edit) for edit in part.edits]
    return {
        "id": part.id,
        "lane_of": part.lane_of,
        "said": part.said,
        "reverts": part.reverts,
        "edits": edits,
    }


def _parse_part(values: dict[str, Any]) -> RevertRecord:
    edits = tuple(parse_edit(edit) for edit in values["edits"])
    return RevertRecord(
        ToolUseId(values["id"]), values["lane_of"], values["said"], tuple(values["reverts"]), edits
    )
