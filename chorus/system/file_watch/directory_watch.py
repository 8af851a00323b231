"""Watch single directories from an event loop."""

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
    """Watches directories. `open_directory_watch` creates one, or returns None if that fails."""

    def fileno(self) -> int:
        """A descriptor that becomes readable after a change."""
        ...

    def watch(self, directories: Iterable[Path]) -> None:
        """Watch these directories, and stop watching others. Raises OSError if that fails.

        Instead of a missing directory, the nearest existing directory above it is watched. Call this again
        after a change: a directory may have appeared or been replaced.
        """
        ...

    def drain(self) -> None:
        """Discard the changes up to now."""
        ...

    def close(self) -> None: ...
