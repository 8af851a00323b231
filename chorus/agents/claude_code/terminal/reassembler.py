"""Read whole JSON objects out of the text of a terminal, once each and in order."""

from collections import Counter
from typing import Any

from chorus.agents.claude_code.terminal.documents import DocumentCollector
from chorus.agents.claude_code.terminal.line_wrap import KnownWidth, LineWrap, NoWrap, UnknownWidth
from chorus.agents.claude_code.terminal.row_reader import RowReader
from chorus.agents.interface import Document

DEFAULT_MAX_SIZE = 64 * 2**20
# What may be in one row with an object: a shell prompt, a title, the mode switches of an ending client.
_MAX_BESIDE_OBJECT = 64 * 2**10
# Smaller pieces of a row are joined at once, because each piece has a fixed cost.
_MAX_COPIED_PIECE = 16 * 2**10


class Reassembler:
    """Reads one source: one pipe, one capture, one file.

    `width` is the pane's width, for a capture in rows. `unwrapped`: the source never wraps, so a newline
    inside an object means that the object was cut off. Without `width` and `unwrapped`, an object over
    several rows is counted and not returned. `allow_inexact`: also return objects whose blanks at row ends
    are in doubt, marked `exact=False`.

    `problems` counts by kind: "noise" (rows that belong to no object), "cut-off", "too-long" (over
    `max_size`), "malformed" (not JSON), "unknown-width" (wrapped, and no width given), "ambiguous-wrap" (two
    texts would look the same), "wrong-width" (the rows contradict the width given).
    """

    def __init__(
        self,
        *,
        width: int | None = None,
        unwrapped: bool = False,
        allow_inexact: bool = False,
        max_size: int = DEFAULT_MAX_SIZE,
    ) -> None:
        self.problems: Counter[str] = Counter()
        self._given: list[Document] = []
        self._max_size = max_size
        wrap: LineWrap = NoWrap() if unwrapped else UnknownWidth() if width is None else KnownWidth(width)
        collector = DocumentCollector(wrap, self._give, self.problems, allow_inexact=allow_inexact)
        self._reader = RowReader(wrap, collector, self.problems, max_size=max_size)
        self._row: list[bytes] = []  # the pieces of the last row so far
        self._row_size = 0
        self._skipping_row = False

    def feed(self, chunk: bytes | str) -> list[Document]:
        """Take the next chunk. Return the objects whose last row ends in this chunk."""
        if isinstance(chunk, str):
            chunk = _encode(chunk)
        end = chunk.rfind(b"\n") + 1
        if end:
            self._read(chunk, end)
            chunk = chunk[end:]
        if chunk and not self._skipping_row:
            self._hold(chunk)
        return self._collect() if self._given else []

    def close(self) -> list[Document]:
        self._read(b"\n", 1)
        self._reader.finish()
        return self._collect()

    def _read(self, chunk: bytes, end: int) -> None:
        """Read the rows that end in `chunk[:end]`."""
        start = 0
        if self._skipping_row or self._row:
            start = chunk.find(b"\n") + 1
            if not self._skipping_row:
                self._reader.read_row(self._take_row(chunk[: start - 1]))
            self._skipping_row = False
        if start < end:
            self._reader.read(chunk[start:end])

    def _hold(self, piece: bytes) -> None:
        self._row_size += len(piece)
        while self._row and len(self._row[-1]) <= len(piece) < _MAX_COPIED_PIECE:
            piece = self._row.pop() + piece
        self._row.append(piece)
        if self._row_size > self._max_size + _MAX_BESIDE_OBJECT:
            self._reader.skip_row(self._take_row(b"")[:_MAX_BESIDE_OBJECT])
            self._skipping_row = True

    def _take_row(self, rest: bytes) -> bytes:
        """Return the unfinished row with `rest` as its end, and forget it."""
        row = b"".join((*self._row, rest.removesuffix(b"\r")))
        self._row.clear()
        self._row_size = 0
        return row

    def _give(self, text: bytes, value: dict[str, Any], exact: bool) -> None:
        self._given.append(Document(text, value, exact))

    def _collect(self) -> list[Document]:
        found, self._given = self._given, []
        return found


def _encode(text: str) -> bytes:
    """Encode text. Surrogate escapes become their bytes, unless there are other lone surrogates."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
