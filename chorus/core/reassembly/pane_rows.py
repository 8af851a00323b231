"""The rows of a pane of known width, put together again.

Receives rows as `capture-pane` shows them: full, short of the blanks they ended in, or one cell short because
the next character is two cells wide. Gives the text that was printed, and says when two different texts
would look the same. docs/decisions/0002-wrapped-rows.md has the rules and their reasons.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from chorus.core.reassembly.cells import count_cells, starts_wide
from chorus.core.reassembly.padding import is_loose, pad_rows
from chorus.core.reassembly.seams import BLANKS_BETWEEN_TOKENS, Restored, measure

AMBIGUOUS = "ambiguous-wrap"
WRONG_WIDTH = "wrong-width"

# So many rows alike and none full: the pane was as wide as they are, and not as wide as was said.
_TELLING_ROWS = 3


@dataclass(frozen=True, slots=True)
class _Row:
    """A row that goes on in the next: its size, whether that is sure, and what the next begins with."""

    size: int
    sure: bool = True
    next_wide: bool = False


class Pane:
    wraps = True
    restores = True

    def __init__(self, width: int) -> None:
        self._width = width
        # `capture-pane -N` keeps trailing blanks: known once a row inside an object ended in one.
        self._keeps_blanks = False
        # Sizes of rows that go on in the next: they bear the width out or contradict it.
        self._sizes: Counter[int] = Counter()

    def begin(self) -> "Pane":
        return self

    def blanks_lost(self, row: bytes, following: bytes, *, in_string: bool) -> int | None:
        gap = self._width - measure(row)
        if gap < 0:
            # Rows wider than the pane are not tmux's; `fold` counts characters or bytes.
            gap = 0 if len(row.decode("utf-8", "replace")) <= self._width else gap
        if gap < 0 or (gap > BLANKS_BETWEEN_TOKENS and not in_string):
            return None
        return gap

    def may_continue(self, above: Sequence[bytes], row: bytes) -> bool:
        return bool(above) and min(measure(above[-1]), measure(row)) >= self._width - 1

    def learn(self, restored: Restored) -> None:
        self._keeps_blanks |= restored.keeps_blanks and restored.problem is None
        self._sizes.update(restored.tally)

    def contradicted(self, rows: Sequence[bytes]) -> bool:
        self._sizes.update(map(measure, rows))
        return not self._fits(Counter())

    def restore(self, raw: bytes) -> Restored:
        return self._restore_ascii(raw) if raw.isascii() else self._restore_any(raw.split(b"\n"))

    def _restore_ascii(self, raw: bytes) -> Restored:
        width = self._width
        padded = pad_rows(raw, width)
        tally = padded.tally(width)
        if not self._fits(tally):
            return Restored(b"", WRONG_WIDTH, tally=tally)
        last_column = padded.text[width - 1 : width * padded.rows : width]
        keeps_blanks = last_column.count(b" ") > len(padded.odd)
        doubt = bool(padded.odd) and (keeps_blanks or self._keeps_blanks)
        return Restored(padded.text, AMBIGUOUS if doubt else None, padded.loose, keeps_blanks, tally)

    def _restore_any(self, rows: list[bytes]) -> Restored:
        known = self._measure(rows)
        tally = Counter(row.size for row in known if row.size >= self._width or not row.next_wide)
        if not self._fits(tally):
            return Restored(b"", WRONG_WIDTH, tally=tally)
        keeps_blanks = any(row.endswith(b" ") for row in rows[:-1])
        doubt = loose = False
        for i, row in enumerate(known):
            gap = self._width - row.size
            doubt |= gap > 0 and self._is_doubtful(row, gap, keeps_blanks)
            loose |= gap > BLANKS_BETWEEN_TOKENS and is_loose(rows[i], rows[i + 1])
            rows[i] += b" " * (gap - row.next_wide)
        return Restored(b"".join(rows), AMBIGUOUS if doubt else None, loose, keeps_blanks, tally)

    def _is_doubtful(self, row: _Row, gap: int, keeps_blanks: bool) -> bool:
        if keeps_blanks or self._keeps_blanks:
            # Blanks are all there: one cell may be empty before a wide character, no more.
            return not row.sure or gap > row.next_wide
        # `gap` blanks, or one less and a wide character that did not fit: both look like this.
        return not row.sure or row.next_wide

    def _fits(self, tally: Counter[int]) -> bool:
        """Whether these rows and those before can come from a pane of this width."""
        if max(tally, default=0) > self._width:
            return False
        seen = self._sizes + tally
        full = seen[self._width]
        wider = sum(count for size, count in seen.items() if size > self._width)
        if full or wider:
            return full >= wider
        widest = max(seen, default=0)
        return seen[widest] < max(_TELLING_ROWS, seen.total() / 2)

    def _measure(self, rows: list[bytes]) -> list[_Row]:
        """In cells, as tmux wraps; in characters or bytes when the rows show that they were cut so."""
        try:
            texts = [row.decode("utf-8") for row in rows]
        except UnicodeDecodeError:
            return [_Row(len(row)) for row in rows[:-1]]
        known = [
            self._measure_text(text, row, following)
            for row, (text, following) in zip(rows, pairwise(texts), strict=False)
        ]
        if any(row.size > self._width for row in known):
            return [_Row(len(text)) for text in texts[:-1]]
        return known

    def _measure_text(self, text: str, row: bytes, following: str) -> _Row:
        cells, sure = count_cells(text)
        # As many characters or bytes as the pane has columns: cut so, or a coincidence.
        folded = cells < self._width and self._width in (len(text), len(row))
        return _Row(cells, sure and not folded, starts_wide(following))
