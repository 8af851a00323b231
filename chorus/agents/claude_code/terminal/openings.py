"""An object that began in one row and goes on in the next, and what is left of one that did not end.

Plain state of the row reader: `Opening` holds the rows read so far and the scan that follows them, `Wreck`
what the scan learned about rows that have to be read again. Neither decides anything about the source.
"""

from bisect import bisect_right
from dataclasses import dataclass, field

from chorus.agents.claude_code.terminal.scanning import Scan
from chorus.agents.claude_code.terminal.seams import Seams
from chorus.agents.claude_code.terminal.terminal_noise import find_glued, nothing_follows


@dataclass(slots=True)
class Wreck:
    """Rows of an object that broke off, read again for objects that begin in them.

    Positions count bytes from the start of the source.
    """

    until: int = 0
    # Rows that begin with an object inside the broken one: parts of it, not documents.
    inner_rows: set[int] = field(default_factory=set)
    # Row → where in it the next object begins: there the broken one could not go on.
    glued: dict[int, int] = field(default_factory=dict)
    # Objects that either end the broken one or follow it: (row, where in it).
    claims: set[tuple[int, int]] = field(default_factory=set)
    # Where an object began that broke off: (row, where in it).
    given_up: set[tuple[int, int]] = field(default_factory=set)

    def is_sure(self, row: int, start: int) -> bool:
        """Whether an object that begins there cannot be a part of the broken one."""
        return row >= self.until or (self.glued.get(row) == start and (row, start) not in self.claims)

    def give_up(self, row: int, start: int) -> None:
        """What began there broke off: nothing is read from there again, so that reading comes to an end."""
        self.given_up.add((row, start))
        if self.glued.get(row) == start:
            del self.glued[row]

    def glue(self, row: int, start: int, *, sure: bool) -> None:
        """An object may begin there; surely so if what it was read as a part of surely began where it did."""
        if sure:
            self.glued[row] = start
            self.claims.discard((row, start))
        elif row not in self.glued:
            self.glued[row] = start
            self.claims.add((row, start))
            self.inner_rows.discard(row)


@dataclass(slots=True)
class Opening:
    start: int  # where in its first row it begins
    sure: bool  # it is no part of a larger object
    seams: Seams
    scan: Scan
    rows: list[bytes]
    positions: list[int]
    offsets: list[int] = field(default_factory=lambda: [0])  # of each row, in what the scan was fed
    inner_rows: list[int] = field(default_factory=list)
    too_long: bool = False
    size: int = 0
    skimmed: list[memoryview] | None = None  # rows behind these, not followed but tried as a whole
    retry_size: int = 0  # the size at which to try again

    def add(self, row: bytes, position: int) -> None:
        """Take a row the scan is about to read."""
        if row[:1] == b"{" and self.scan.expects_value:
            self.inner_rows.append(position)
        if self.too_long:
            self.forget()
        self.size += len(row) + 1
        self.rows.append(row)
        self.positions.append(position)
        self.offsets.append(self.scan.offset)

    def skim(self, rows: memoryview) -> None:
        assert self.skimmed is not None  # it is being skimmed
        self.skimmed.append(rows)
        self.size += len(rows)

    def unskim(self) -> bytes:
        rows = b"".join(self.skimmed or [])
        self.skimmed = None
        self.retry_size = 2 * self.size
        self.size -= len(rows)
        return rows

    def raw(self) -> bytes:
        """All its rows, the last without its newline."""
        assert self.skimmed  # only what was skimmed is tried as a whole
        *skimmed, last = self.skimmed
        return b"".join((b"\n".join(self.rows), b"\n", *skimmed, last[:-1]))

    def forget(self) -> None:
        """Too long to be kept: only follow it to its end."""
        self.too_long = True
        del self.rows[:-1], self.positions[:-1], self.offsets[:-1]
        self.inner_rows.clear()

    def problem(self, followed: list[bytes]) -> str:
        """What to call it when it broke off after these rows."""
        if self.too_long:
            return "too-long"
        if self.seams.contradicted(followed):
            return "wrong-width"
        return "cut-off" if self.rows[0][self.start : self.start + 2] == b'{"' else "noise"

    def glued(self) -> tuple[int, int] | None:
        """The row and place where the next object begins, if this one was cut off without a newline.

        Called when the scan died in the last row; the next object's brace may end the row before.
        """
        before = self.rows[-2] or b" "
        start = find_glued(before + self.rows[-1], len(before) + self.scan.end)
        if start is None:
            return None
        last = len(self.rows) - 1
        place = (last - 1, start) if start < len(before) else (last, start - len(before))
        return place if place > (0, self.start) else None

    def last_inner(self, *, in_row: bool) -> tuple[int, int] | None:
        """The row and place of the object inside this one that ended with a row, right where the scan died.

        It may be a part of this object, or the next one, printed where this one was cut off before a value.
        `in_row` says that the scan died in its last row, and not before reading one.
        """
        if self.scan.last_closed is None:
            return None
        if in_row and not nothing_follows(self.rows[-1][: self.scan.end], 0):
            return None
        start, end = self.scan.last_closed
        ended = bisect_right(self.offsets, end - 1) - 1
        if ended != len(self.rows) - 1 - in_row or not nothing_follows(
            self.rows[ended], end - self.offsets[ended]
        ):
            return None
        begun = bisect_right(self.offsets, start) - 1
        return None if begun < 0 else (begun, start - self.offsets[begun])
