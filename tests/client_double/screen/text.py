"""Text in terminal cells: width, wrapping, colours."""

import re
import unicodedata

# Colours of the 256-colour table, as the client picks them.
DIM = "38;5;246"
RULE = "38;5;244"
DASHES = "38;5;239"
ACCENT = "38;5;153"
ADDED = "38;5;77;48;5;22"
REMOVED = "38;5;167;48;5;52"
SPOKEN = "48;5;237"
BOLD = "1"
REVERSE = "7"


def paint(text: str, *codes: str) -> str:
    return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if codes and text else text


def width(text: str) -> int:
    return sum(_cells(character) for character in text)


def wrap(text: str, columns: int) -> list[str]:
    """Rows of at most so many columns: broken at blanks, inside a word only when it fits no row."""
    return [row for line in text.split("\n") for row in _wrap_line(line, max(columns, 1))]


def clip(text: str, columns: int) -> str:
    if width(text) <= columns:
        return text
    return chop(text, columns - 1)[0] + "…"


def chop(text: str, columns: int) -> list[str]:
    """Rows of exactly so many columns, broken anywhere."""
    rows, row, used = [], "", 0
    for character in text:
        cells = _cells(character)
        if used + cells > columns and row:
            rows.append(row)
            row, used = "", 0
        row, used = row + character, used + cells
    return [*rows, row]


def _wrap_line(line: str, columns: int) -> list[str]:
    rows, row, room = [], "", columns
    for word in re.findall(r"\s*\S+|\s+$", line):
        if width(row + word) <= room:
            row += word
            continue
        # An invisible blank after a full row counts in the next one.
        room = columns - 1 if row and width(row) == room else columns
        rows += [row] if row else []
        *full, row = chop(word.lstrip(), columns)
        rows += full
    return [*rows, row]


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
