"""Find the JSON objects in rows of terminal text.

If an object turns out to be invalid or incomplete, its rows are read again for other objects. Rows that begin
with an inner object of the broken one are skipped, so that no byte is scanned more than a few times.
"""

from collections import Counter
from dataclasses import dataclass

from chorus.agents.claude_code.terminal.documents import BrokenObject, DocumentCollector, ObjectLocation
from chorus.agents.claude_code.terminal.json_objects import COMPLETE, INVALID, OPEN, ObjectScan, parse_object
from chorus.agents.claude_code.terminal.line_wrap import LineWrap
from chorus.agents.claude_code.terminal.open_objects import EndFinder, Guess, OpenObject
from chorus.agents.claude_code.terminal.terminal_noise import (
    ends_row,
    find_next,
    find_start,
    find_start_after_cut,
    may_follow,
    tidy_rows,
)

_BRACE, _RETURN = b"}\r"


@dataclass(slots=True)
class _Piece:
    """Rows to be read. A row that is read again keeps its position in the source."""

    data: bytes
    position: int
    next: int = 0
    clean: bool = True

    def tidy(self) -> None:
        """Apply `tidy_rows` to the rows not read yet.

        The positions of the rows may change, but they still increase from row to row.
        """
        self.position += self.next
        self.data, self.next, self.clean = tidy_rows(self.data[self.next :]), 0, True


