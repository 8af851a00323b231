"""Text measured in terminal cells: cut, padded, wrapped.

Receives harmless text (see `inert`); a wide character counts two cells. Gives text that fits. Never
breaks a wide character in half.
"""

from collections.abc import Sized

from rich.cells import cell_len

__all__ = ["cell_len", "count_of", "cut", "cut_start", "pad", "wrap"]


def pad(text: str, width: int) -> str:
    """Exactly `width` cells: cut with an ellipsis, or filled up with blanks."""
    text = cut(text, width)
    return text + " " * (width - cell_len(text))


def cut(text: str, width: int) -> str:
    """At most `width` cells, the end left out."""
    if cell_len(text) <= width:
        return text
    return text[: _fitting(text, width - 1)] + "…" if width > 0 else ""


def cut_start(text: str, width: int) -> str:
    """At most `width` cells, the start left out: the end of a path says more."""
    if cell_len(text) <= width:
        return text
    kept = _fitting(text[::-1], width - 1)
    return "…" + text[len(text) - kept :] if width > 0 else ""


def wrap(text: str, width: int) -> list[str]:
    """`text` over as many lines as it needs, broken at blanks where there are any. Keeps all of it."""
    lines: list[str] = []
    while cell_len(text) > width > 1:
        end = _fitting(text, width)
        after_blank = text.rfind(" ", 0, end) + 1
        # A blank in the first half would leave a ragged line: the word is broken instead.
        end = after_blank if after_blank > end // 2 else end
        lines.append(text[:end])
        text = text[end:]
    return [*lines, text]


def count_of(things: Sized | int, word: str) -> str:
    """`1 commit`, `2 commits`."""
    count = things if isinstance(things, int) else len(things)
    return f"{count:,} {word}" + ("" if count == 1 else "s")


def _fitting(text: str, width: int) -> int:
    """How many characters of `text` fit into `width` cells."""
    if text.isascii():
        return max(min(width, len(text)), 0)
    used = 0
    for index, c in enumerate(text):
        used += cell_len(c)
        if used > width:
            return index
    return len(text)
