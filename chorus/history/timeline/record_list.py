"""The records of a timeline in memory: the newest as they are, older ones packed.

A packed record takes a tenth of the memory. Reading one unpacks its whole pack, in about a millisecond.
"""

import pickle
import zlib
from collections.abc import Iterator, Sequence
from typing import overload

from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.model.lru import LruDict

CHUNK = 64
# At least this many of the newest records stay unpacked: most lookups need one of them.
MIN_UNPACKED = 512
MAX_CHUNKS_REMEMBERED = 16


class RecordList(Sequence[TimelineCommit]):
    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._newest: list[TimelineCommit] = []
        self._unpacked: LruDict[int, list[TimelineCommit]] = LruDict(MAX_CHUNKS_REMEMBERED)

    def append(self, recorded: TimelineCommit) -> None:
        self._newest.append(recorded)
        if len(self._newest) >= MIN_UNPACKED + CHUNK:
            # A pickle is safe here, because it never leaves this process. It is also the quickest to unpack.
            self._chunks.append(zlib.compress(pickle.dumps(self._newest[:CHUNK], protocol=5), 1))
            del self._newest[:CHUNK]

    @property
    def last(self) -> TimelineCommit | None:
        return self._newest[-1] if self._newest else None

    def __len__(self) -> int:
        return len(self._chunks) * CHUNK + len(self._newest)

    @overload
    def __getitem__(self, index: int) -> TimelineCommit: ...
    @overload
    def __getitem__(self, index: slice) -> list[TimelineCommit]: ...

    def __getitem__(self, index: int | slice) -> TimelineCommit | list[TimelineCommit]:
        if isinstance(index, slice):
            return [self._at(position) for position in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(index)
        return self._at(position)

    def __iter__(self) -> Iterator[TimelineCommit]:
        for number in range(len(self._chunks)):
            yield from self._unpack(number)
        yield from self._newest

    def __reversed__(self) -> Iterator[TimelineCommit]:
        yield from reversed(self._newest)
        for number in reversed(range(len(self._chunks))):
            yield from reversed(self._unpack(number))

    def _at(self, position: int) -> TimelineCommit:
        number, offset = divmod(position, CHUNK)
        if number >= len(self._chunks):
            return self._newest[position - len(self._chunks) * CHUNK]
        known = self._unpacked.touch(number)
        if known is None:
            known = self._unpacked[number] = self._unpack(number)
        return known[offset]

    def _unpack(self, number: int) -> list[TimelineCommit]:
        found: list[TimelineCommit] = pickle.loads(zlib.decompress(self._chunks[number]))  # noqa: S301  our own
        return found
