"""A captured screen: its rows, its width, and the separator lines drawn across it.

Reads what `capture-pane -p` prints, with or without `-e`: no escapes, no trailing blanks. Never interprets
what the rows mean.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from chorus.text.width import cell_width

# CSI, OSC, character set choice, and any other two-character escape; SO and SI switch line drawing.
_ESCAPE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-B]|\x1b.|[\x0e\x0f]", re.DOTALL
)
# What no capture contains: anything that moves the cursor, erases, or changes the terminal, unlike colours.
_CURSOR_MOTION = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-ln-~]|\x1b[^\[\]()\\]|\r(?!\n)|[\x00-\x08\x0b\x0c\x10-\x1a\x1c-\x1f\x7f]"
)
# A separator counts only if it spans the whole pane, from the left edge or (in a plan) from two columns in.
# The text of a file, a command or a plan is drawn further right, so it cannot pass for a separator.
_SEPARATOR = re.compile(r"((?: {2})?)([─╌])\2+")
# The client does not draw in a narrower pane.
_MIN_SEPARATOR_WIDTH = 16


@dataclass(frozen=True, slots=True)
class Separator:
    """A line across the pane: `─` opens a dialog or a box, `╌` encloses its body."""

    stroke: str
    indent: int


@dataclass(frozen=True, slots=True)
class CapturedScreen:
    rows: tuple[str, ...]
    width: int
    separators: tuple[Separator | None, ...]  # one for each row

    def is_blank(self, index: int) -> bool:
        return not self.rows[index]


def is_capture(text: str) -> bool:
    """Whether this can be a captured screen, not the raw output of a terminal."""
    return _CURSOR_MOTION.search(text.replace("\x1b\\", "")) is None


def parse_screen(text: str, width: int | None = None) -> CapturedScreen:
    """Parse a capture. Without `width`, take that of the widest row: some separator always spans the pane."""
    rows = [_plain_text(row) for row in text.split("\n")]
    while rows and not rows[-1]:
        rows.pop()
    columns = max(map(cell_width, rows), default=0) if width is None else width
    return CapturedScreen(tuple(rows), columns, tuple(_parse_separator(row, columns) for row in rows))


def indent_of(row: str) -> int:
    return len(row) - len(row.lstrip(" "))


def join_rows(rows: Sequence[str], edge: int) -> str:
    """Undo the client's wrapping of one paragraph whose text may reach up to column `edge`.

    It wraps at blanks. It breaks a word only if the word is longer than a row: then the row is full, and
    the two halves together are longer than a row.
    """
    drawn = [row for row in rows if row.strip()]
    room = edge - min(map(indent_of, drawn), default=0)
    joined = drawn[0].strip() if drawn else ""
    for above, row in pairwise(drawn):
        broken = cell_width(above) == edge and cell_width(above.split()[-1] + row.split()[0]) > room
        joined += ("" if broken else " ") + row.strip()
    return joined


def _parse_separator(row: str, width: int) -> Separator | None:
    match = _SEPARATOR.fullmatch(row)
    if match is None:
        return None
    indent = len(match[1])  # the same on both sides
    spans = len(row) + indent == width and len(row) - indent >= _MIN_SEPARATOR_WIDTH
    return Separator(match[2], indent) if spans else None


def _plain_text(row: str) -> str:
    return _ESCAPE.sub("", row).replace("\xa0", " ").rstrip()
