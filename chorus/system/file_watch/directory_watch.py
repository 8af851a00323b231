"""Watch single directories: an event loop can wait until something in them changes."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from chorus.system.this_system import IS_LINUX

if IS_LINUX:
    from chorus.system.linux.directory_watch import open_directory_watch
else:
    from chorus.system.macos.directory_watch import open_directory_watch

__all__ = ["DirectoryWatch", "open_directory_watch"]


class DirectoryWatch(Protocol):
    """Watches directories. `open_directory_watch` returns one, or None where they cannot be watched."""

    def fileno(self) -> int:
        """A descriptor that is readable once something changed."""
        ...

    def watch(self, directories: Iterable[Path]) -> None:
        """Watch these directories, and stop watching all others.

        If a directory does not exist, the nearest existing directory above it is watched. Call this again
        after a change: a directory may have appeared, or replaced another. Raises OSError if a directory
        cannot be watched.
        """
        ...

    def drain(self) -> None:
        """Discard the changes up to now. The descriptor is not readable again until the next change."""
        ...

    def close(self) -> None: ...
