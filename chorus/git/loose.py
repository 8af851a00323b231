"""Loose objects: one zlib file per object, named by its sha1.

Receives a kind and bytes, gives object ids; reads them back. Never overwrites an object, never leaves
a half-written one under its name. What it writes is on its way to the disk, not yet forced onto it:
the ref update that makes it reachable is the barrier.
"""

import hashlib
import itertools
import os
import time
import zlib
from pathlib import Path

from chorus.core.ids import Oid
from chorus.git.lockfile import translated, write_all

# A stored deflate block holds at most this much.
STORED_BLOCK = 0xFFFF

# With the process id, a name that no process that was killed can have left behind.
STARTED = time.time_ns()
_serial = itertools.count()


class LooseStore:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._root = os.fspath(directory)

    def write(self, kind: bytes, data: bytes) -> Oid:
        """Trees are stored as they are: they hardly deflate, and are replaced edit by edit until packed."""
        body = b"%s %d\0%s" % (kind, len(data), data)
        oid = hashlib.sha1(body, usedforsecurity=False).hexdigest()
        place = f"{self._root}/{oid[:2]}/{oid[2:]}"
        try:
            # There already: make it young, so that gc of the side store leaves it to its new user.
            os.utime(place)
        except FileNotFoundError:
            packed = stored(body) if kind == b"tree" else zlib.compress(body, 1)
            with translated(place):
                self._put(place, packed)
        return Oid(oid)

    def read(self, oid: Oid) -> tuple[bytes, bytes] | None:
        """Kind and bytes, or None if there is no such loose object."""
        try:
            with open(f"{self._root}/{oid[:2]}/{oid[2:]}", "rb", buffering=0) as file:  # noqa: PTH123  hot path
                body = zlib.decompress(file.read())
        except FileNotFoundError:
            return None
        header, _, data = body.partition(b"\0")
        return header.split(b" ", 1)[0], data

    def _put(self, place: str, packed: bytes) -> None:
        # git takes files of this name for garbage it may prune, should we die before the rename.
        scratch = f"{self._root}/tmp_obj_{os.getpid()}_{STARTED}_{next(_serial)}"  # noqa: S108  not in /tmp
        descriptor = open_new(scratch)
        try:
            try:
                write_all(descriptor, packed)
                # Starts the write to the disk without waiting for it.
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)
            rename_into(scratch, place)
        except OSError:
            os.unlink(scratch)  # noqa: PTH108
            raise


def stored(body: bytes) -> bytes:
    """A zlib stream that holds `body` as it is."""
    blocks = []
    last = max(len(body) - 1, 0) // STORED_BLOCK
    for number in range(last + 1):
        block = body[number * STORED_BLOCK : (number + 1) * STORED_BLOCK]
        size = len(block)
        blocks.append(
            bytes((number == last,)) + size.to_bytes(2, "little") + (size ^ 0xFFFF).to_bytes(2, "little")
        )
        blocks.append(block)
    return b"".join((b"\x78\x01", *blocks, zlib.adler32(body).to_bytes(4, "big")))


def open_new(scratch: str) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        return os.open(scratch, flags, 0o444)
    except FileNotFoundError:
        Path(scratch).parent.mkdir(parents=True, exist_ok=True)
        return os.open(scratch, flags, 0o444)


def rename_into(scratch: str, place: str) -> None:
    try:
        os.rename(scratch, place)  # noqa: PTH104
    except FileNotFoundError:
        os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH103, PTH120
        os.rename(scratch, place)  # noqa: PTH104
