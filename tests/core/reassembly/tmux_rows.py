"""What `capture-pane` shows of text printed in a pane: the simulator that the tests wrap recordings with.

test_tmux_rows.py holds it against a real tmux.
"""

import unicodedata
from itertools import pairwise

_JOINER = "\u200d"


def wrap(line: str, width: int) -> list[str]:
    """The rows one printed line takes, with every blank that was printed."""
    if line.isascii():
        return [line[i : i + width] for i in range(0, len(line), width)] or [""]
    rows: list[str] = [""]
    column = 0
    joined = False
    for char in line:
        cells = 0 if joined and not char.isascii() else _cells(char)
        joined = char == _JOINER
        if column + cells > width:
            rows.append("")
            column = 0
        rows[-1] += char
        column += cells
    return rows


def capture(lines: list[str], width: int, *, keep_blanks: bool = False) -> str:
    """`capture-pane -p` of the lines, or `-pN` with `keep_blanks`."""
    rows = [row for line in lines for row in wrap(line, width)]
    return "".join((row if keep_blanks else row.rstrip(" ")) + "\n" for row in rows)


def is_ambiguous(line: str, width: int) -> bool:
    """Whether another line would look the same in `capture-pane -p`."""
    rows = wrap(line, width)
    return any(
        sum(map(_cells, row.rstrip(" "))) < width and _cells(following[0]) == 2
        for row, following in pairwise(rows)
    )


def _cells(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
