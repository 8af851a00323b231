"""Rows of plain ASCII, each filled up to the width of the pane.

Receives the rows of one object, where a byte is a cell. Gives them as one text with the blanks they lost, and
what their sizes tell. Events of megabytes come this way, so it is done in bulk.
"""

from collections import Counter
from dataclasses import dataclass

from chorus.agents.claude_code.terminal.seams import BLANKS_BETWEEN_TOKENS

# Rows handled together: as much as stays in the processor's cache, which halves the time.
_BLOCK = 64 * 1024
# Which token may follow which, by the last byte of the one and the first of the other.
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
class Padded:
    text: bytes
    rows: int  # not counting the last, which is not padded
    odd: list[int]  # the sizes of rows that were not full
    loose: bool  # some row may end outside a string and lack more blanks than stand between tokens

    def tally(self, width: int) -> Counter[int]:
        """How many rows had which size; short ones matter only where none is full."""
        full = self.rows - len(self.odd)
        telling = (size for size in self.odd if size > width) if full else self.odd
        return Counter({width: full}) + Counter(telling)


def pad_rows(raw: bytes, width: int) -> Padded:
    texts: list[bytes] = []
    odd: list[int] = []
    loose = False
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
            odd.append(size)
            if size < tight and (not row or row[-1] in _FOLLOWS):
                following = rows[i + 1] if i + 1 < len(rows) else raw[stop + 1 : stop + 1 + width]
                loose = loose or is_loose(row, following)
            rows[i] = row.ljust(width)
        texts.append(b"".join(rows))
        start = stop + 1
    texts.append(raw[end + 1 :])
    return Padded(b"".join(texts), seen, odd, loose)


def is_loose(row: bytes, following: bytes) -> bool:
    """Whether the seam between the rows could lie between two tokens."""
    ends, starts = row.rstrip()[-1:], following.lstrip()[:1]
    return not ends or not starts or starts in _FOLLOWS.get(ends[0], b"")
