"""Measure text in terminal cells, cut, pad and wrap it, and put counts and lists of numbers into words.

Text is expected to be printable: see `sanitize`.
"""

import unicodedata
from collections.abc import Iterable, Sequence, Sized
from itertools import groupby

# Only a text made to fill the memory has more different characters than this.
MAX_CACHED_CHARACTERS = 20_000
# Vowels and finals of conjoining Hangul, and skin tones of emoji: drawn with the character before them.
_JOINED = (range(0x1160, 0x1200), range(0xD7B0, 0xD800), range(0x1F3FB, 0x1F400))


class _Widths(dict[str, int]):
    """The width of each character, filled on demand: a lookup takes a tenth of the time of unicodedata."""

    def __missing__(self, char: str) -> int:
        width = _measure(char)
        if len(self) < MAX_CACHED_CHARACTERS:
            self[char] = width
        return width


_WIDTHS = _Widths()


def cell_width(text: str) -> int:
    return len(text) if text.isascii() else sum(map(_WIDTHS.__getitem__, text))


def pad(text: str, width: int) -> str:
    """Make `text` exactly `width` cells: cut with an ellipsis, or filled up with blanks."""
    text = cut(text, width)
    return text + " " * (width - cell_width(text))


def cut(text: str, width: int) -> str:
    """Shorten `text` to at most `width` cells: cut its end, with an ellipsis."""
    if cell_width(text) <= width:
        return text
    return text[: _count_fitting(text, width - 1)] + "…" if width > 0 else ""


def cut_start(text: str, width: int) -> str:
    """Like `cut`, but cut the start of `text`. For paths: their end matters more."""
    if cell_width(text) <= width:
        return text
    kept = _count_fitting(text[::-1], width - 1)
    return "…" + text[len(text) - kept :] if width > 0 else ""


def first_cells(text: str, width: int) -> str:
    """Return the characters of `text` in its first `width` cells."""
    return text if cell_width(text) <= width else text[: _count_fitting(text, width)]


def wrap(text: str, width: int) -> list[str]:
    """Break `text` into lines of at most `width` cells, and keep every character.

    A line ends after the last blank in its second half. If that half has no blank, the line ends inside a
    word. If `width` is below 2, nothing is broken.
    """
    lines: list[str] = []
    while cell_width(text) > width > 1:
        end = _count_fitting(text, width)
        after_blank = text.rfind(" ", 0, end) + 1
        # Breaking at a blank in the first half would leave a short line: the word is broken instead.
        end = after_blank if after_blank > end // 2 else end
        lines.append(text[:end])
        text = text[end:]
    return [*lines, text]


def count_of(things: Sized | int, word: str) -> str:
    """Return a count with its noun: `1 commit`, or `2 commits`."""
    count = things if isinstance(things, int) else len(things)
    return f"{count:,} {word}" + ("" if count == 1 else "s")


def list_of(things: Sequence[object], word: str) -> str:
    """Return a noun with its numbers: `action 3`, or `actions 3, 5`."""
    return word + ("" if len(things) == 1 else "s") + f" {', '.join(map(str, things))}"


def render_ranges(numbers: Iterable[int]) -> str:
    """Return the numbers as text, such as `3, 5, 7–40`; `nothing` if there are none."""
    parts: list[str] = []
    # Consecutive numbers have the same difference from their indexes.
    for _, numbered in groupby(enumerate(sorted(numbers)), lambda item: item[1] - item[0]):
        row = [number for _, number in numbered]
        parts += [f"{row[0]}–{row[-1]}"] if len(row) > 2 else map(str, row)
    return ", ".join(parts) if parts else "nothing"


def _count_fitting(text: str, width: int) -> int:
    """Return how many characters of `text` fit into `width` cells. The text must be wider than `width`."""
    if text.isascii():
        return max(width, 0)
    count, used = 0, _WIDTHS[text[0]]
    while used <= width:
        count += 1
        used += _WIDTHS[text[count]]
    return count


def _measure(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me", "Cf"} or any(ord(char) in block for block in _JOINED):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
