"""A captured screen: its rows, its width, and the separator lines drawn across it.

In a wide pane the client may dock panes of its own on the right, behind a vertical line over the whole
height. Then only the part to the left of the line is read.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from chorus.agents.claude_code.terminal.cells import count_cells
from chorus.text.width import cell_width

# CSI, OSC, character set choice, and any other two-character escape; SO and SI switch line drawing.
_ESCAPE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-B]|\x1b.|[\x0e\x0f]", re.DOTALL
)
# Escapes that no capture contains: those that move the cursor, erase, or change the terminal. A capture may
# contain colours.
_CURSOR_MOTION = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-ln-~]|\x1b[^\[\]()\\]|\r(?!\n)|[\x00-\x08\x0b\x0c\x10-\x1a\x1c-\x1f\x7f]"
)
# A separator counts only if it spans the whole pane, from the left edge or (in a plan) from two columns in.
# The text of a file, a command or a plan is drawn further right, so it cannot pass for a separator.
_SEPARATOR = re.compile(r"((?: {2})?)([─╌])\2+")
# The upper edge of the part of the pane that holds a plan. A notice may cover the whole edge except its end.
_PLAN_EDGE = re.compile(r"(?:▔| \S).*▔")
# The client does not draw in a narrower pane.
_MIN_SEPARATOR_WIDTH = 16
_DOCK_LINE = "│"


@dataclass(frozen=True, slots=True)
class Separator:
    """A line across the pane: `─` opens a dialog or a box, `╌` encloses its body."""

    stroke: str
    indent: int


@dataclass(frozen=True, slots=True)
class CapturedScreen:
    rows: tuple[str, ...]
    width: int  # without a docked pane
    docked: bool  # a pane is docked right of these rows
    separators: tuple[Separator | None, ...]  # one for each row

    def is_blank(self, index: int) -> bool:
        return not self.rows[index]

    def is_plan_edge(self, index: int) -> bool:
        row = self.rows[index]
        return _PLAN_EDGE.fullmatch(row) is not None and cell_width(row) == self.width


def is_capture(text: str) -> bool:
    """Return whether a text can be a captured screen, not the raw output of a terminal."""
    return _CURSOR_MOTION.search(text.replace("\x1b\\", "")) is None


def parse_screen(text: str, width: int | None = None) -> CapturedScreen:
    """Parse a capture, without a docked pane. `width`: the pane's width; None: that of the widest row."""
    rows = [_plain_text(row) for row in text.removesuffix("\n").split("\n")]
    cut = _cut_dock(rows)
    if cut is not None:
        rows, width = cut
    while rows and not rows[-1]:
        rows.pop()
    columns = max(map(cell_width, rows), default=0) if width is None else width
    separators = tuple(_parse_separator(row, columns) for row in rows)
    return CapturedScreen(tuple(rows), columns, cut is not None, separators)


def indent_of(row: str) -> int:
    return len(row) - len(row.lstrip(" "))


def join_rows(rows: Sequence[str], edge: int) -> str:
    """Undo the client's wrapping of one paragraph. `edge` is the column that its text may reach.

    The client wraps at blanks, and breaks a word only if it is longer than a row.
    """
    drawn = [row for row in rows if row.strip()]
    room = edge - min(map(indent_of, drawn), default=0)
    joined = drawn[0].strip() if drawn else ""
    for above, row in pairwise(drawn):
        broken = cell_width(above) == edge and cell_width(above.split()[-1] + row.split()[0]) > room
        joined += ("" if broken else " ") + row.strip()
    return joined


def _cut_dock(rows: list[str]) -> tuple[list[str], int] | None:
    """Cut off a docked pane. Return the rows and the column of the cut; None if no pane is docked.

    The vertical line before a docked pane crosses every row. Text in a dialog does not fill every row, so it
    cannot imitate the line.
    """
    if not all(_DOCK_LINE in row for row in rows):
        return None
    lines = [_lines_in(row) for row in rows]
    sure = [set(found) for row, found in zip(rows, lines, strict=True) if count_cells(row)[1]]
    columns = set.intersection(*sure) if sure else set()
    column = min(columns, default=0)
    if column < _MIN_SEPARATOR_WIDTH:
        return None
    nearest = [min(found, key=lambda at: abs(at - column)) for found in lines]
    return [row[: found[at]].rstrip() for row, found, at in zip(rows, lines, nearest, strict=True)], column


def _lines_in(row: str) -> dict[int, int]:
    """Return the columns of the vertical lines in a row, with their indexes in its text."""
    starts = [match.start() for match in re.finditer(_DOCK_LINE, row)]
    return {cell_width(row[:start]): start for start in starts}


def _parse_separator(row: str, width: int) -> Separator | None:
    match = _SEPARATOR.fullmatch(row)
    if match is None:
        return None
    indent = len(match[1])  # the same on both sides
    spans = len(row) + indent == width and len(row) - indent >= _MIN_SEPARATOR_WIDTH
    return Separator(match[2], indent) if spans else None


def _plain_text(row: str) -> str:
    return _ESCAPE.sub("", row).replace("\xa0", " ").rstrip()
