"""Whole rows of terminal text in, the objects in them out.

Receives rows, each with its newline, any number at a time, and hands what it finds to a `Judge`. An object
may go on over as many rows as the source's seams allow. When the text stops being that object, its rows
are read again for others. Two objects that could both go on at one byte differ in whether it is inside a
string, and rows known to begin a mere part of one are passed over, so no byte is scanned more than a few
times.
"""

from collections import Counter
from dataclasses import dataclass

from chorus.agents.claude_code.terminal.decoding import parse_object
from chorus.agents.claude_code.terminal.judging import Judge, Place
from chorus.agents.claude_code.terminal.openings import Opening, Wreck
from chorus.agents.claude_code.terminal.scanning import DEAD, DONE, OPEN, Scan
from chorus.agents.claude_code.terminal.seams import Seams
from chorus.agents.claude_code.terminal.skimming import Guess, Skimmer
from chorus.agents.claude_code.terminal.terminal_noise import (
    find_glued,
    find_next,
    find_start,
    may_follow,
    nothing_follows,
    tidy_rows,
)

_BRACE, _RETURN = b"}\r"


@dataclass(slots=True)
class _Piece:
    """Rows to be read. A position names a row for as long as it may be read again."""

    data: bytes
    position: int
    next: int = 0
    clean: bool = True

    def tidy(self) -> None:
        """Make what is left clean; positions only have to grow, not to count bytes."""
        self.position += self.next
        self.data, self.next, self.clean = tidy_rows(self.data[self.next :]), 0, True


