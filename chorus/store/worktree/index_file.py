"""The index file as git writes it, versions 2 and 3: one fixed block of what `stat` said per name.

Receives and gives bytes. Keeps, of each entry, what a cache of stamps needs: mode, stamp, object id.
Never touches a file; the user's index is only ever copied, and this is for the copy.
"""

import hashlib
import struct
from collections.abc import Mapping
from typing import NamedTuple

from chorus.model.ids import Oid
from chorus.store.objects.tree_object import SUBMODULE_MODE, TREE_MODE, TreeEntry
from chorus.store.worktree.file_state import Stamp

HEADER = struct.Struct(">4sLL")
# ctime s, ns, mtime s, ns, dev, ino, mode, uid, gid, size, object, flags
ENTRY = struct.Struct(">10L20sH")

NAME_LENGTH = 0x0FFF
STAGE = 0x3000
IS_EXTENDED = 0x4000
# Not checked out (sparse checkout), or only meant to be added (`git add -N`).
WITHOUT_BYTES = 0x4000 | 0x2000
WORD = 0xFFFFFFFF
MODE_OFFSET = 24

# Submodules, and the directories of a sparse index.
NOT_FILES = {mode.to_bytes(4, "big") for mode in (SUBMODULE_MODE, TREE_MODE)}

BLANK_STAMP = bytes(40)


class Record(NamedTuple):
    """One entry: the forty bytes of `stat`, with the mode in their middle, and the object id."""

    stamp: bytes
    oid: bytes

    @property
    def entry(self) -> TreeEntry:
        mode = int.from_bytes(self.stamp[MODE_OFFSET : MODE_OFFSET + 4], "big")
        return TreeEntry(mode, Oid(self.oid.hex()))

    @property
    def modified_seconds(self) -> int:
        return int.from_bytes(self.stamp[8:12], "big")

    @property
    def size(self) -> int:
        return int.from_bytes(self.stamp[36:40], "big")

    def without_stamp(self) -> "Record":
        """The same file, with a stamp that no file has: git takes it for changed."""
        return Record(blank_stamp(self.stamp[MODE_OFFSET : MODE_OFFSET + 4]), self.oid)


def blank_stamp(mode: bytes) -> bytes:
    return BLANK_STAMP[:MODE_OFFSET] + mode + BLANK_STAMP[MODE_OFFSET + 4 :]


def record_of(entry: TreeEntry, stamp: Stamp) -> Record:
    fields = (
        stamp.changed_ns // 10**9,
        stamp.changed_ns % 10**9,
        stamp.modified_ns // 10**9,
        stamp.modified_ns % 10**9,
        stamp.device,
        stamp.inode,
        entry.mode,
        stamp.owner,
        stamp.group,
        stamp.size,
    )
    packed = b"".join((field & WORD).to_bytes(4, "big") for field in fields)
    return Record(packed, bytes.fromhex(entry.oid))


def parse_index(data: bytes) -> dict[bytes, Record]:
    """Files by name. One in conflict is there once, unsure; one not checked out or without bytes is not."""
    magic, version, count = HEADER.unpack_from(data)
    if magic != b"DIRC" or version not in (2, 3):
        raise ValueError(f"an index of version {version}")
    found: dict[bytes, Record] = {}
    position = HEADER.size
    for _ in range(count):
        flags = data[position + 60] << 8 | data[position + 61]
        start = position + ENTRY.size + (2 if flags & IS_EXTENDED else 0)
        length = flags & NAME_LENGTH
        end = start + length if length < NAME_LENGTH else data.index(b"\0", start)
        more = data[position + 62] << 8 if flags & IS_EXTENDED else 0
        record = Record(data[position : position + 40], data[position + 40 : position + 60])
        if not more & WITHOUT_BYTES and record.stamp[MODE_OFFSET : MODE_OFFSET + 4] not in NOT_FILES:
            found[data[start:end]] = record.without_stamp() if flags & STAGE else record
        position += (end - position + 8) & ~7
    return found


def render_index(records: Mapping[bytes, Record]) -> bytes:
    pieces = [HEADER.pack(b"DIRC", 2, len(records))]
    for name in sorted(records):
        record = records[name]
        length = min(len(name), NAME_LENGTH).to_bytes(2, "big")
        size = ENTRY.size + len(name)
        pieces += (record.stamp, record.oid, length, name, bytes(8 - size % 8))
    body = b"".join(pieces)
    return body + hashlib.sha1(body, usedforsecurity=False).digest()
