"""The format of git's index file, versions 2 and 3: for each name its `stat` data and object id."""

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
# Flags of entries without a file: not checked out (sparse checkout), or only intended to be added
# (`git add -N`).
WITHOUT_BYTES = 0x4000 | 0x2000
WORD = 0xFFFFFFFF
MODE_OFFSET = 24

# Submodules, and the directories of a sparse index.
NOT_FILES = {mode.to_bytes(4, "big") for mode in (SUBMODULE_MODE, TREE_MODE)}

BLANK_STAMP = bytes(40)


class IndexEntry(NamedTuple):
    """A file's forty bytes of `stat` data, mode included, and its object id."""

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

    def without_stamp(self) -> "IndexEntry":
        """The same entry with a stamp that no file has, so that git treats the file as changed."""
        return IndexEntry(blank_stamp(self.stamp[MODE_OFFSET : MODE_OFFSET + 4]), self.oid)


def blank_stamp(mode: bytes) -> bytes:
    return BLANK_STAMP[:MODE_OFFSET] + mode + BLANK_STAMP[MODE_OFFSET + 4 :]


def make_index_entry(entry: TreeEntry, stamp: Stamp) -> IndexEntry:
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
    return IndexEntry(packed, bytes.fromhex(entry.oid))


def parse_index(data: bytes) -> dict[bytes, IndexEntry]:
    """Parse git's index: its files by name.

    A file in conflict has no stamp. Files that are not checked out or not added yet are left out.
    """
    magic, version, count = HEADER.unpack_from(data)
    if magic != b"DIRC" or version not in (2, 3):
        raise ValueError(f"unsupported index version {version}")
    found: dict[bytes, IndexEntry] = {}
    position = HEADER.size
    for _ in range(count):
        flags = data[position + 60] << 8 | data[position + 61]
        start = position + ENTRY.size + (2 if flags & IS_EXTENDED else 0)
        length = flags & NAME_LENGTH
        end = start + length if length < NAME_LENGTH else data.index(b"\0", start)
        more = data[position + 62] << 8 if flags & IS_EXTENDED else 0
        indexed = IndexEntry(data[position : position + 40], data[position + 40 : position + 60])
        if not more & WITHOUT_BYTES and indexed.stamp[MODE_OFFSET : MODE_OFFSET + 4] not in NOT_FILES:
            found[data[start:end]] = indexed.without_stamp() if flags & STAGE else indexed
        position += (end - position + 8) & ~7
    return found


def render_index(entries: Mapping[bytes, IndexEntry]) -> bytes:
    pieces = [HEADER.pack(b"DIRC", 2, len(entries))]
    for name in sorted(entries):
        indexed = entries[name]
        length = min(len(name), NAME_LENGTH).to_bytes(2, "big")
        size = ENTRY.size + len(name)
        pieces += (indexed.stamp, indexed.oid, length, name, bytes(8 - size % 8))
    body = b"".join(pieces)
    return body + hashlib.sha1(body, usedforsecurity=False).digest()
