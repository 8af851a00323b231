"""How a terminal wraps lines: whether a row continues in the next one, and which blanks it lost.

A row of `capture-pane` is full, or lacks the blanks at its end, or is one cell short before a wide character.
The rules and their reasons are in docs/decisions/0002-wrapped-rows.md.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from chorus.agents.claude_code.terminal.cells import count_cells, starts_wide

# JSON on one line has at most one blank between two tokens, so a row that ends outside a string and lacks
# more cells than this ends its line.
BLANKS_BETWEEN_TOKENS = 1
# If the width is unknown, a row looks full if this many rows above it have nearly the same width, and if that
# width is at least the smallest of a pane.
_MIN_ROWS_ALIKE = 2
_MIN_PANE_WIDTH = 20


@dataclass(frozen=True, slots=True)
class JoinedRows:
    """The rows of one object joined into one text, and facts that they show about the source."""

    text: bytes
    problem: str | None = None  # why the text may differ from what was printed
    # A row may end outside a string and lack more blanks than there are between tokens.
    may_lack_blanks: bool = False
    keeps_blanks: bool = False  # a row ends in a blank
    tally: Counter[int] = field(default_factory=Counter)  # number of rows by size; `learn` needs it
    leaves_short: bool = False  # a row ends in a blank, but another is not filled up with blanks


class LineWrap(Protocol):
    """How one source wraps lines."""

    wraps: bool
    joins_rows: bool  # whether `join_rows` ever succeeds

    def for_object(self) -> "LineWrap":
        """Return the line wrap for the next object: a new one if the width is unknown, else this one."""
        ...

    def missing_blanks(self, row: bytes, following: bytes, *, in_string: bool) -> int | None:
        """Return how many blanks the row lost at its end; None if `following` does not continue its line."""
        ...

    def looks_full(self, above: Sequence[bytes], row: bytes) -> bool:
        """Return whether `row` and the rows above it look full, so that they may be parts of one line."""
        ...

    def join_rows(self, raw: bytes) -> JoinedRows | None:
        """Return the text that was printed as these rows; None if this source cannot join rows."""
        ...

    def learn(self, joined: JoinedRows) -> None:
        """Remember facts from the rows of a whole object: the row sizes, and whether rows end in blanks."""
        ...

    def contradicts(self, rows: Sequence[bytes]) -> bool:
        """Return whether rows that could not be joined show that the width is wrong."""
        ...


class NoWrap:
    """A source that never wraps."""

    wraps = False
    joins_rows = False

    def for_object(self) -> "NoWrap":
        return self

    def missing_blanks(self, row: bytes, following: bytes, *, in_string: bool) -> int | None:
        return None

    def looks_full(self, above: Sequence[bytes], row: bytes) -> bool:
        return False

    def join_rows(self, raw: bytes) -> JoinedRows | None:
        return None

    def learn(self, joined: JoinedRows) -> None:
        pass

    def contradicts(self, rows: Sequence[bytes]) -> bool:
        return False


class UnknownWidth(NoWrap):
    """A source that may wrap at an unknown width. The rows of one line must agree about that width."""

    wraps = True

    def __init__(self) -> None:
        self._at_least = 0
        self._at_most: int | None = None

    def for_object(self) -> "UnknownWidth":
        return UnknownWidth()

    def missing_blanks(self, row: bytes, following: bytes, *, in_string: bool) -> int | None:
        cells = row_width(row)
        self._at_least = max(self._at_least, cells, row_width(following))
        if not in_string:
            limit = cells + BLANKS_BETWEEN_TOKENS
            self._at_most = limit if self._at_most is None else min(self._at_most, limit)
        return 0 if self._at_most is None or self._at_least <= self._at_most else None

    def looks_full(self, above: Sequence[bytes], row: bytes) -> bool:
        if len(above) < _MIN_ROWS_ALIKE:  # checked first, because the row may be long
            return False
        cells = row_width(row)
        alike = (abs(row_width(other) - cells) <= BLANKS_BETWEEN_TOKENS for other in above)
        return cells >= _MIN_PANE_WIDTH and all(alike)


def row_width(row: bytes) -> int:
    if row.isascii():
        return len(row)
    return count_cells(row.decode("utf-8", "replace"))[0]


# Rows are padded in blocks that fit the processor's cache, which halves the time.
_BLOCK = 64 * 1024
# For the last byte of each token: the first bytes of the tokens that may follow.
_VALUES = b'"{[-0123456789tfn'
_FOLLOWS = {
    **dict.fromkeys(b"}]0123456789el", b",}]"),
    ord('"'): b",:}]",
    ord("{"): b'"}',
    ord("["): _VALUES + b"]",
    ord(","): _VALUES,
    ord(":"): _VALUES,
}


@dataclass(frozen=True, slots=True)
class PaddedRows:
    """Rows of ASCII text, filled up with blanks to the width of the pane and joined into one text."""

    text: bytes
    rows: int  # number of rows, without the last, which is not padded
    short_or_long: list[int]  # the sizes of rows that were not full
    may_lack_blanks: bool  # as in `JoinedRows`

    def tally(self, width: int) -> Counter[int]:
        """Return how many rows have each size. If some rows fill the width, leave out the shorter ones."""
        full = self.rows - len(self.short_or_long)
        counted = (size for size in self.short_or_long if size > width) if full else self.short_or_long
        return Counter({width: full}) + Counter(counted)


def pad_rows(raw: bytes, width: int) -> PaddedRows:
    """Pad rows of ASCII text, where a byte is a cell. Work in bulk, because an event may have megabytes."""
    texts: list[bytes] = []
    short_or_long: list[int] = []
    may_lack_blanks = False
    tight = width - BLANKS_BETWEEN_TOKENS
    start, end, seen = 0, raw.rfind(b"\n"), 0
    while start < end:
        stop = raw.rfind(b"\n", start, start + _BLOCK) if start + _BLOCK < end else end
        if stop < start:
            stop = raw.find(b"\n", start)  # one row longer than a block
        rows = raw[start:stop].split(b"\n")
        seen += len(rows)
        for i in [i for i, size in enumerate(map(len, rows)) if size != width]:
            row = rows[i]
            size = len(row)
            short_or_long.append(size)
            if size < tight and (not row or row[-1] in _FOLLOWS):
                following = rows[i + 1] if i + 1 < len(rows) else raw[stop + 1 : stop + 1 + width]
                may_lack_blanks = may_lack_blanks or may_separate_tokens(row, following)
            rows[i] = row.ljust(width)
        texts.append(b"".join(rows))
        start = stop + 1
    texts.append(raw[end + 1 :])
    return PaddedRows(b"".join(texts), seen, short_or_long, may_lack_blanks)


def may_separate_tokens(row: bytes, following: bytes) -> bool:
    """Return whether the end of the row may be between two tokens."""
    ends, starts = row.rstrip()[-1:], following.lstrip()[:1]
    return not ends or not starts or starts in _FOLLOWS.get(ends[0], b"")


AMBIGUOUS = "ambiguous-wrap"
WRONG_WIDTH = "wrong-width"

# If so many rows have the same size and no row is full, that size is the width, and the given width is wrong.
_MIN_TELLING_ROWS = 3


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The sizes of an object's rows, without the last row. The sets contain indexes of `cells`."""

    cells: list[int]
    unsure: set[int] = field(default_factory=set)  # terminals disagree about these
    before_wide: set[int] = field(default_factory=set)  # the next row begins with a character two cells wide


