"""Write objects to the disk before the ref that reaches them, with one wait per ref.

The system starts writing each file to the disk at once. Before a ref moves, Chorus waits for all of them, so
that after a power loss no ref points to a missing object. There is no wait on a file system in memory, or if
the git setting `chorus.durable` is false.
"""

import os
from pathlib import Path

from chorus.system.this_system import IS_LINUX

if IS_LINUX:
    from chorus.system.linux.disk import (
        file_system_types,
        find_journaled_device,
        finish_writing,
        is_in_memory,
        start_writing,
        sync_file,
    )
else:
    from chorus.system.macos.disk import (
        file_system_types,
        find_journaled_device,
        finish_writing,
        is_in_memory,
        start_writing,
        sync_file,
    )

__all__ = [
    "PendingWrites",
    "file_system_types",
    "find_journaled_device",
    "finish_writing",
    "is_in_memory",
    "start_writing",
    "sync_file",
    "sync_journal",
]

# File descriptors are limited. A commit is about six objects.
MAX_PENDING_FILES = 64


class PendingWrites:
    """Files written but not yet on the disk."""

    def __init__(self, directory: Path, *, enabled: bool) -> None:
        self.enabled = enabled and not is_in_memory(directory)
        self._pending: list[int] = []
        self.failures = 0  # how often files that were taken may not have reached the disk

    def take(self, descriptor: int) -> None:
        """Start flushing a complete file to the disk. Its descriptor is closed by this object."""
        if not self.enabled:
            os.close(descriptor)
            return
        self._pending.append(descriptor)
        start_writing(descriptor)
        if len(self._pending) >= MAX_PENDING_FILES:
            self.wait()

    def wait(self) -> None:
        """Wait until the bytes of all files are on the disk.

        On macOS, only make sure that they reach the disk before anything written later. The files' names
        reach the disk with the next `sync_file`, which the ref update calls.
        """
        pending, self._pending = self._pending, []
        try:
            finish_writing(pending)
        except OSError:
            self.failures += 1
            raise
        finally:
            for descriptor in pending:
                os.close(descriptor)


def sync_journal(descriptor: int) -> None:
    """Wait until everything in the file system's journal (see `find_journaled_device`) is on the disk.

    This sets the file's modification time and syncs the file: the journal writes all earlier changes first.
    """
    os.utime(descriptor)
    sync_file(descriptor)
