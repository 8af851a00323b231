"""Terminal bytes in, whole JSON objects out, once each and in order.

Receives the output of a pane in chunks cut anywhere: as `pipe-pane` or control mode gives it, as
`capture-pane` shows it, joined or in rows. Gives each whole top-level object with its exact text, and
counts what it passed over. Never does I/O, never strips, never gives an object whose text could differ
from what was printed.
"""

from collections import Counter
from typing import Any

from chorus.agents.claude_code.terminal.judging import Judge
from chorus.agents.claude_code.terminal.pane_rows import Pane
from chorus.agents.claude_code.terminal.row_reader import RowReader
from chorus.agents.claude_code.terminal.seams import AnyWidth, OneLine, Seams
from chorus.agents.interface import Document

DEFAULT_CAP = 64 * 2**20
# What may stand in one row beside an object: a prompt, a title, the client's farewell of mode switches.
_BESIDE = 64 * 2**10
# Pieces of a row that are smaller are put together as they come: each has a price of its own.
_SMALL = 16 * 2**10


class Reassembler:
    """Feed it one source: one pipe, one capture, one file.

    `width` is the pane's, for rows of a plain capture. `unwrapped` says that the source never wraps, so that
    a newline inside an object always means that it was cut off. With neither, an object that goes on over
    rows is reported and not given. `doubtful` also gives objects of which only blanks at the end of rows are
    in doubt, marked `exact=False`.

    `problems` counts by kind: "noise" (rows that are none of an object), "cut-off", "too-long" (over `cap`),
    "malformed", "unknown-width" (wrapped, and no width given), "ambiguous-wrap" (two texts would look the
    same), "wrong-width" (the rows contradict the width given).
    """

    def __init__(
        self,
        *,
        width: int | None = None,
        unwrapped: bool = False,
        doubtful: bool = False,
        cap: int = DEFAULT_CAP,
    ) -> None:
        self.problems: Counter[str] = Counter()
        self._given: list[Document] = []
        self._cap = cap
        seams: Seams = OneLine() if unwrapped else AnyWidth() if width is None else Pane(width)
        judge = Judge(seams, self._give, self.problems, doubtful=doubtful)
        self._reader = RowReader(seams, judge, self.problems, cap=cap)
        self._row: list[bytes] = []  # the last row, as far as it came
        self._row_size = 0
        self._skipping = False

    def feed(self, chunk: bytes | str) -> list[Document]:
        """Take the next piece; return the objects whose last row it completed."""
        if isinstance(chunk, str):
            chunk = _encode(chunk)
        end = chunk.rfind(b"\n") + 1
        if end:
            self._read(chunk, end)
            chunk = chunk[end:]
        if chunk and not self._skipping:
            self._hold(chunk)
        return self._collect() if self._given else []

    def close(self) -> list[Document]:
        """Take the end of the source; return what only now is known to be whole."""
        self._read(b"\n", 1)
        self._reader.finish()
        return self._collect()

    def _read(self, chunk: bytes, end: int) -> None:
        """Read the rows that end in the chunk before `end`."""
        start = 0
        if self._skipping or self._row:
            start = chunk.find(b"\n") + 1
            if not self._skipping:
                self._reader.read_row(self._take_row(chunk[: start - 1]))
            self._skipping = False
        if start < end:
            self._reader.read(chunk[start:end])

    def _hold(self, piece: bytes) -> None:
        self._row_size += len(piece)
        while self._row and len(self._row[-1]) <= len(piece) < _SMALL:
            piece = self._row.pop() + piece
        self._row.append(piece)
        if self._row_size > self._cap + _BESIDE:
            self._reader.skip_row(self._take_row(b"")[:_BESIDE])
            self._skipping = True

    def _take_row(self, rest: bytes) -> bytes:
        """The last row, whole now. One of megabytes is copied once on its way here, and never again."""
        row = b"".join((*self._row, rest.removesuffix(b"\r")))
        self._row.clear()
        self._row_size = 0
        return row

    def _give(self, text: bytes, value: dict[str, Any], exact: bool) -> None:
        self._given.append(Document(text, value, exact))

    def _collect(self) -> list[Document]:
        given, self._given = self._given, []
        return given


def _encode(text: str) -> bytes:
    """Text decoded with surrogate escapes gives back its bytes; any other lone surrogate stays what it is."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