class KnownWidth:
    """A source that wraps at a known width: a pane."""

    wraps = True
    joins_rows = True

    def __init__(self, width: int) -> None:
        self._width = width
        # True once a row inside an object ended in a blank: `capture-pane -N` keeps trailing blanks.
        self._keeps_blanks = False
        # True once a row was short although blanks are kept: `capture-pane -N` fills rows only since tmux
        # 3.4.
        self._leaves_short = False
        # Sizes of rows that continue in the next: they confirm the width or contradict it.
        self._sizes: Counter[int] = Counter()

    def for_object(self) -> "KnownWidth":
        return self

    def missing_blanks(self, row: bytes, following: bytes, *, in_string: bool) -> int | None:
        gap = self._width - row_width(row)
        if gap < 0:
            # tmux makes no rows wider than the pane, but `fold` does, which counts characters or bytes.
            gap = 0 if len(row.decode("utf-8", "replace")) <= self._width else gap
        if gap < 0 or (gap > BLANKS_BETWEEN_TOKENS and not in_string):
            return None
        return gap

    def looks_full(self, above: Sequence[bytes], row: bytes) -> bool:
        return bool(above) and min(row_width(above[-1]), row_width(row)) >= self._width - 1

    def learn(self, joined: JoinedRows) -> None:
        self._keeps_blanks |= joined.keeps_blanks and joined.problem is None
        self._leaves_short |= joined.leaves_short and joined.problem is None
        self._sizes.update(joined.tally)

    def contradicts(self, rows: Sequence[bytes]) -> bool:
        self._sizes.update(map(row_width, rows))
        return not self._fits(Counter())

    def join_rows(self, raw: bytes) -> JoinedRows:
        return self._join_ascii(raw) if raw.isascii() else self._join_any(raw)

    def _join_ascii(self, raw: bytes) -> JoinedRows:
        width = self._width
        padded = pad_rows(raw, width)
        tally = padded.tally(width)
        if not self._fits(tally):
            return JoinedRows(b"", WRONG_WIDTH, tally=tally)
        last_column = padded.text[width - 1 : width * padded.rows : width]
        keeps_blanks = last_column.count(b" ") > len(padded.short_or_long)
        doubt = bool(padded.short_or_long) and (keeps_blanks or self._keeps_blanks)
        return JoinedRows(
            padded.text, AMBIGUOUS if doubt else None, padded.may_lack_blanks, keeps_blanks, tally
        )

    def _join_any(self, raw: bytes) -> JoinedRows:
        rows = raw.split(b"\n")
        sizes = self._measure(rows)
        short = [i for i, size in enumerate(sizes.cells) if size < self._width]
        tally = Counter(sizes.cells)
        tally.subtract(sizes.cells[i] for i in short if i in sizes.before_wide)
        tally = +tally
        if not self._fits(tally):
            return JoinedRows(b"", WRONG_WIDTH, tally=tally)
        keeps_blanks = b" \n" in raw
        leaves_short = keeps_blanks and not sizes.unsure.issuperset(short)
        # In a filled row, the blank before a wide character may be there because the character did not fit.
        filled = not (leaves_short or self._leaves_short)
        doubt = filled and any(rows[i].endswith(b" ") for i in sizes.before_wide)
        may_lack_blanks = False
        for i in short:
            gap, wide = self._width - sizes.cells[i], i in sizes.before_wide
            # If blanks are kept, at most one cell is empty, before a wide character. If they are lost, there
            # were `gap` of them, or one less and a wide character that did not fit.
            lost = gap > wide if keeps_blanks or self._keeps_blanks else wide
            doubt = doubt or lost or i in sizes.unsure
            may_lack_blanks = may_lack_blanks or (
                gap > BLANKS_BETWEEN_TOKENS and may_separate_tokens(rows[i], rows[i + 1])
            )
            rows[i] += b" " * (gap - wide)
        problem = AMBIGUOUS if doubt else None
        return JoinedRows(b"".join(rows), problem, may_lack_blanks, keeps_blanks, tally, leaves_short)

    def _fits(self, tally: Counter[int]) -> bool:
        """Return whether rows of these sizes and the rows learned before may be from a pane of this width."""
        if max(tally, default=0) > self._width:
            return False
        seen = self._sizes + tally
        full = seen[self._width]
        wider = sum(count for size, count in seen.items() if size > self._width)
        if full or wider:
            return full >= wider
        widest = max(seen, default=0)
        return seen[widest] < max(_MIN_TELLING_ROWS, seen.total() / 2)

    def _measure(self, rows: list[bytes]) -> _Sizes:
        """Measure all rows but the last.

        Sizes are in cells; in bytes if the rows are not UTF-8; in characters if a row has more cells than the
        width.

        A size in cells is unsure if terminals disagree about it, or if a program like `fold` may have wrapped
        the row.
        """
        sizes = _Sizes([len(row) for row in rows[:-1]])
        try:
            texts = {i: row.decode("utf-8") for i, row in enumerate(rows) if not row.isascii()}
        except UnicodeDecodeError:
            return sizes
        # `fold` counts bytes or characters: if a row has too many, it was not wrapped by `fold`.
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
