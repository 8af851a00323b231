"""A change as numbered rows: removed lines with their old number, all others with their new one. Pure."""

from tests.client_double.patch import Hunk
from tests.client_double.screen.text import ADDED, REMOVED, chop, paint


def render_hunks(hunks: list[Hunk], columns: int, *, indent: int) -> list[str]:
    if not hunks:
        return []
    digits = len(
        str(max(max(h["oldStart"] + h["oldLines"], h["newStart"] + h["newLines"]) - 1 for h in hunks))
    )
    rows: list[str] = []
    for hunk in hunks:
        rows += [" " * indent + " " * digits + " ..."] if rows else []
        rows += _render_hunk(hunk, columns, indent, digits)
    return rows


def render_lines(text: str, columns: int, *, indent: int, most: int | None = None) -> list[str]:
    """A new file's numbered lines."""
    lines = text.removesuffix("\n").split("\n")
    shown = lines if most is None else lines[:most]
    digits = len(str(len(lines)))
    rows = [f"{' ' * indent}{number:>{digits}} {line}".rstrip() for number, line in enumerate(shown, 1)]
    if len(shown) < len(lines):
        rows.append(f"{' ' * (indent - 1)}… +{len(lines) - len(shown)} lines")
    return [piece for row in rows for piece in chop(row, columns)]


def _render_hunk(hunk: Hunk, columns: int, indent: int, digits: int) -> list[str]:
    old, new, rows = hunk["oldStart"], hunk["newStart"], []
    for line in hunk["lines"]:
        sign, rest = line[:1], line[1:]
        number = old if sign == "-" else new
        colour = {"-": REMOVED, "+": ADDED}.get(sign)
        mark = sign if colour else " "
        lead = f"{' ' * indent}{number:>{digits}} {mark}"
        pieces = chop(rest, columns - len(lead))
        texts = [lead + pieces[0], *(" " * len(lead) + piece for piece in pieces[1:])]
        rows += [paint(text.rstrip(), colour) if colour else text.rstrip() for text in texts]
        old += sign != "+"
        new += sign != "-"
    return rows
