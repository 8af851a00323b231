"""What `capture-pane` shows of text printed in a pane: the simulator that the tests wrap recordings with.

test_tmux_rows.py holds it against a real tmux.
"""

import re
import unicodedata
from functools import cache
from itertools import pairwise

_JOINER = "\u200d"
_RUNS = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]")


def wrap(line: str, width: int) -> list[str]:
    """The rows one printed line takes, with every blank that was printed."""
    if line.isascii():
        return [line[i : i + width] for i in range(0, len(line), width)] or [""]
    rows: list[str] = []
    row, column, joined = "", 0, False
    for run in _RUNS.findall(line):
        if run.isascii():
            cut = width - column
            if len(run) > cut:
                rows += [row + run[:cut], *(run[i : i + width] for i in range(cut, len(run), width))]
                row = rows.pop()
                column = len(row)
            else:
                row += run
                column += len(run)
            joined = False
            continue
        cells = 0 if joined else _cells(run)
        joined = run == _JOINER
        if column + cells > width:
            rows.append(row)
            row, column = "", 0
        row += run
        column += cells
    return [*rows, row]


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


@cache
def _cells(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
