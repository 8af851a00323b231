"""Captured text in, rows and rules out.

Receives what `capture-pane -p` prints, with or without `-e`. Gives the rows as a person sees them: no
escapes, no trailing blanks, and the pane's width. Never guesses what the rows mean.
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
# What no capture holds: whatever moves the cursor, erases, or changes the terminal. Colours do none of that.
_MOTION = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-ln-~]|\x1b[^\[\]()\\]|\r(?!\n)|[\x00-\x08\x0b\x0c\x10-\x1a\x1c-\x1f\x7f]"
)
# A line the client draws across the pane. It counts only if it spans the whole of it, from the left
# edge, or (a plan's) from two columns in. What a file, a command or a plan says is drawn right of
# that, so no text inside a dialog can pass for the dialog's own lines.
_RULE = re.compile(r"((?: {2})?)([─╌])\2+")
# Below this a row of dashes is no line across a pane (the client does not draw in so narrow a one).
_NARROWEST = 16


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across the pane: `─` opens a dialog or a box, `╌` encloses its body."""

    stroke: str
    indent: int


@dataclass(frozen=True, slots=True)
class Screen:
    rows: tuple[str, ...]
    width: int
    rules: tuple[Rule | None, ...]  # the line drawn in each row, if one is

    def blank(self, index: int) -> bool:
        return not self.rows[index]


def is_capture(text: str) -> bool:
    """Whether this can be a screen. A terminal's raw output is none: what stands where is not in its rows."""
    return _MOTION.search(text.replace("\x1b\\", "")) is None


def parse_screen(text: str, width: int | None = None) -> Screen:
    """Read a capture. Without `width`, the widest row tells it: some rule always spans the pane."""
    rows = [_plain(row) for row in text.split("\n")]
    while rows and not rows[-1]:
        rows.pop()
    spans = max(map(cell_width, rows), default=0) if width is None else width
    return Screen(tuple(rows), spans, tuple(_rule(row, spans) for row in rows))


def _rule(row: str, width: int) -> Rule | None:
    """The line drawn in this row: indented alike on both sides, or none."""
    match = _RULE.fullmatch(row)
    if match is None:
        return None
    indent = len(match[1])
    spans = len(row) + indent == width and len(row) - indent >= _NARROWEST
    return Rule(match[2], indent) if spans else None


def indent_of(row: str) -> int:
    return len(row) - len(row.lstrip(" "))


def join_rows(rows: Sequence[str], edge: int) -> str:
    """Undo the client's wrapping of one paragraph whose text may reach up to column `edge`.

    It breaks at blanks. Only a word longer than a whole row is broken inside: then the row is full,
    and the two halves together are longer than a row.
    """
    drawn = [row for row in rows if row.strip()]
    room = edge - min(map(indent_of, drawn), default=0)
    joined = drawn[0].strip() if drawn else ""
    for above, row in pairwise(drawn):
        broken = cell_width(above) == edge and cell_width(above.split()[-1] + row.split()[0]) > room
        joined += ("" if broken else " ") + row.strip()
    return joined


def _plain(row: str) -> str:
    return _ESCAPE.sub("", row).replace("\xa0", " ").rstrip()
