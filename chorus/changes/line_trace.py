"""Follow lines of a file through a change of it, back and forth. Lines are counted from 0."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from chorus.changes.diff import Hunk
from chorus.changes.line_merge import LineRange


def trace_lines_back(
    lines: Mapping[int, int], changes: Iterable[Hunk]
) -> tuple[dict[int, int], dict[int, int]]:
    """Split lines of a changed file: those that were there before, by their old position, and new ones."""
    changes = list(changes)
    starts = [hunk.after_start for hunk in changes]
    kept, written = {}, {}
    for line, position in lines.items():
        above = bisect_right(starts, position)
        last = changes[above - 1] if above else None
        if last is not None and position < last.after_end:
            written[line] = position
        else:
            kept[line] = position - (last.after_end - last.before_end if last is not None else 0)
    return kept, written


def follow_line(line: int, changes: Sequence[Hunk]) -> tuple[int, bool]:
    """Where a line of the old file is in the new one, and whether it was changed on the way.

    Of a replaced run, the first line became the first new one, and so on; a removed line is where the text
    after it is now.
    """
    shift = 0
    for hunk in changes:
        if line < hunk.before_start:
            break
        if line < hunk.before_end:
            offset = min(line - hunk.before_start, max(hunk.added - 1, 0))
            return hunk.after_start + offset, True
        shift = hunk.after_end - hunk.before_end
    return line + shift, False


def inserts_at(stretch: LineRange, changes: Sequence[Hunk]) -> bool:
    """Whether a change adds lines to this stretch, or just above or below it."""
    return any(change.added for change in _touching(stretch, changes))


def follow_stretch(stretch: LineRange, changes: Sequence[Hunk]) -> LineRange:
    """Where a stretch of lines is after the changes, with what they add to it."""
    moved = sum(change.added - change.removed for change in changes if change.before_end < stretch.start)
    own = _touching(stretch, changes)
    return LineRange(
        min([stretch.start + moved, *(change.after_start for change in own)]),
        max([stretch.end + moved, *(change.after_end for change in own)]),
    )


def _touching(stretch: LineRange, changes: Sequence[Hunk]) -> list[Hunk]:
    return [c for c in changes if c.before_start <= stretch.end and stretch.start <= c.before_end]
