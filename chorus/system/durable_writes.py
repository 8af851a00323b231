"""What is written reaches the disk before the ref that leads to it, at the cost of one wait per ref.

Receives open files, starts writing each to the disk, and waits for all of them at once before a ref
moves. After a power loss no ref leads to an object that is not there. Costs nothing on a file system that
is in memory, and can be switched off (`chorus.durable`) where the disk is known to keep its word or to
be thrown away.
"""

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

# From <linux/fs.h>: start writing; and wait for what is being written before and after.
START = 2
FINISH = 1 | 2 | 4
# Descriptors are few; objects come six to a commit.
MAX_PENDING_FILES = 64
IN_MEMORY = {b"tmpfs", b"ramfs"}
# What a kernel or a file system says that does not have the call.
UNKNOWN_CALL = {errno.ENOSYS, errno.EINVAL, errno.ESPIPE, errno.EOPNOTSUPP}


class PendingWrites:
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
            self._pending.append(descriptor)
            self._sync(descriptor, START)
            if len(self._pending) >= MAX_PENDING_FILES:
                self.wait()

    def wait(self) -> None:
        """Until all that was taken is on the disk. What names it is there with the next `fsync`."""
        pending, self._pending = self._pending, []
        try:
            if self._sync is not None:
                for descriptor in pending:
                    self._sync(descriptor, FINISH)
        finally:
            for descriptor in pending:
                os.close(descriptor)


def find_journal(directory: Path) -> int | None:
    """The device of this directory, if one journal there tells of all files' sizes in the order they came
    about, so that a wait for the newest is a wait for all. None where that is not certain."""
    kinds = kinds_of(directory)
    device = directory.stat().st_dev
    if kinds == {b"xfs"} or (kinds == {b"ext4"} and ext4_has_journal(device)):
        return device
    return None


def wait_for_journal(descriptor: int) -> None:
    """Until everything the journal holds is on the disk, by way of this file, which gets a new time: the
    journal's entry for that comes after all that was finished before."""
    os.utime(descriptor)
    os.fsync(descriptor)


def ext4_has_journal(device: int) -> bool:
    block = f"/sys/dev/block/{os.major(device)}:{os.minor(device)}"
    return Path("/sys/fs/ext4", Path(block).resolve().name, "journal_task").exists()


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
        # Some file systems (and some emulated kernels) do not have it: then the slow way. That a write
        # failed is said only once, so it must not be taken for that.
        if function(descriptor, 0, 0, flags) != 0:
            code = ctypes.get_errno()
            if code not in UNKNOWN_CALL:
                raise OSError(code, os.strerror(code))
            os.fsync(descriptor)

    return sync


def is_in_memory(directory: Path) -> bool:
    """Whether a power loss takes the whole file system, objects and refs alike."""
    return bool(kinds_of(directory) & IN_MEMORY)


def kinds_of(directory: Path) -> set[bytes]:
    """What the file system is that holds it, as the kernel names it; nothing where that cannot be read."""
    try:
        device = directory.stat().st_dev
        mounts = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return set()
    number = b"%d:%d" % (os.major(device), os.minor(device))
    fields = [line.split(b" ") for line in mounts]
    return {mount[mount.index(b"-") + 1] for mount in fields if mount[2] == number}
