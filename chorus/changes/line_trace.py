"""Follow lines of a file through a change, forwards and backwards. Lines are counted from 0."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from chorus.changes.diff import Hunk


def trace_lines_back(
    lines: Mapping[int, int], changes: Iterable[Hunk]
) -> tuple[dict[int, int], dict[int, int]]:
    """Split lines of a changed file into lines from before the change and lines that the change wrote.

    `lines` maps the caller's line numbers to positions in the changed file. Both results are maps from the
    caller's line numbers too. The first map has the lines from before the change, with positions in the old
    file. The second map has the written lines, with positions in the changed file.
    """
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
    """Return where a line of the old file is in the new one, and whether the changes touched it.

    If a hunk replaces lines, old and new lines are paired in order. Surplus old lines are paired with the
    last new line.
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


def removed_lines(changes: Iterable[Hunk]) -> set[int]:
    """Return the lines of the old file that were removed and not replaced by a new line."""
    return {line for hunk in changes for line in range(hunk.before_start + hunk.added, hunk.before_end)}


def changed_lines(old: bytes, new: bytes, changes: Iterable[Hunk]) -> list[bytes]:
    before, after = old.split(b"\n"), new.split(b"\n")
    return [
        line
        for hunk in changes
        for line in (
            *before[hunk.before_start : hunk.before_end],
            *after[hunk.after_start : hunk.after_end],
        )
    ]
