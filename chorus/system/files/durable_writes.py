"""Make sure that objects are on the disk before a ref points to them.

The system starts to write each file immediately. Before a ref moves, Chorus waits until all files are
written. Neither happens on a file system in memory, or if the git setting `chorus.durable` is false.
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
        """Take over the descriptor of a complete file. If `enabled`, start writing the file to the disk."""
        if not self.enabled:
            os.close(descriptor)
            return
        self._pending.append(descriptor)
        start_writing(descriptor)
        if len(self._pending) >= MAX_PENDING_FILES:
            self.wait()

    def wait(self) -> None:
        """Wait until the bytes of all files are on the disk.

        On macOS, only ensure that the bytes reach the disk before anything written later. The names of the
        files reach the disk with the next `sync_file`.
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
    """Wait until all earlier changes in the file system's journal are on the disk.

    The file must be on a device that `find_journaled_device` returns. Changes the file's modification time.
    """
    os.utime(descriptor)
    sync_file(descriptor)
