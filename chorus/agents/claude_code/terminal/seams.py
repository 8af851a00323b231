"""Whether a row of terminal text goes on in the next one, and what was lost between them.

Receives rows. Gives the number of blanks a row lost at its end, or None when its line ended there, and the
text that was printed as a run of rows. Knows of JSON only "inside a string or not".

Three kinds of source: `OneLine` never wraps (`pipe-pane`, control mode, `capture-pane -J`, transcripts),
`Pane` (in `pane_rows`) wraps at a known width, `AnyWidth` may wrap at a width nobody told.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from chorus.agents.claude_code.terminal.cells import count_cells

# JSON on one line has at most one blank between two tokens. So a row that ends outside a string and lacks
# more cells than this is the end of its line.
BLANKS_BETWEEN_TOKENS = 1
# Rows of one length, and longer than a word: without a width, this is what wrapped text looks like.
_ROWS_ALIKE = 2
_NARROWEST_PANE = 20


@dataclass(frozen=True, slots=True)
class Restored:
    text: bytes
    problem: str | None = None  # why this may not be what was printed
    loose: bool = False  # some row may end outside a string and lack more blanks than stand between tokens
    keeps_blanks: bool = False  # some row ends in a blank
    tally: Counter[int] = field(default_factory=Counter)  # how many rows of which size, as far as it tells
    leaves_short: bool = False  # some row ends in a blank, and some is not filled with blanks


class Seams(Protocol):
    wraps: bool
    restores: bool

    def begin(self) -> "Seams":
        """The seams of one object."""
        ...

    def blanks_lost(self, row: bytes, following: bytes, *, in_string: bool) -> int | None:
        """How many blanks the row lost before `following`; None when its line ended."""
        ...

    def may_continue(self, above: Sequence[bytes], row: bytes) -> bool:
        """Whether `row` and the rows above it look full, so that none need start or end a line."""
        ...

    def restore(self, raw: bytes) -> Restored | None:
        """The text printed as these rows; None when the width would be needed to tell."""
        ...

    def learn(self, restored: Restored) -> None:
        """Take what the rows of a whole object tell about the source."""
        ...

    def contradicted(self, rows: Sequence[bytes]) -> bool:
        """Whether it is the width that is wrong, when no object could be followed through these rows."""
        ...


class OneLine:
    wraps = False
    restores = False

    def begin(self) -> "OneLine":
        return self

    def blanks_lost(self, row: bytes, following: bytes, *, in_string: bool) -> int | None:
        return None

    def may_continue(self, above: Sequence[bytes], row: bytes) -> bool:
        return False

    def restore(self, raw: bytes) -> Restored | None:
        return None

    def learn(self, restored: Restored) -> None:
        pass

    def contradicted(self, rows: Sequence[bytes]) -> bool:
        return False


class AnyWidth(OneLine):
    """The width is unknown, but the rows of one wrapped line cannot contradict each other about it."""

    wraps = True

    def __init__(self) -> None:
        self._at_least = 0
        self._at_most: int | None = None

    def begin(self) -> "AnyWidth":
        return AnyWidth()

    def blanks_lost(self, row: bytes, following: bytes, *, in_string: bool) -> int | None:
        cells = measure(row)
        self._at_least = max(self._at_least, cells, measure(following))
        if not in_string:
            limit = cells + BLANKS_BETWEEN_TOKENS
            self._at_most = limit if self._at_most is None else min(self._at_most, limit)
        return 0 if self._at_most is None or self._at_least <= self._at_most else None

    def may_continue(self, above: Sequence[bytes], row: bytes) -> bool:
        if len(above) < _ROWS_ALIKE:  # first: the row may be long, and hold thousands of objects
            return False
        cells = measure(row)
        alike = (abs(measure(other) - cells) <= BLANKS_BETWEEN_TOKENS for other in above)
        return cells >= _NARROWEST_PANE and all(alike)


def measure(row: bytes) -> int:
    if row.isascii():
        return len(row)
    return count_cells(row.decode("utf-8", "replace"))[0]
