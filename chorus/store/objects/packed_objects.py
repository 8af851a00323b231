"""Read objects from packs in this process. Deltas are not read here: `BatchReader` has git read them.

Most trees that are read for the first time are stored whole. Reading a tree here takes a quarter of the time
that another process needs (a tenth on a busy machine). gitdb's `PackedDB` takes four to nine times as long
per tree, which makes the first edit in a directory 20 to 30 % slower (decision 0014).

A pack that `git gc` removes stays readable while it is open here.
"""

import contextlib
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
OFFSET_DELTA = 6  # gives the distance of its base in the pack; a delta of kind 7 gives its base's id
MAX_NUMBER = 10  # bytes
LARGE_OFFSET = 0x80000000  # in packs above 2 GB the offset is in another table
# Bytes that deflate may add to data that does not compress.
DEFLATE_EXTRA = 64
# What reading a damaged pack raises, after which the object is looked for elsewhere.
DAMAGED = (IndexError, zlib.error)
# Each open pack takes two descriptors. git reads the packs beyond this number.
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
        number, size, position = self._header(position)
        kind = KINDS.get(number)
        if kind is None:
            return None
        deflated = self._pack[position : position + size + size // 1000 + DEFLATE_EXTRA]
        data = zlib.decompressobj().decompress(deflated)
        return (kind, data) if len(data) == size else None

    def size(self, name: bytes) -> int | None:
        """Return the length of an object's bytes; None if the object is not in this pack.

        A delta starts with two numbers: the length of the object it is based on, and the length of the
        result.
        """
        position = self._find(name)
        if position is None:
            return None
        number, size, position = self._header(position)
        if number in KINDS:
            return size
        if number == OFFSET_DELTA:
            while self._pack[position] & 0x80:
                position += 1
            position += 1
        else:
            position += 20
        start = zlib.decompressobj().decompress(
            self._pack[position : position + DEFLATE_EXTRA], 2 * MAX_NUMBER
        )
        return _read_number(start, _read_number(start, 0)[1])[0]

    def _header(self, position: int) -> tuple[int, int, int]:
        """The object's kind as a number, its length, and the position of its data."""
        byte = self._pack[position]
        low, more = byte & 15, byte & 0x80
        high, end = _read_number(self._pack, position + 1) if more else (0, position + 1)
        return byte >> 4 & 7, low | high << 4, end

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

    def size(self, oid: Oid) -> int | None:
        """Return the length of an object's bytes. None if the object is in no pack, or is damaged."""
        name = bytes.fromhex(oid)
        self._reopen()
        for pack in self._packs:
            with contextlib.suppress(*DAMAGED):
                size = pack.size(name)
                if size is not None:
                    return size
        return None

    def _look(self, name: bytes) -> tuple[bytes, bytes] | None:
        for pack in self._packs:
            with contextlib.suppress(*DAMAGED):
                found = pack.read(name)
                if found is not None:
                    return found
        return None

    def _reopen(self) -> bool:
        """Open the packs that exist now. Return False if no pack was added or removed since the last time."""
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
            except (OSError, ValueError, struct.error):
                # The pack was removed meanwhile, is damaged, or has a format that only git can read.
                continue


def _read_number(data: bytes | mmap.mmap, position: int) -> tuple[int, int]:
    """Decode a number stored in groups of seven bits, lowest first; also return where it ends."""
    number = shift = 0
    while True:
        byte = data[position]
        number |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if not byte & 0x80:
            return number, position


def map_file(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def mtime_of(directory: str) -> int:
    try:
        return os.stat(directory).st_mtime_ns  # noqa: PTH116  hot path
    except OSError:
        return 0
