"""Guess the width of a wrapped capture from its rows, and find the rows that no event was read from."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate

from chorus.agents.claude_code.terminal.line_wrap import row_width
from chorus.agents.claude_code.terminal.terminal_noise import tidy_rows
from chorus.agents.interface import UnusedRow

# Half of these guesses are the largest widths that several rows have, half are the commonest widths. The
# widest rows are full, unless other programs wrapped lines. Three more guesses follow: the two largest widths
# of all, and one cell more than the largest repeated width, because a row before a wide character is short.
MAX_WIDTHS = 8
MIN_WIDTH = 10
# A row is shown to be recognised, not to be read.
MAX_ROW_TEXT = 200
_BLANKS = bytes(range(0x21))


def guess_widths(data: bytes) -> list[int]:
    """Return the widths at which the text may be wrapped, the likeliest first."""
    rows = tidy_rows(data).split(b"\n")
    # Only a row that another one follows can be full.
    counts = Counter(row_width(row) for row in rows[:-1] if len(row) >= MIN_WIDTH)
    repeated = [width for width, count in counts.items() if count > 1]
    widest = sorted(repeated, reverse=True)[: MAX_WIDTHS // 2]
    commonest = [width for width, _ in counts.most_common(MAX_WIDTHS // 2)]
    single = sorted(counts, reverse=True)[:2]
    return list(dict.fromkeys([*widest, *commonest, *single, *(width + 1 for width in widest[:1])]))


def find_unused_rows(data: bytes, texts: Iterable[bytes]) -> list[UnusedRow]:
    """Return the rows with text that no event was read from. `texts`: the texts of the events, in order."""
    rows = tidy_rows(data).split(b"\n")
    used = bytearray(len(rows))
    for first, last in find_rows(rows, texts):
        used[first : last + 1] = b"\1" * (last + 1 - first)
    return [
        UnusedRow(number, row[:MAX_ROW_TEXT].decode(errors="replace").strip())
        for number, row in enumerate(rows, 1)
        if row.translate(None, _BLANKS) and not used[number - 1]
    ]


def find_rows(rows: Sequence[bytes], texts: Iterable[bytes]) -> list[tuple[int, int]]:
    """Return the first and the last row of each text. The texts must be in the order of the rows.

    Blanks and newlines are ignored. If a text is not found, its pair ends before it begins: the last row is
    the first row minus 1.
    """
    solid = [row.translate(None, _BLANKS) for row in rows]
    ends = list(accumulate(map(len, solid)))
    whole, position = b"".join(solid), 0
    places: list[tuple[int, int]] = []
    for text in texts:
        wanted = text.translate(None, _BLANKS)
        found = whole.find(wanted, position)
        if found < 0:
            row = bisect_right(ends, position)
            places.append((row, row - 1))
            continue
        position = found + len(wanted)
        places.append((bisect_right(ends, found), bisect_left(ends, position)))
    return places
