"""The rows of a pane of known width, put together again.

Receives rows as `capture-pane` shows them: full, short of the blanks they ended in, or one cell short because
the next character is two cells wide. Gives the text that was printed, and says when two different texts
would look the same. docs/decisions/0002-wrapped-rows.md has the rules and their reasons.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from chorus.agents.claude_code.terminal.cells import count_cells, starts_wide
from chorus.agents.claude_code.terminal.padding import is_loose, pad_rows
from chorus.agents.claude_code.terminal.seams import BLANKS_BETWEEN_TOKENS, Restored, measure

AMBIGUOUS = "ambiguous-wrap"
WRONG_WIDTH = "wrong-width"

# So many rows alike and none full: the pane was as wide as they are, and not as wide as was said.
_TELLING_ROWS = 3


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Of rows that go on in the next, by their place."""

    cells: list[int]
    unsure: set[int] = field(default_factory=set)  # terminals disagree about these
    before_wide: set[int] = field(default_factory=set)  # the next begins with a character two cells wide


class Pane:
    wraps = True
    restores = True

    def __init__(self, width: int) -> None:
        self._width = width
        # `capture-pane -N` keeps trailing blanks: known once a row inside an object ended in one.
        self._keeps_blanks = False
        # Since tmux 3.4 it fills each row as well: not here, once a row that keeps its blanks was short.
        self._leaves_short = False
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
        self._leaves_short |= restored.leaves_short and restored.problem is None
        self._sizes.update(restored.tally)

    def contradicted(self, rows: Sequence[bytes]) -> bool:
        self._sizes.update(map(measure, rows))
        return not self._fits(Counter())

    def restore(self, raw: bytes) -> Restored:
        return self._restore_ascii(raw) if raw.isascii() else self._restore_any(raw)

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

    def _restore_any(self, raw: bytes) -> Restored:
        rows = raw.split(b"\n")
        sizes = self._measure(rows)
        short = [i for i, size in enumerate(sizes.cells) if size < self._width]
        tally = Counter(sizes.cells)
        tally.subtract(sizes.cells[i] for i in short if i in sizes.before_wide)
        tally = +tally
        if not self._fits(tally):
            return Restored(b"", WRONG_WIDTH, tally=tally)
        keeps_blanks = b" \n" in raw
        leaves_short = keeps_blanks and not sizes.unsure.issuperset(short)
        # In a filled row the blank before a wide character may stand for one that did not fit.
        filled = not (leaves_short or self._leaves_short)
        doubt = filled and any(rows[i].endswith(b" ") for i in sizes.before_wide)
        loose = False
        for i in short:
            gap, wide = self._width - sizes.cells[i], i in sizes.before_wide
            # Blanks that are all there leave one cell empty before a wide character, no more. Blanks that
            # may be lost: `gap` of them, or one less and a wide character that did not fit.
            lost = gap > wide if keeps_blanks or self._keeps_blanks else wide
            doubt = doubt or lost or i in sizes.unsure
            loose = loose or (gap > BLANKS_BETWEEN_TOKENS and is_loose(rows[i], rows[i + 1]))
            rows[i] += b" " * (gap - wide)
        problem = AMBIGUOUS if doubt else None
        return Restored(b"".join(rows), problem, loose, keeps_blanks, tally, leaves_short)

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

    def _measure(self, rows: list[bytes]) -> _Sizes:
        """In cells, as tmux wraps; in characters or bytes when the rows show that they were cut so."""
        sizes = _Sizes([len(row) for row in rows[:-1]])
        try:
            texts = {i: row.decode("utf-8") for i, row in enumerate(rows) if not row.isascii()}
        except UnicodeDecodeError:
            return sizes
        # `fold` counts bytes or characters. It made none of these rows if one has too many.
        by_bytes = max(sizes.cells, default=0) <= self._width
        by_characters = max(map(len, texts.values()), default=0) <= self._width
        for i, text in texts.items():
            if i and starts_wide(text):
                sizes.before_wide.add(i - 1)
            if i < len(sizes.cells):
                cells, sure = count_cells(text)
                by_bytes_too = by_bytes and len(rows[i]) == self._width
                by_characters_too = by_characters and len(text) == self._width
                if not sure or (cells < self._width and (by_bytes_too or by_characters_too)):
                    sizes.unsure.add(i)
                sizes.cells[i] = cells
        if max(sizes.cells, default=0) > self._width:
            return _Sizes([len(texts.get(i, row)) for i, row in enumerate(rows[:-1])])
        return sizes
