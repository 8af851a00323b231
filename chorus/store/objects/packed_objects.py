"""Read objects from packs in process, except deltas, which `BatchReader` leaves to git.

Most trees read for the first time are stored whole, and reading one here takes a quarter of the time of
asking another process, on a busy machine a tenth. gitdb's `PackedDB` would do it too, deltas included, but
takes four to nine times as long per tree, which makes the first edit in a directory 20 to 30 % slower
(decision 0014).

A pack that `git gc` removes stays readable while it is open here. It is closed when an object is not found.
"""

import mmap
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from chorus.model.ids import Oid

MAGIC = b"\xfftOc\x00\x00\x00\x02"
FAN = struct.Struct(">256L")
NAMES = len(MAGIC) + FAN.size
# Numbers of the kinds in a pack; higher numbers are deltas.
KINDS = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}
LARGE_OFFSET = 0x80000000  # in packs above 2 GB the offset is in another table
# Bytes that deflate may add to data that does not compress.
DEFLATE_EXTRA = 64
# Each takes two descriptors. With more packs than this, the rest is left to git.
MAX_PACKS = 40


class Pack:
    """One pack and its index, mapped into memory."""

    def __init__(self, index: Path) -> None:
        self._index = map_file(index)
        if self._index[: len(MAGIC)] != MAGIC:
            raise ValueError(f"{index} is not an index of version 2")
        self._fan = (0, *FAN.unpack_from(self._index, len(MAGIC)))
        count = self._fan[256]
        self._offsets = NAMES + 24 * count
        self._pack = map_file(index.with_suffix(".pack"))

    def read(self, name: bytes) -> tuple[bytes, bytes] | None:
        position = self._find(name)
        if position is None:
            return None
        pack = self._pack
        byte = pack[position]
        kind = KINDS.get(byte >> 4 & 7)
        size, shift = byte & 15, 4
        while byte & 0x80:
            position += 1
            byte = pack[position]
            size |= (byte & 0x7F) << shift
            shift += 7
        if kind is None:
            return None
        deflated = pack[position + 1 : position + 1 + size + size // 1000 + DEFLATE_EXTRA]
        data = zlib.decompressobj().decompress(deflated)
        return (kind, data) if len(data) == size else None

    def _find(self, name: bytes) -> int | None:
        index = self._index
        low, high = self._fan[name[0]], self._fan[name[0] + 1]
        while low < high:
            middle = (low + high) // 2
            start = NAMES + 20 * middle
            here = index[start : start + 20]
            if here == name:
                start = self._offsets + 4 * middle
                offset = int.from_bytes(index[start : start + 4], "big")
                return None if offset & LARGE_OFFSET else offset
            if here < name:
                low = middle + 1
            else:
                high = middle
        return None

    def close(self) -> None:
        self._index.close()
        self._pack.close()


class PackReader:
    def __init__(self, stores: Sequence[Path]) -> None:
        self._directories = [store / "pack" for store in stores]
        self._names = [str(directory) for directory in self._directories]
        self._packs: list[Pack] = []
        self._mtimes: list[int] = []

    def read(self, oid: Oid) -> tuple[bytes, bytes] | None:
        name = bytes.fromhex(oid)
        # An object never changes, so an open pack is right even if its file is gone.
        return self._look(name) or (self._look(name) if self._reopen() else None)

    def _look(self, name: bytes) -> tuple[bytes, bytes] | None:
        for pack in self._packs:
            found = pack.read(name)
            if found is not None:
                return found
        return None

    def _reopen(self) -> bool:
        """Open the packs that exist now; False if nothing changed since."""
        mtimes = [mtime_of(name) for name in self._names]
        if mtimes == self._mtimes:
            return False
        self.close()
        self._packs = list(self._open())
        self._mtimes = mtimes
        return True

    def close(self) -> None:
        for pack in self._packs:
            pack.close()
        self._packs = []
        self._mtimes = []

    def _open(self) -> Iterator[Pack]:
        indexes = [index for directory in self._directories for index in directory.glob("pack-*.idx")]
        for index in indexes[:MAX_PACKS]:
            try:
                yield Pack(index)
            except (OSError, ValueError):
                # It was removed meanwhile, or has a format that only git reads.
                continue


def map_file(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def mtime_of(directory: str) -> int:
    try:
        return os.stat(directory).st_mtime_ns  # noqa: PTH116  hot path
    except OSError:
        return 0
