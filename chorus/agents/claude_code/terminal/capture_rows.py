"""The rows of a capture: at which widths it may be wrapped, and which rows no event was read from."""

from collections import Counter
from collections.abc import Iterable

from chorus.agents.claude_code.terminal.line_wrap import row_width
from chorus.agents.claude_code.terminal.terminal_noise import tidy_rows
from chorus.agents.interface import UnusedRow

# Full rows are the widest, but for lines that other programs wrapped; a row before a wide character is one
# cell short.
MAX_WIDTHS = 8
MIN_WIDTH = 10
# A row is shown to be recognized, not to be read.
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
    """Return the rows that are in none of these texts, which are those of the events, in order.

    Rows lose the blanks they end in, and texts the newlines between rows: blanks are compared nowhere.
    """
    rows = tidy_rows(data).split(b"\n")
    solid = [row.translate(None, _BLANKS) for row in rows]
    whole, used, position = b"".join(solid), bytearray(len(rows)), 0
    starts, start = [], 0
    for row in solid:
        starts.append(start)
        start += len(row)
    number = 0
    for text in texts:
        wanted = text.translate(None, _BLANKS)
        found = whole.find(wanted, position)
        if found < 0:
            continue
        position = found + len(wanted)
        while number < len(rows) and starts[number] + len(solid[number]) <= found:
            number += 1
        last = number
        while last < len(rows) and starts[last] < position:
            used[last] = 1
            last += 1
        number = max(number, last - 1)
    return [
        UnusedRow(place, rows[place - 1][:MAX_ROW_TEXT].decode(errors="replace").strip())
        for place in range(1, len(rows) + 1)
        if solid[place - 1] and not used[place - 1]
    ]
