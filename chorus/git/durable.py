"""What is written reaches the disk before the ref that leads to it, at the cost of one wait per ref.

Receives open files, starts writing each to the disk, and waits for all of them at once before a ref
moves. After a power loss no ref leads to an object that is not there. Costs nothing on a file system that
is in memory, and can be switched off (`chorus.durable`) where the disk is known to keep its word or to
be thrown away.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

# From <linux/fs.h>: start writing; and wait for what is being written before and after.
START = 2
FINISH = 1 | 2 | 4
# Descriptors are few; objects come six to a commit.
MOST_PENDING = 64
IN_MEMORY = (b"tmpfs", b"ramfs")


class Barrier:
    def __init__(self, directory: Path, *, wanted: bool) -> None:
        self.wanted = wanted and not is_in_memory(directory)
        self._sync = find_sync_file_range() if self.wanted else None
        self._pending: list[int] = []

    def take(self, descriptor: int) -> None:
        """Own this file that is written to the end: see it on its way to the disk."""
        if not self.wanted:
            os.close(descriptor)
        elif self._sync is None:
            os.fsync(descriptor)
            os.close(descriptor)
        else:
            self._sync(descriptor, START)
            self._pending.append(descriptor)
            if len(self._pending) >= MOST_PENDING:
                self.wait()

    def wait(self) -> None:
        """Until all that was taken is on the disk. What names it is there with the next `fsync`."""
        pending, self._pending = self._pending, []
        for descriptor in pending:
            if self._sync is not None:
                self._sync(descriptor, FINISH)
            os.close(descriptor)


def find_sync_file_range() -> Callable[[int, int], None] | None:
    """Linux's way to write a file's bytes without its metadata; Python has no name for it."""
    if sys.platform != "linux":
        return None
    import ctypes  # noqa: PLC0415  takes 8 ms, and is needed only by who writes

    function = getattr(ctypes.CDLL(None, use_errno=True), "sync_file_range", None)
    if function is None:
        return None
    function.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)

    def sync(descriptor: int, flags: int) -> None:
        # Some file systems (and some emulated kernels) do not have it: then the slow way.
        if function(descriptor, 0, 0, flags) != 0:
            os.fsync(descriptor)

    return sync


def is_in_memory(directory: Path) -> bool:
    """Whether a power loss takes the whole file system, objects and refs alike."""
    try:
        device = directory.stat().st_dev
        mounts = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return False
    number = b"%d:%d" % (os.major(device), os.minor(device))
    fields = [line.split(b" ") for line in mounts]
    return any(mount[2] == number and mount[mount.index(b"-") + 1] in IN_MEMORY for mount in fields)
