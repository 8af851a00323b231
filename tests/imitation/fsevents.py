"""An imitation of `_watchdog_fsevents`, the part of watchdog that only macOS has, for watchdog's own code.

Imitates what FSEvents does to events: they come late and in batches, everything that happened to an item is
merged into one event, a rename is two events with one inode, and many changes in one directory become "scan
below this directory". Does not imitate historic events, mounts, or names in another normal form.
"""

import os
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType

from watchdog.utils.dirsnapshot import DirectorySnapshot, DirectorySnapshotDiff

# From <CoreServices/FSEvents.h>.
MUST_SCAN_SUB_DIRS, USER_DROPPED = 0x1, 0x2
CREATED, REMOVED, META_MOD, RENAMED, MODIFIED = 0x100, 0x200, 0x400, 0x800, 0x1000
IS_FILE, IS_DIRECTORY = 0x10000, 0x20000

LATE_SECONDS = 0.1
# FSEvents gives up on single items when its buffer is full; this one sooner.
MAX_ITEMS = 200


@dataclass(frozen=True, slots=True)
class NativeEvent:
    path: str
    inode: int
    flags: int
    event_id: int

    is_created = property(lambda self: bool(self.flags & CREATED))
    is_removed = property(lambda self: bool(self.flags & REMOVED))
    is_renamed = property(lambda self: bool(self.flags & RENAMED))
    is_modified = property(lambda self: bool(self.flags & MODIFIED))
    is_inode_meta_mod = property(lambda self: bool(self.flags & META_MOD))
    is_directory = property(lambda self: bool(self.flags & IS_DIRECTORY))
    is_xattr_mod = is_owner_change = is_root_changed = property(lambda _: False)


class Stream:
    def __init__(self, paths: Sequence[str], *, latency: float) -> None:
        del latency
        self._root = os.path.realpath(paths[0])  # FSEvents reports real paths, whatever was asked for
        self._stopped = threading.Event()

    def run(
        self,
        callback: Callable[[list[str], list[int], list[int], list[int]], None],
        started: Callable[[], None],
    ) -> None:
        before = self._snapshot()
        started()
        serial = 0
        while not self._stopped.wait(LATE_SECONDS):
            try:
                after = self._snapshot()
            except OSError:  # something vanished while it was looked at
                continue
            items = _items(before, after)
            if len(items) > MAX_ITEMS:
                items = [(self._root, 0, MUST_SCAN_SUB_DIRS | USER_DROPPED | IS_DIRECTORY)]
            before = after
            if items:
                serial += len(items)
                paths, inodes, flags = (list(column) for column in zip(*items, strict=True))
                callback(paths, inodes, flags, list(range(serial, serial + len(items))))

    def stop(self) -> None:
        self._stopped.set()

    def _snapshot(self) -> DirectorySnapshot:
        return DirectorySnapshot(self._root, stat=os.lstat)


def _items(before: DirectorySnapshot, after: DirectorySnapshot) -> list[tuple[str, int, int]]:
    found: dict[tuple[str, int], int] = {}
    difference = DirectorySnapshotDiff(before, after)

    def note(snapshot: DirectorySnapshot, path: bytes | str, flags: int) -> None:
        key = (os.fsdecode(path), snapshot.inode(path)[0])
        found[key] = found.get(key, 0) | flags | (IS_DIRECTORY if snapshot.isdir(path) else IS_FILE)

    for deleted in (*difference.files_deleted, *difference.dirs_deleted):
        note(before, deleted, REMOVED)
    for source, target in (*difference.files_moved, *difference.dirs_moved):
        note(before, source, RENAMED)
        note(after, target, RENAMED)
    for created in (*difference.files_created, *difference.dirs_created):
        note(after, created, CREATED | MODIFIED)
    # A file that was moved and modified is listed by its old name.
    moved = dict(difference.files_moved)
    for modified in (*difference.files_modified, *difference.files_attrib):
        note(after, moved.get(modified, modified), MODIFIED | META_MOD)
    return [(path, inode, flags) for (path, inode), flags in found.items()]


def install() -> None:
    """Let watchdog find this module where macOS has its own."""
    module = ModuleType("_watchdog_fsevents")
    module.__dict__.update(Stream=Stream, NativeEvent=NativeEvent)
    sys.modules["_watchdog_fsevents"] = module
