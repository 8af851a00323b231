"""Write files to the disk, and find the type of a file system."""

import errno
import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

# Flags of sync_file_range, from <linux/fs.h>: start writing; write and wait.
START = 2
FINISH = 1 | 2 | 4
MEMORY_FILE_SYSTEMS = {"tmpfs", "ramfs"}
# Errors of a kernel or file system without this call.
UNKNOWN_CALL = {errno.ENOSYS, errno.EINVAL, errno.ESPIPE, errno.EOPNOTSUPP}


def sync_file(descriptor: int) -> None:
    """Wait until a file is on the disk."""
    os.fsync(descriptor)


def start_writing(descriptor: int) -> None:
    """Start writing the bytes of a file to the disk."""
    _sync_range(descriptor, START)


def finish_writing(descriptors: Sequence[int]) -> None:
    """Wait until the bytes of these files are on the disk."""
    for descriptor in descriptors:
        _sync_range(descriptor, FINISH)


def find_journaled_device(directory: Path) -> int | None:
    """Return the directory's device if its file system writes all changes in order to one journal.

    On such a device, waiting for the newest file means waiting for all files. None for any other file
    system, and if the file system is unknown.
    """
    types = file_system_types(directory)
    device = directory.stat().st_dev
    if types == {"xfs"} or (types == {"ext4"} and _ext4_has_journal(device)):
        return device
    return None


def is_in_memory(directory: Path) -> bool:
    """True if the directory is on a file system in memory, which a power loss erases."""
    return bool(file_system_types(directory) & MEMORY_FILE_SYSTEMS)


def file_system_types(directory: Path) -> set[str]:
    """The file system types that the kernel lists for the directory's device; empty if unknown."""
    try:
        device = directory.stat().st_dev
        mounts = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return set()
    number = b"%d:%d" % (os.major(device), os.minor(device))
    fields = [line.split(b" ") for line in mounts]
    return {mount[mount.index(b"-") + 1].decode() for mount in fields if mount[2] == number}


def _ext4_has_journal(device: int) -> bool:
    block = f"/sys/dev/block/{os.major(device)}:{os.minor(device)}"
    return Path("/sys/fs/ext4", Path(block).resolve().name, "journal_task").exists()


def _sync_range(descriptor: int, flags: int) -> None:
    # Some C libraries, file systems and emulated kernels lack this call: fall back to fsync. Any other error
    # means that a write failed. The system reports it only once.
    code = _load_sync_file_range()(descriptor, flags)
    if code in UNKNOWN_CALL:
        os.fsync(descriptor)
    elif code:
        raise OSError(code, os.strerror(code))


@cache
def _load_sync_file_range() -> Callable[[int, int], int]:
    """Return a function that calls `sync_file_range` for a whole file and returns its error number, or 0."""
    import ctypes  # noqa: PLC0415  takes 8 ms, and only writers need it

    function = getattr(ctypes.CDLL(None, use_errno=True), "sync_file_range", None)
    if function is None:
        return lambda _descriptor, _flags: errno.ENOSYS
    function.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)

    def sync(descriptor: int, flags: int) -> int:
        return ctypes.get_errno() if function(descriptor, 0, 0, flags) != 0 else 0

    return sync
