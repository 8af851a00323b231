"""An object that started in one row and continues in the next.

`EndFinder` finds the object's last row without a scan: it guesses the row from the ends and beginnings of
rows, and the decoder confirms the guess. A confirmed guess is right, because the beginning of an object is
never a whole object. So events of megabytes are read at nearly the decoder's speed.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from enum import Enum, auto

from chorus.agents.claude_code.terminal.documents import DocumentCollector, ObjectLocation
from chorus.agents.claude_code.terminal.json_objects import ObjectScan, parse_object
from chorus.agents.claude_code.terminal.line_wrap import AMBIGUOUS, LineWrap
from chorus.agents.claude_code.terminal.terminal_noise import ends_row, find_start_after_cut


@dataclass(slots=True)
class OpenObject:
    """The rows of an object whose end has not been found."""

    start: int  # in its first row
    sure: bool  # it is not a part of a larger object
    wrap: LineWrap
    scan: ObjectScan
    rows: list[bytes]
    positions: list[int]
    offsets: list[int] = field(default_factory=lambda: [0])  # where each row starts in the scanned text
    inner_rows: list[int] = field(default_factory=list)
    too_long: bool = False
    size: int = 0
    unscanned: list[memoryview] | None = None  # rows after `rows`, decoded as a whole instead of scanned
    retry_size: int = 0  # the size at which to guess again

    def add(self, row: bytes, position: int) -> None:
        """Add a row that the scan is about to read."""
        if row[:1] == b"{" and self.scan.expects_value:
            self.inner_rows.append(position)
        if self.too_long:
            self.drop_rows()
        self.size += len(row) + 1
        self.rows.append(row)
        self.positions.append(position)
        self.offsets.append(self.scan.offset)

    def add_unscanned(self, rows: memoryview) -> None:
        assert self.unscanned is not None  # the caller is searching for its end
        self.unscanned.append(rows)
        self.size += len(rows)

    def take_unscanned(self) -> bytes:
        rows = b"".join(self.unscanned or [])
        self.unscanned = None
        self.retry_size = 2 * self.size
        self.size -= len(rows)
        return rows

    def raw(self) -> bytes:
        """Return all rows of the object as one text, without the last newline."""
        assert self.unscanned  # only unscanned rows are decoded as a whole
        *unscanned, last = self.unscanned
        return b"".join((b"\n".join(self.rows), b"\n", *unscanned, last[:-1]))

    def drop_rows(self) -> None:
        """Drop all rows but the last, because the object is too long: only its end is still looked for."""
        self.too_long = True
        del self.rows[:-1], self.positions[:-1], self.offsets[:-1]
        self.inner_rows.clear()

    def problem(self, followed: list[bytes]) -> str:
        """Return why this object broke off, as a key of `Reassembler.problems`.

        `followed`: the object's rows, without the row in which the scan failed.
        """
        if self.too_long:
            return "too-long"
        if self.wrap.contradicts(followed):
            return "wrong-width"
        return "cut-off" if self.rows[0][self.start : self.start + 2] == b'{"' else "noise"

    def next_starts(self) -> tuple[int, int] | None:
        """Return the row and start of the next object if this one was cut off without a newline; else None.

        Call it when the scan failed in the last row.
        """
        before = self.rows[-2] or b" "
        start = find_start_after_cut(before + self.rows[-1], len(before) + self.scan.end)
        if start is None:
            return None
        last = len(self.rows) - 1
        position = (last - 1, start) if start < len(before) else (last, start - len(before))
        return position if position > (0, self.start) else None

    def last_inner(self, *, in_row: bool) -> tuple[int, int] | None:
        """Return the row and offset of an object inside this one if it may be the next document; else None.

        Of the objects inside this one, the object that was closed last is checked. It may be a document if
        its end is the end of a row and the scan failed right after it. `in_row`: the scan failed in the last
        row, not after it.
        """
        if self.scan.last_closed is None:
            return None
        if in_row and not ends_row(self.rows[-1][: self.scan.end], 0):
            return None
        start, end = self.scan.last_closed
        ended = bisect_right(self.offsets, end - 1) - 1
        if ended != len(self.rows) - 1 - in_row or not ends_row(self.rows[ended], end - self.offsets[ended]):
            return None
        started = bisect_right(self.offsets, start) - 1
        return None if started < 0 else (started, start - self.offsets[started])


_BRACE_AND_ROW_END = re.compile(rb"\}\n")


class Guess(Enum):
    """The result of a search for the end of an object."""

    RIGHT = auto()
    WRONG = auto()
    NONE_YET = auto()


class EndFinder:
    """Finds the last row of an object without scanning it."""

    def __init__(self, wrap: LineWrap, collector: DocumentCollector, *, max_size: int) -> None:
        self._wrap = wrap
        self._collector = collector
        self._max_size = max_size
        # A search failed in the rows before this position, so they are scanned.
        self._failed_until = 0

    def start(self, open_object: OpenObject, position: int) -> None:
        """Begin to search the rows from `position` on, unless a search there is impossible or has failed."""
        if self._wrap.joins_rows and position >= self._failed_until and not open_object.too_long:
            open_object.unscanned = []

    def search(self, open_object: OpenObject, data: bytes, start: int) -> tuple[Guess, int]:
        """Search `data[start:]`; return the result and where the search stopped."""
        worth_trying = start + max(0, open_object.retry_size - open_object.size)
        for found in _BRACE_AND_ROW_END.finditer(data, worth_trying):
            if self._may_end(data, found.start()):
                open_object.add_unscanned(memoryview(data)[start : found.end()])
                return (Guess.RIGHT if self._take(open_object) else Guess.WRONG), found.end()
        open_object.add_unscanned(memoryview(data)[start:])
        return (Guess.NONE_YET if open_object.size <= self._max_size else Guess.WRONG), len(data)

    def give_up(self, open_object: OpenObject, until: int) -> bytes:
        """End a search that failed. Return the searched rows, which must now be scanned.

        Rows before `until` are not searched again.
        """
        self._failed_until = max(self._failed_until, until)
        return open_object.take_unscanned()

    def _may_end(self, data: bytes, brace: int) -> bool:
        if data.startswith((b'{"', b"\n", b"\x1b"), brace + 2):
            return True
        row = data[data.rfind(b"\n", 0, brace) + 1 : brace + 1]
        return not self._wrap.looks_full((row,), row)

    def _take(self, open_object: OpenObject) -> bool:
        raw = open_object.raw()
        joined = self._wrap.join_rows(raw)
        if (
            joined is None
            or joined.problem not in (None, AMBIGUOUS)
            or joined.may_lack_blanks
            or len(raw) > self._max_size
        ):
            return False
        text = joined.text[open_object.start :]
        value = parse_object(text)
        if value is None:
            return False
        place = ObjectLocation(open_object.positions[0], open_object.start, raw[raw.rfind(b"\n") + 1 :])
        if joined.problem is None:
            self._wrap.learn(joined)
            self._collector.add_decoded(text, value, place)
        else:  # another text would look the same, but it differs only in blanks and ends here too
            self._collector.add_joined_object(joined, place)
        return True
