"""Terminal bytes in, whole JSON objects out, once each and in order.

Receives the output of a pane in chunks cut anywhere: as `pipe-pane` or control mode gives it, as
`capture-pane` shows it, joined or in rows. Gives each whole top-level object with its exact text, and
counts what it passed over. Never does I/O, never strips, never gives an object whose text could differ
from what was printed.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from chorus.core.reassembly.judging import Judge
from chorus.core.reassembly.pane_rows import Pane
from chorus.core.reassembly.row_reader import RowReader
from chorus.core.reassembly.seams import AnyWidth, OneLine, Seams

DEFAULT_CAP = 64 * 2**20
# What may stand in one row beside an object: a prompt, a title, the client's farewell of mode switches.
_BESIDE = 64 * 2**10


@dataclass(frozen=True, slots=True)
class Document:
    """One whole top-level JSON object."""

    text: bytes
    value: dict[str, Any]
    exact: bool = True  # False: a blank more or less may stand in a string; given only on request


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
        self._row = bytearray()
        self._skipping = False

    def feed(self, chunk: bytes | str) -> list[Document]:
        """Take the next piece; return the objects whose last row it completed."""
        if isinstance(chunk, str):
            chunk = _encode(chunk)
        end = chunk.rfind(b"\n") + 1
        if end:
            self._read(chunk[:end])
            chunk = chunk[end:]
        if not self._skipping:
            self._row += chunk
            if len(self._row) > self._cap + _BESIDE:
                self._skip_row()
        return self._collect() if self._given else []

    def close(self) -> list[Document]:
        """Take the end of the source; return what only now is known to be whole."""
        self._read(b"\n")
        self._reader.finish()
        return self._collect()

    def _read(self, rows: bytes) -> None:
        if self._skipping:
            rows = rows[rows.find(b"\n") + 1 :]
            self._skipping = False
        elif self._row:
            rows = bytes(self._row) + rows
            self._row.clear()
        self._reader.read(rows)

    def _skip_row(self) -> None:
        self._reader.skip_row(bytes(self._row[:_BESIDE]))
        self._row.clear()
        self._skipping = True

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
