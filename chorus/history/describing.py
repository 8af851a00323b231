"""A record made from an action and its edits, and the words in it.

Receives what the client says and what changed, reads the two contents of each edit, gives counts and lines
for people. Never writes.
"""

import datetime
from collections.abc import Sequence

from chorus.changes.summary import ChangeKind, FileChange, count_lines, render_file
from chorus.history.records import Edit, Record, RecordKind
from chorus.history.workspace import PLAIN_MODES, Workspace
from chorus.model.action import Action

# Lines are counted in so many files, and each has its own line in the message; the rest are only counted.
MOST_FILES = 50
# Of the user's message: some 150 lines.
MOST_CHARACTERS = 10_000


def describe(workspace: Workspace, edits: Sequence[Edit]) -> list[FileChange]:
    counted = [describe_edit(workspace, edit) for edit in edits[:MOST_FILES]]
    return counted + [FileChange(edit.path, kind_of(edit)) for edit in edits[MOST_FILES:]]


def describe_edit(workspace: Workspace, edit: Edit) -> FileChange:
    kind = kind_of(edit)
    if kind is ChangeKind.LINK:
        return FileChange(edit.path, kind)
    added, removed = count_lines(workspace.read(edit.before), workspace.read(edit.after))
    return FileChange(edit.path, kind, added, removed)


def kind_of(edit: Edit) -> ChangeKind:
    sides = [side for side in (edit.before, edit.after) if side is not None]
    if any(side.mode not in PLAIN_MODES for side in sides):
        return ChangeKind.LINK
    if edit.before is None:
        return ChangeKind.CREATED
    if edit.after is None:
        return ChangeKind.DELETED
    return ChangeKind.MODE if edit.before.oid == edit.after.oid else ChangeKind.MODIFIED


def file_lines(files: Sequence[FileChange]) -> tuple[str, ...]:
    lines = tuple(render_file(file) for file in files[:MOST_FILES])
    more = len(files) - MOST_FILES
    return (*lines, f"and {more} more") if more > 0 else lines


def count_changed(files: Sequence[FileChange]) -> tuple[int, int] | None:
    """Lines added and removed in all; None where nothing was counted, or not everything."""
    if len(files) > MOST_FILES:
        return None
    counted = [(f.added, f.removed) for f in files if f.added is not None and f.removed is not None]
    return (sum(a for a, _ in counted), sum(r for _, r in counted)) if counted else None


def count_files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def record_of(action: Action) -> Record:
    """What the action itself says of its record."""
    return Record(
        kind=RecordKind.ACTION,
        summary="",
        action=action.id,
        tool=action.tool,
        status=action.status,
        session=action.session,
        turn=action.turn,
        agent=action.agent,
        time=action.time,
        message=clip(action.message),
    )


def clip(message: str | None) -> str | None:
    """A message goes into two commits per action, so a very long one is cut."""
    if message is None or len(message) <= MOST_CHARACTERS:
        return message
    return message[:MOST_CHARACTERS] + "…"


def parse_time(text: str | None) -> int | None:
    """Seconds since the epoch, of the client's ISO 8601."""
    try:
        return max(0, int(datetime.datetime.fromisoformat(text or "").timestamp()))
    except (ValueError, OverflowError):
        return None


def day_of(seconds: int | None) -> str:
    moment = (
        datetime.datetime.fromtimestamp(seconds, datetime.UTC)
        if seconds
        else datetime.datetime.now(datetime.UTC)
    )
    return moment.date().isoformat()
