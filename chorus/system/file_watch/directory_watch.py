"""Watch single directories from an event loop, which learns that something in them changed."""

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
        """Watch these directories and no others; for one that does not exist, the nearest above it.

        Call it again after a change: a directory may have appeared, or replaced another. Raises OSError if
        one cannot be watched.
        """
        ...

    def drain(self) -> None:
        """Forget the changes up to now."""
        ...

    def close(self) -> None: ...