class RowReader:
    """Reads the rows of one source."""

    def __init__(
        self, wrap: LineWrap, collector: DocumentCollector, problems: Counter[str], *, max_size: int
    ) -> None:
        self._wrap = wrap
        self._collector = collector
        self._problems = problems
        self._max_size = max_size
        self._todo: list[_Piece] = []
        self._received = 0
        self._open: OpenObject | None = None
        self._end_finder = EndFinder(wrap, collector, max_size=max_size)

    def read(self, rows: bytes) -> None:
        self._todo.append(_Piece(rows, self._received, clean=False))
        self._received += len(rows)
        self._drain()

    def read_row(self, row: bytes) -> None:
        plain = row.startswith(b"{") and row.endswith(b"}")
        if plain and self._open is None and self._collector.expects_documents and self._give_plain_row(row):
            self._received += len(row) + 1
        else:
            self.read(row + b"\n")

    def finish(self) -> None:
        """End the text: give up an object that is still open, and read its rows again for other objects."""
        while self._open is not None:
            if self._open.unscanned is None:
                self._break_off(self._open, self._received)
            else:
                self._scan_unscanned(self._open, self._received)
            self._drain()

    def skip_row(self, beginning: bytes) -> None:
        """Count a row that is too long to keep, and give up the object that is open."""
        self.finish()
        self._problems["noise" if find_start(beginning) is None else "too-long"] += 1

    def _drain(self) -> None:
        while self._todo:
            piece = self._todo[-1]
            if self._open is None and self._collector.expects_documents:
                self._read_plain_rows(piece)
            if piece.next >= len(piece.data):
                self._todo.pop()
            elif not piece.clean:
                piece.tidy()
            elif self._open is None:
                self._read_row(piece)
            elif self._open.unscanned is None:
                self._read_on(piece, self._open)
            else:
                self._search(piece, self._open)

    def _read_row(self, piece: _Piece) -> None:
        position, row = _take_row(piece)
        broken = self._collector.broken
        if broken.until and position >= broken.until:
            broken = self._collector.broken = BrokenObject()
        start = None if position in broken.inner_rows else broken.next_starts.get(position, find_start(row))
        if start is None:
            self._collector.add_noise(row, position)
        elif len(row) - start > self._max_size:
            self._problems["too-long"] += 1
        elif start == 0 and (value := parse_object(row)) is not None:
            self._collector.add_decoded(row.rstrip(b" \t"), value, ObjectLocation(position, 0, row))
        else:
            self._scan_row(row, position, start)

    def _read_plain_rows(self, piece: _Piece) -> None:
        """Read rows that are exactly one object each. Nearly all rows are."""
        data, start = piece.data, piece.next
        while data.startswith(b"{", start):
            end = data.find(b"\n", start)
            row = data[start : end - (data[end - 1] == _RETURN)]
            if row[-1] != _BRACE or not self._give_plain_row(row):
                break
            start = end + 1
        piece.next = start

    def _give_plain_row(self, row: bytes) -> bool:
        value = parse_object(row) if len(row) <= self._max_size else None
        if value is None:
            return False
        self._collector.give(row, value, True)
        return True

    def _scan_row(self, row: bytes, position: int, start: int) -> None:
        """Find the objects in a row, from `start` on. The last one may continue in the next row."""
        found: int | None = start
        while found is not None:
            start = found
            scan = ObjectScan()
            progress = scan.feed(row, start)
            if progress is OPEN:
                self._begin(row, position, start, scan)
                return
            if progress is COMPLETE and may_follow(row, scan.end):
                self._collector.add_row_object(row[start : scan.end], ObjectLocation(position, start, row))
                found = self._next_in_row(row, position, scan.end)
                continue
            found = find_start_after_cut(row, scan.end) if progress is INVALID else None
            if found is None or found <= start:
                self._collector.add_noise(row[start:], position)
                return
            self._problems["cut-off"] += 1

    def _next_in_row(self, row: bytes, position: int, ended: int) -> int | None:
        found = find_next(row, ended)
        if found is None and not ends_row(row, ended):
            self._collector.add_noise(row[ended:], position)
        return found

    def _begin(self, row: bytes, position: int, start: int, scan: ObjectScan) -> None:
        if (position, start) in self._collector.broken.abandoned:
            self._collector.add_noise(row[start:], position)
            return
        self._collector.on_object_start()
        sure = self._collector.broken.is_sure(position, start)
        open_object = OpenObject(start, sure, self._wrap.for_object(), scan, [row], [position])
        self._open = open_object
        if not self._wrap.wraps:
            self._break_off(open_object, position + len(row) + 1)
        else:
            self._end_finder.start(open_object, position)

    def _read_on(self, piece: _Piece, open_object: OpenObject) -> None:
        resume = piece.next
        position, row = _take_row(piece)
        scan = open_object.scan
        gap = open_object.wrap.missing_blanks(open_object.rows[-1], row, in_string=scan.in_string)
        if gap is None or scan.feed(b" " * gap) is INVALID:
            piece.next = resume
            self._break_off(open_object, position)
            return
        open_object.add(row, position)
        progress = scan.feed(row)
        if progress is OPEN:
            if scan.offset > self._max_size:
                open_object.drop_rows()
            self._end_finder.start(open_object, position + len(row) + 1)
        elif progress is COMPLETE and may_follow(row, scan.end):
            self._complete(open_object, row, position)
        else:
            self._break_off(open_object, position + len(row) + 1, failed_in=row)

    def _complete(self, open_object: OpenObject, row: bytes, position: int) -> None:
        self._open = None
        end = open_object.scan.end
        if open_object.too_long:
            self._problems["too-long"] += 1
        else:
            raw = b"\n".join([*open_object.rows[:-1], row[:end]])
            place = ObjectLocation(open_object.positions[0], open_object.start, row)
            self._collector.add_joined_object(open_object.wrap.join_rows(raw), place)
        found = self._next_in_row(row, position, end)
        if found is not None:
            self._scan_row(row, position, found)

    def _break_off(self, open_object: OpenObject, until: int, failed_in: bytes | None = None) -> None:
        """Give up an object that is invalid or incomplete, and read its rows again for other objects."""
        self._open = None
        followed = open_object.rows if failed_in is None else open_object.rows[:-1]
        self._problems[open_object.problem(followed)] += 1
        broken = self._collector.broken
        broken.until = max(broken.until, until)
        broken.inner_rows.update(open_object.inner_rows)
        if not open_object.too_long:  # else its first row was dropped
            broken.abandon(open_object.positions[0], open_object.start)
        first = 0 if open_object.too_long else 1
        next_starts = None if failed_in is None else open_object.next_starts()
        if next_starts is not None:
            index, start = next_starts
            broken.add_next_start(open_object.positions[index], start, sure=open_object.sure)
            first = min(first, index)
        inner = open_object.last_inner(in_row=failed_in is not None)
        if inner is not None:
            index, start = inner
            broken.add_next_start(open_object.positions[index], start, sure=False)
            first = min(first, index)
        self._read_again(open_object.rows[first:], open_object.positions[first:])

    def _read_again(self, rows: list[bytes], positions: list[int]) -> None:
        if rows:
            self._todo.append(_Piece(b"".join(row + b"\n" for row in rows), positions[0]))

    def _search(self, piece: _Piece, open_object: OpenObject) -> None:
        guess, piece.next = self._end_finder.search(open_object, piece.data, piece.next)
        if guess is Guess.RIGHT:
            self._open = None
        elif guess is Guess.WRONG:
            self._scan_unscanned(open_object, piece.position + piece.next)

    def _scan_unscanned(self, open_object: OpenObject, until: int) -> None:
        position = open_object.positions[-1] + len(open_object.rows[-1]) + 1
        self._todo.append(_Piece(self._end_finder.give_up(open_object, until), position))


def _take_row(piece: _Piece) -> tuple[int, bytes]:
    position = piece.position + piece.next
    end = piece.data.find(b"\n", piece.next)
    row = piece.data[piece.next : end]
    piece.next = end + 1
    return position, row
