"""Count the cells that text takes in a tmux pane, and find out whether all terminals count the same.

Checked against tmux 3.3a, 3.5a and 3.8 for every code point. Characters about which versions differ are
counted as 3.3a counts them, and marked unsure.
"""

import re
import unicodedata

# Characters that are one cell wide everywhere, and that most text consists of.
_PLAIN = bytes(range(0x20, 0x7F))
# As in tmux 3.3a, a character after a joiner shares the cell of the one before.
_JOINED = re.compile("\u200d+[^\x00-\x7f\u200d]?")
# Added to the width of a character that terminals disagree about; far above the width of any row.
_UNSURE = 1 << 32
# Hexagrams and circled numbers: wide for glibc, narrow in Unicode's older tables.
_WIDE_FOR_TMUX = (range(0x4DC0, 0x4E00), range(0x3248, 0x3250))
# Vowels and finals of conjoining Hangul take no cell of their own.
_JAMO = (range(0x1160, 0x1200), range(0xD7B0, 0xD800))
# Variation selectors, emoji modifiers, regional indicators: 3.3a counts each by itself.
_SEQUENCES = (range(0xFE00, 0xFE10), range(0x1F3FB, 0x1F400), range(0x1F1E6, 0x1F200))
# Characters that are wide since Unicode 16, characters that are wide in 3.5a because a modifier may follow,
# and fillers, which take cells in 3.3a but not in 3.5a.
_CHANGED = (
    range(0x2630, 0x2638), range(0x268A, 0x2690), range(0x1D300, 0x1D357), range(0x1D360, 0x1D377),
    (0x261D, 0x26F9, 0x270C, 0x270D, 0x1F3CB, 0x1F3CC, 0x1F574, 0x1F575, 0x1F590), (0x3164, 0xFFA0),
)  # fmt: skip
# Format characters that 3.3a counts as one cell.
_PREPENDED = frozenset({0xAD, 0x6DD, 0x70F, 0x8E2, 0x110BD, 0x110CD, *range(0x600, 0x606), 0x890, 0x891})


class _Widths(dict[str, int]):
    """The width of each character, filled on demand: a lookup takes a tenth of the time of unicodedata."""

    def __missing__(self, char: str) -> int:
        self[char] = width = _width(char)
        return width


_WIDTHS = _Widths()


def count_cells(row: str) -> tuple[int, bool]:
    """Return the number of cells of a row, and whether all terminals agree about this number."""
    beyond = row.encode("utf-8", "surrogatepass").translate(None, _PLAIN).decode("utf-8", "surrogatepass")
    cells = len(row) - len(beyond) + sum(map(_WIDTHS.__getitem__, beyond))
    if cells < _UNSURE:
        return cells, True
    return sum(map(_WIDTHS.__getitem__, _JOINED.sub("", row))) % _UNSURE, False


def starts_wide(row: str) -> bool:
    return _WIDTHS[row[0]] % _UNSURE == 2 if row else False


def _width(char: str) -> int:
    if char.isascii():
        return 1 if char.isprintable() else _UNSURE
    code = ord(char)
    category = unicodedata.category(char)
    if any(code in block for block in _SEQUENCES):
        return _UNSURE + (0 if category == "Mn" else 1 + (unicodedata.east_asian_width(char) == "W"))
    if any(code in block for block in _JAMO):
        return _UNSURE
    if any(code in block for block in _WIDE_FOR_TMUX):
        return _UNSURE + 2
    if category in ("Cf", "Cn", "Cc", "Cs", "Zl", "Zp"):
        return _UNSURE + (code in _PREPENDED)
    if category in ("Mn", "Me"):
        return 0
    width = 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return _UNSURE + width if any(code in block for block in _CHANGED) else width
