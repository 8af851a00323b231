"""Write and read loose objects: one zlib file per object, named by its sha1.

Unless the user switched `chorus.durable` off, an object is on the disk before the next ref update.
"""

import contextlib
import errno
import itertools
import os
import struct
import time
import zlib
from hashlib import sha1
from pathlib import Path

from chorus.model.ids import Oid
from chorus.store.lock_file import write_all, write_error
from chorus.system.files.durable_writes import PendingWrites
from chorus.system.files.private_files import make_private

# Anything up to one disk block takes one block, compressed or not, and compressing costs more than writing.
DISK_BLOCK = 4096
# A stored deflate block holds at most this much.
STORED_BLOCK = 0xFFFF
STORED_EXTRA = 11  # bytes the stream adds to one such block
BLOCK = struct.Struct("<?HH")  # whether it is the last block, its length, the complement of its length
STREAM_OF_ONE = struct.Struct("<BB?HH")

# An object written this recently is not written again. Far shorter than the grace period of a sweep.
RECENT_SECONDS = 300.0
MAX_RECENT = 2000
# Enough for the kind and the length of any object.
HEADER_BYTES = 64

# git's objects are readable for all. These only for the owner: they may be copies of files with mode 0600.
OBJECT_MODE = 0o400
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
# Errors that mean that there is no object: a part of the path is missing, a file, or a link to itself.
NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)

# Part of scratch names, with the process id: no killed process can have left a file of the same name.
STARTED = str(time.time_ns())
_serial = itertools.count()


class LooseStore:
    def __init__(self, directory: Path, pending_writes: PendingWrites) -> None:
        self.directory = directory
        self._root = os.fspath(directory)
        self._pending_writes = pending_writes
        self._recent: dict[str, float] = {}
        self._failures = 0  # of the pending writes, when `_recent` was last cleared for one

    def write(self, kind: bytes, data: bytes) -> Oid:
        """Store an object and return its id.

        If the object already has a file, the file is replaced by one with a new time, so that a sweep does
        not remove the object. An object that this process stored in the last RECENT_SECONDS is not written
        again, unless a write to the disk has failed meanwhile.
        """
        body = b"%s %d\0%s" % (kind, len(data), data)
        oid = sha1(body, usedforsecurity=False).hexdigest()
        recent = self._recent
        now = time.monotonic()
        if self._failures != self._pending_writes.failures:
            self._failures = self._pending_writes.failures
            recent.clear()
        if oid not in recent or now - recent[oid] > RECENT_SECONDS:
            self._put(f"{self._root}/{oid[:2]}/{oid[2:]}", encode(kind, body))
            if len(recent) > MAX_RECENT:
                recent.clear()
            recent[oid] = now
        return Oid(oid)

    def read(self, oid: Oid) -> tuple[bytes, bytes] | None:
        """Return the object's kind and bytes. None for a missing or damaged object."""
        try:
            with open(f"{self._root}/{oid[:2]}/{oid[2:]}", "rb", buffering=0) as file:  # noqa: PTH123  hot path
                body = zlib.decompress(file.read())
        except (OSError, zlib.error) as error:
            _raise_unless_missing(error)
            return None
        header, _, data = body.partition(b"\0")
        return header.split(b" ", 1)[0], data

    def size(self, oid: Oid) -> int | None:
        """Return the object's length from its header; None if the object or a whole header is missing."""
        try:
            with open(f"{self._root}/{oid[:2]}/{oid[2:]}", "rb", buffering=0) as file:  # noqa: PTH123  hot path
                start = zlib.decompressobj().decompress(file.read(HEADER_BYTES), HEADER_BYTES)
            return int(start.partition(b"\0")[0].split(b" ", 1)[1])
        except (OSError, zlib.error, IndexError, ValueError) as error:
            _raise_unless_missing(error)
            return None

    def _put(self, path: str, encoded: bytes) -> None:
        # If this process dies before the rename, git prunes the file because of its name.
        scratch = f"{self._root}/tmp_obj_{os.getpid()}_{STARTED}_{next(_serial)}"  # noqa: S108  not in /tmp
        try:
            descriptor = open_new(scratch)
            try:
                write_all(descriptor, encoded)
            except OSError:
                os.close(descriptor)
                raise
            self._pending_writes.take(descriptor)
            rename_into(scratch, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(scratch)  # noqa: PTH108  os is faster than pathlib here
            raise write_error(error, path) from error


def _raise_unless_missing(error: Exception) -> None:
    if isinstance(error, OSError) and error.errno not in NOT_THERE:
        raise error


def encode(kind: bytes, body: bytes) -> bytes:
    """Encode an object as the content of its file. Small objects and trees are not compressed.

    Compressing trees saves little space, and each edit writes several trees.
    """
    if kind == b"tree" or len(body) < DISK_BLOCK - STORED_EXTRA:
        return store(body)
    return zlib.compress(body, 1)


def store(body: bytes) -> bytes:
    """A zlib stream that contains `body` uncompressed."""
    size = len(body)
    checksum = zlib.adler32(body).to_bytes(4, "big")
    if size <= STORED_BLOCK:
        return STREAM_OF_ONE.pack(0x78, 0x01, True, size, size ^ STORED_BLOCK) + body + checksum
    pieces = [b"\x78\x01"]
    for start in range(0, size, STORED_BLOCK):
        block = body[start : start + STORED_BLOCK]
        last = start + STORED_BLOCK >= size
        pieces += (BLOCK.pack(last, len(block), len(block) ^ STORED_BLOCK), block)
    return b"".join((*pieces, checksum))


def open_new(scratch: str) -> int:
    try:
        return os.open(scratch, CREATE, OBJECT_MODE)
    except FileNotFoundError:
        make_private(Path(scratch).parent)
        return os.open(scratch, CREATE, OBJECT_MODE)


def rename_into(scratch: str, path: str) -> None:
    try:
        os.rename(scratch, path)  # noqa: PTH104  os is faster than pathlib here
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120  os is faster than pathlib here
        os.rename(scratch, path)  # noqa: PTH104  os is faster than pathlib here
