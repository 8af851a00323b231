"""The hunks of an action, each of which can be taken back by itself.

Receives an action's record. Gives its hunks in the order and with the numbers in which git prints them, and
a file with only some of them undone. What has no lines (a mode, a created, deleted or binary file) is one
piece. Never touches a disk.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from chorus.changes.diff import split_lines
from chorus.errors import NotFound
from chorus.history.recorder import Recorder
from chorus.history.timeline_log import TimelineCommit
from chorus.model.ids import RepoPath
from chorus.review.revert.file_content import Content, Side, render_patch, stored_content
from chorus.store.objects.tree_object import SYMLINK_MODE

_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class NoSuchHunk(NotFound):
    hint = "`chorus revert ACTION -p --json` lists the hunks with their numbers."


@dataclass(frozen=True, slots=True)
class LineRanges:
    """Lines `before` became lines `after`, context included. Counted from 0, the end not included."""

    before: tuple[int, int]
    after: tuple[int, int]


@dataclass(frozen=True, slots=True)
class PatchHunk:
    number: int
    path: RepoPath
    head: str  # what git prints above a file's hunks
    text: str
    part: LineRanges | Literal["mode", "file"]


def list_hunks(recorder: Recorder, recorded: TimelineCommit) -> list[PatchHunk]:
    found: list[PatchHunk] = []
    for edit in recorder.timeline.edits(recorded):
        before, after = (stored_content(recorder, entry) for entry in (edit.before, edit.after))
        patch = render_patch(recorder, {edit.path: before}, {edit.path: after})
        for head, text, part in _split(patch, before, after):
            found.append(PatchHunk(len(found) + 1, edit.path, head, text, part))
    return found


def hunks_json(pieces: Collection[PatchHunk]) -> list[dict[str, Any]]:
    return [{"n": p.number, "path": p.path, "patch": p.head + p.text} for p in pieces]


def select_hunks(pieces: Collection[PatchHunk], numbers: Collection[int]) -> list[PatchHunk]:
    unknown = sorted(set(numbers) - {piece.number for piece in pieces})
    if unknown:
        raise NoSuchHunk(f"there is no hunk {unknown[0]}; the action has {len(pieces)}")
    return [piece for piece in pieces if piece.number in numbers]


def revert_hunks(before: Side, after: Side, chosen: Collection[PatchHunk]) -> Side:
    """`after` with the chosen pieces, of this one file, as they were before."""
    if before is None or after is None:
        return before if chosen else after
    mode, lines = after.mode, split_lines(after.data)
    old = split_lines(before.data)
    for piece in sorted(chosen, key=lambda piece: piece.number, reverse=True):
        match piece.part:
            case "file":
                return before
            case "mode":
                mode = before.mode
            case LineRanges(was, became):
                lines[slice(*became)] = old[slice(*was)]
    return Content(mode, b"".join(lines))


def _split(
    patch: str, before: Side, after: Side
) -> Iterator[tuple[str, str, LineRanges | Literal["mode", "file"]]]:
    """Head, text and part of each piece."""
    if before is None or after is None or SYMLINK_MODE in (before.mode, after.mode):
        yield patch, "", "file"
        return
    head, *hunks = re.split(r"^(?=@@ )", patch, flags=re.MULTILINE)
    if before.mode != after.mode:
        yield head, "", "mode"
    if before.data != after.data and not hunks:
        yield patch, "", "file"
    for hunk in hunks:
        found = _HEADER.match(hunk)
        assert found is not None
        start, count, new_start, new_count = (int(text or 1) for text in found.groups())
        yield head, hunk, LineRanges(_range(start, count), _range(new_start, new_count))


def _range(start: int, count: int) -> tuple[int, int]:
    """git counts from 1, and names the line before an empty range."""
    first = start - 1 if count else start
    return first, first + count
