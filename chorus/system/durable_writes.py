"""Write objects to the disk before the ref that reaches them, with one wait per ref.

The system starts writing each file to the disk at once, and all are waited for before a ref moves:
after a power loss no ref points to a missing object. Costs nothing on a file system in memory, and can be
switched off with the git setting `chorus.durable`.
"""

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

# Flags of sync_file_range, from <linux/fs.h>: start writing; write and wait.
START = 2
FINISH = 1 | 2 | 4
# File descriptors are limited. A commit is about six objects.
MAX_PENDING_FILES = 64
MEMORY_FILE_SYSTEMS = {b"tmpfs", b"ramfs"}
# Errors of a kernel or file system without this call.
UNKNOWN_CALL = {errno.ENOSYS, errno.EINVAL, errno.ESPIPE, errno.EOPNOTSUPP}


class PendingWrites:
    """Files written but not yet on the disk."""

    def __init__(self, directory: Path, *, enabled: bool) -> None:
        self.enabled = enabled and not is_in_memory(directory)
        self._sync = find_sync_file_range() if self.enabled else None
        self._pending: list[int] = []

    def take(self, descriptor: int) -> None:
        """Take over a completely written file: start writing it to the disk."""
        if not self.enabled:
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
        """Wait until all files are on the disk. Their names are there after the next `fsync`."""
        pending, self._pending = self._pending, []
        try:
            if self._sync is not None:
                for descriptor in pending:
                    self._sync(descriptor, FINISH)
        finally:
            for descriptor in pending:
                os.close(descriptor)


def find_journal(directory: Path) -> int | None:
    """The device of this directory, if it has one journal for all files, in order.

    There, a wait for the newest file is a wait for all. None if that is not certain.
    """
    types = file_system_types(directory)
    device = directory.stat().st_dev
    if types == {b"xfs"} or (types == {b"ext4"} and ext4_has_journal(device)):
        return device
    return None


def sync_journal(descriptor: int) -> None:
    """Wait until everything in the journal is on the disk.

    The file gets a new modification time, whose journal entry comes after all earlier ones.
    """
    os.utime(descriptor)
    os.fsync(descriptor)


def ext4_has_journal(device: int) -> bool:
    block = f"/sys/dev/block/{os.major(device)}:{os.minor(device)}"
    return Path("/sys/fs/ext4", Path(block).resolve().name, "journal_task").exists()


def find_sync_file_range() -> Callable[[int, int], None] | None:
    """Linux's call to write a file's bytes without its metadata, which Python does not offer."""
    if sys.platform != "linux":
        return None
    import ctypes  # noqa: PLC0415  takes 8 ms, and only writers need it

    function = getattr(ctypes.CDLL(None, use_errno=True), "sync_file_range", None)
    if function is None:
        return None
    function.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)

    def sync(descriptor: int, flags: int) -> None:
        # Some file systems and emulated kernels do not have it: fall back to fsync. Any other error is a
        # failed write, which is reported only once.
        if function(descriptor, 0, 0, flags) != 0:
            code = ctypes.get_errno()
            if code not in UNKNOWN_CALL:
                raise OSError(code, os.strerror(code))
            os.fsync(descriptor)

    return sync


def is_in_memory(directory: Path) -> bool:
    """Whether a power loss loses the whole file system, objects and refs alike."""
    return bool(file_system_types(directory) & MEMORY_FILE_SYSTEMS)


def file_system_types(directory: Path) -> set[bytes]:
    """The type of the file system of a directory, as the kernel names it; empty if unknown."""
    try:
        device = directory.stat().st_dev
        mounts = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return set()
    number = b"%d:%d" % (os.major(device), os.minor(device))
    fields = [line.split(b" ") for line in mounts]
    return {mount[mount.index(b"-") + 1] for mount in fields if mount[2] == number}
