"""Read the events of a whole capture, whose parts may be wrapped at different widths.

A capture is read again and again while it grows, so the events must not depend on where it ends.
"""

from collections.abc import Sequence

from chorus.agents.claude_code.terminal.capture_rows import find_rows, guess_widths
from chorus.agents.claude_code.terminal.reassembler import Reassembler
from chorus.agents.claude_code.terminal.terminal_noise import tidy_rows
from chorus.agents.interface import Document

# A pane is resized a few times while it shows a capture.
MAX_PARTS = 8


def read_capture(data: bytes, widths: Sequence[int] = ()) -> list[Document]:
    """Return the events of a capture, in order. `widths`: the pane widths to try first.

    An event is marked as inexact if blanks at the ends of its rows are in doubt.
    """
    rows = tidy_rows(data).split(b"\n")
    found = _read_rows(rows, widths, MAX_PARTS)
    return [document for _, document in sorted(found, key=lambda one: one[0])]


def _read_rows(rows: list[bytes], widths: Sequence[int], parts: int) -> list[tuple[int, Document]]:
    """Return the events of these rows, each with the index of its first row.

    If rows next to each other give no event, they are read again as a capture of their own. This is repeated
    up to `parts` levels deep.
    """
    data = b"\n".join(rows)
    best, is_wrapped = _read(data, None)
    for width in dict.fromkeys((*widths, *guess_widths(data))) if is_wrapped else ():
        best = max(best, _read(data, width)[0], key=len)
    places = find_rows(rows, (document.text for document in best))
    found = [(first, document) for (first, _), document in zip(places, best, strict=True)]
    if is_wrapped and best and parts:
        used = {row for first, last in places for row in range(first, last + 1)}
        for first, end in _runs_without(used, len(rows)):
            inner = _read_rows(rows[first:end], widths, parts - 1)
            found += [(first + place, document) for place, document in inner]
    return found


def _read(data: bytes, width: int | None) -> tuple[list[Document], bool]:
    """Return the events found at this width, and whether another width may give more events."""
    reader = Reassembler(width=width, allow_inexact=True)
    documents = [*reader.feed(data), *reader.close()]
    return documents, bool(reader.problems["unknown-width"] or reader.problems["cut-off"])


def _runs_without(used: set[int], rows: int) -> list[tuple[int, int]]:
    """Return the runs of unused rows, each as its first row and the row after its last."""
    runs: list[tuple[int, int]] = []
    for row in range(rows):
        if row in used:
            continue
        if runs and runs[-1][1] == row:
            runs[-1] = (runs[-1][0], row + 1)
        else:
            runs.append((row, row + 1))
    return runs
