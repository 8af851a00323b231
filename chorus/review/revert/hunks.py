"""The hunks of an action, each of which can be reverted by itself.

Hunks are numbered in the order in which git prints them. A mode change counts as one hunk, and so does a file
that is created, deleted, binary or a link.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from chorus.changes.diff import split_lines
from chorus.errors import NotFound
from chorus.history.recorder import Recorder
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.model.api.json_api import HunkJson
from chorus.model.ids import RepoPath
from chorus.review.revert.file_content import Content, read_stored, render_patch
from chorus.store.objects.tree_object import SYMLINK_MODE

_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class NoSuchHunk(NotFound):
    hint = "List the hunks with their numbers: `chorus revert ACTION -p --json`."


@dataclass(frozen=True, slots=True)
class LineRanges:
    """The lines `before` became the lines `after`, including context lines.

    Lines are counted from 0, and the end of a range is excluded.
    """

    before: tuple[int, int]
    after: tuple[int, int]


Extent: TypeAlias = LineRanges | Literal["mode", "file"]


@dataclass(frozen=True, slots=True)
class PatchHunk:
    number: int
    path: RepoPath
    header: str  # what git prints above the hunks of a file
    text: str
    extent: Extent


def list_hunks(recorder: Recorder, recorded: TimelineCommit) -> list[PatchHunk]:
    found: list[PatchHunk] = []
    for edit in recorder.timeline.edits(recorded):
        before, after = (read_stored(recorder, entry) for entry in (edit.before, edit.after))
        patch = render_patch(recorder, {edit.path: before}, {edit.path: after})
        for header, text, extent in split_patch(patch, before, after):
            found.append(PatchHunk(len(found) + 1, edit.path, header, text, extent))
    return found


def hunks_json(hunks: Collection[PatchHunk]) -> list[HunkJson]:
    return [{"n": hunk.number, "path": hunk.path, "patch": hunk.header + hunk.text} for hunk in hunks]


def select_hunks(hunks: Collection[PatchHunk], numbers: Collection[int]) -> list[PatchHunk]:
    unknown = sorted(set(numbers) - {hunk.number for hunk in hunks})
    if unknown:
        raise NoSuchHunk(f"there is no hunk {unknown[0]}; the action has {len(hunks)}")
    return [hunk for hunk in hunks if hunk.number in numbers]


def revert_hunks(
    before: Content | None, after: Content | None, chosen: Collection[PatchHunk]
) -> Content | None:
    """Return `after` without the chosen hunks, all of which are in this one file."""
    if before is None or after is None:
        return before if chosen else after
    mode, lines = after.mode, split_lines(after.data)
    old_lines = split_lines(before.data)
    for hunk in sorted(chosen, key=lambda hunk: hunk.number, reverse=True):
        match hunk.extent:
            case "file":
                return before
            case "mode":
                mode = before.mode
            case LineRanges(old, new):
                lines[slice(*new)] = old_lines[slice(*old)]
    return Content(mode, b"".join(lines))


def split_patch(
    patch: str, before: Content | None, after: Content | None
) -> Iterator[tuple[str, str, Extent]]:
    """Yield header, text and extent of each hunk in the patch of one file."""
    if before is None or after is None or SYMLINK_MODE in (before.mode, after.mode):
        yield patch, "", "file"
        return
    header, *hunks = re.split(r"^(?=@@ )", patch, flags=re.MULTILINE)
    if before.mode != after.mode:
        yield header, "", "mode"
    if before.data != after.data and not hunks:
        yield patch, "", "file"
    for hunk in hunks:
        found = _HEADER.match(hunk)
        assert found is not None
        start, count, new_start, new_count = (int(text or 1) for text in found.groups())
        yield header, hunk, LineRanges(_range(start, count), _range(new_start, new_count))


def _range(start: int, count: int) -> tuple[int, int]:
    """Convert a range of a hunk header to start and end, counted from 0.

    git counts from 1. For an empty range, git gives the number of the line before the range.
    """
    first = start - 1 if count else start
    return first, first + count