class RowReader:
    def __init__(self, seams: Seams, judge: Judge, problems: Counter[str], *, cap: int) -> None:
        self._seams = seams
        self._judge = judge
        self._problems = problems
        self._cap = cap
        self._todo: list[_Piece] = []
        self._received = 0
        self._open: Opening | None = None
        self._skimmer = Skimmer(seams, judge, cap=cap)

    def read(self, rows: bytes) -> None:
        self._todo.append(_Piece(rows, self._received, clean=False))
        self._received += len(rows)
        self._drain()

    def read_row(self, row: bytes) -> None:
        """Take one row without its newline."""
        plain = row.startswith(b"{") and row.endswith(b"}")
        if plain and self._open is None and self._judge.is_calm and self._give_plain(row):
            self._received += len(row) + 1
        else:
            self.read(row + b"\n")

    def finish(self) -> None:
        """No more rows come: what is open is cut off."""
        while self._open is not None:
            if self._open.skimmed is None:
                self._break_off(self._open, self._received)
            else:
                self._follow_skimmed(self._open, self._received)
            self._drain()

    def skip_row(self, beginning: bytes) -> None:
        """A row too long to be kept came; this is how it began."""
        self.finish()
        self._problems["noise" if find_start(beginning) is None else "too-long"] += 1

    def _drain(self) -> None:
        while self._todo:
            piece = self._todo[-1]
            if self._open is None and self._judge.is_calm:
                self._read_plain_rows(piece)
            if piece.next >= len(piece.data):
                self._todo.pop()
            elif not piece.clean:
                piece.tidy()
            elif self._open is None:
                self._read_row(piece)
            elif self._open.skimmed is None:
                self._read_on(piece, self._open)
            else:
                self._skim(piece, self._open)

    def _read_row(self, piece: _Piece) -> None:
        position, row = _take_row(piece)
        wreck = self._judge.wreck
        if wreck.until and position >= wreck.until:
            wreck = self._judge.wreck = Wreck()
        start = None if position in wreck.inner_rows else wreck.glued.get(position, find_start(row))
        if start is None:
            self._judge.noise(row, position)
        elif len(row) - start > self._cap:
            self._problems["too-long"] += 1
        elif start == 0 and (value := parse_object(row)) is not None:
            self._judge.decoded(row.rstrip(b" \t"), value, Place(position, 0, row))
        else:
            self._scan_row(row, position, start)

    def _read_plain_rows(self, piece: _Piece) -> None:
        """Take rows that are one object each, the way nearly all are, with no more work than that."""
        data, start = piece.data, piece.next
        while data.startswith(b"{", start):
            end = data.find(b"\n", start)
            row = data[start : end - (data[end - 1] == _RETURN)]
            if row[-1] != _BRACE or not self._give_plain(row):
                break
            start = end + 1
        piece.next = start

    def _give_plain(self, row: bytes) -> bool:
        value = parse_object(row) if len(row) <= self._cap else None
        if value is None:
            return False
        self._judge.give(row, value, True)
        return True

    def _scan_row(self, row: bytes, position: int, start: int) -> None:
        """Read a row with more in it than one object, or less."""
        found: int | None = start
        while found is not None:
            start = found
            scan = Scan()
            progress = scan.feed(row, start)
            if progress is OPEN:
                self._begin(row, position, start, scan)
                return
            if progress is DONE and may_follow(row, scan.end):
                self._judge.object_in_row(row[start : scan.end], Place(position, start, row))
                found = self._next_in_row(row, position, scan.end)
                continue
            found = find_glued(row, scan.end) if progress is DEAD else None
            if found is None or found <= start:
                self._judge.noise(row[start:], position)
                return
            self._problems["cut-off"] += 1

    def _next_in_row(self, row: bytes, position: int, ended: int) -> int | None:
        found = find_next(row, ended)
        if found is None and not nothing_follows(row, ended):
            self._judge.noise(row[ended:], position)
        return found

    def _begin(self, row: bytes, position: int, start: int, scan: Scan) -> None:
        if (position, start) in self._judge.wreck.given_up:
            self._judge.noise(row[start:], position)
            return
        self._judge.begun()
        sure = self._judge.wreck.is_sure(position, start)
        opening = Opening(start, sure, self._seams.begin(), scan, [row], [position])
        self._open = opening
        if not self._seams.wraps:
            self._break_off(opening, position + len(row) + 1)
        else:
            self._skimmer.begin(opening, position)

    def _read_on(self, piece: _Piece, opening: Opening) -> None:
        resume = piece.next
        position, row = _take_row(piece)
        scan = opening.scan
        gap = opening.seams.blanks_lost(opening.rows[-1], row, in_string=scan.in_string)
        if gap is None or scan.feed(b" " * gap) is DEAD:
            piece.next = resume
            self._break_off(opening, position)
            return
        opening.add(row, position)
        progress = scan.feed(row)
        if progress is OPEN:
            if scan.offset > self._cap:
                opening.forget()
            self._skimmer.begin(opening, position + len(row) + 1)
        elif progress is DONE and may_follow(row, scan.end):
            self._complete(opening, row, position)
        else:
            self._break_off(opening, position + len(row) + 1, died_in=row)

    def _complete(self, opening: Opening, row: bytes, position: int) -> None:
        self._open = None
        end = opening.scan.end
        if opening.too_long:
            self._problems["too-long"] += 1
        else:
            raw = b"\n".join([*opening.rows[:-1], row[:end]])
            place = Place(opening.positions[0], opening.start, row)
            self._judge.object_in_rows(opening.seams.restore(raw), place)
        found = self._next_in_row(row, position, end)
        if found is not None:
            self._scan_row(row, position, found)

    def _break_off(self, opening: Opening, until: int, died_in: bytes | None = None) -> None:
        """The text is not that object, or not all of it: read its rows again for what begins in them."""
        self._open = None
        followed = opening.rows if died_in is None else opening.rows[:-1]
        self._problems[opening.problem(followed)] += 1
        wreck = self._judge.wreck
        wreck.until = max(wreck.until, until)
        wreck.inner_rows.update(opening.inner_rows)
        if not opening.too_long:  # else its first row is forgotten
            wreck.give_up(opening.positions[0], opening.start)
        first = 0 if opening.too_long else 1
        glued = None if died_in is None else opening.glued()
        if glued is not None:
            index, start = glued
            wreck.glue(opening.positions[index], start, sure=opening.sure)
            first = min(first, index)
        inner = opening.last_inner(in_row=died_in is not None)
        if inner is not None:
            index, start = inner
            wreck.glue(opening.positions[index], start, sure=False)
            first = min(first, index)
        self._read_again(opening.rows[first:], opening.positions[first:])

    def _read_again(self, rows: list[bytes], positions: list[int]) -> None:
        if rows:
            self._todo.append(_Piece(b"".join(row + b"\n" for row in rows), positions[0]))

    def _skim(self, piece: _Piece, opening: Opening) -> None:
        guess, piece.next = self._skimmer.skim(opening, piece.data, piece.next)
        if guess is Guess.RIGHT:
            self._open = None
        elif guess is Guess.WRONG:
            self._follow_skimmed(opening, piece.position + piece.next)

    def _follow_skimmed(self, opening: Opening, until: int) -> None:
        position = opening.positions[-1] + len(opening.rows[-1]) + 1
        self._todo.append(_Piece(self._skimmer.give_up(opening, until), position))


def _take_row(piece: _Piece) -> tuple[int, bytes]:
    position = piece.position + piece.next
    end = piece.data.find(b"\n", piece.next)
    row = piece.data[piece.next : end]
    piece.next = end + 1
    return position, row
