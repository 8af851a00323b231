"""Write files to the disk. On macOS, `fsync` stops at the drive's cache.

A barrier (F_BARRIERFSYNC) makes everything written before it reach the disk before anything written later.
That is enough for objects, which only have to reach the disk before their ref. A full sync (F_FULLFSYNC)
empties the drive's cache.
"""

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path

# From <sys/fcntl.h>; only Python for macOS names them.
F_FULLFSYNC = 51
F_BARRIERFSYNC = 85


def sync_file(descriptor: int) -> None:
    """Wait until a file is on the disk."""
    try:
        fcntl.fcntl(descriptor, F_FULLFSYNC)
    except OSError:  # the file system has no such call; if a write failed, fsync reports it too
        os.fsync(descriptor)


def start_writing(descriptor: int) -> None:
    """Write the bytes of a file to the drive's cache."""
    os.fsync(descriptor)


def finish_writing(descriptors: Sequence[int]) -> None:
    """Make sure that these files reach the disk before anything written later."""
    if not descriptors:
        return
    try:
        fcntl.fcntl(descriptors[-1], F_BARRIERFSYNC)
    except OSError:
        sync_file(descriptors[-1])


def find_journaled_device(directory: Path) -> int | None:
    """Return None: on macOS, waiting for the newest file may not mean waiting for all files."""
    del directory
    return None


def is_in_memory(directory: Path) -> bool:
    """Return False: on macOS, a RAM disk cannot be distinguished from other disks."""
    del directory
    return False


def file_system_types(directory: Path) -> set[str]:
    """The type of the directory's file system, in a set; empty if unknown."""
    import psutil  # noqa: PLC0415  takes 27 ms, and short commands do not need it

    path = directory.resolve()
    mounts = [each for each in psutil.disk_partitions(all=True) if path.is_relative_to(each.mountpoint)]
    deepest = max(mounts, key=lambda each: len(each.mountpoint), default=None)
    return {deepest.fstype} if deepest is not None else set()
