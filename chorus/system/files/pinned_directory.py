"""A directory that is kept open, so that a new directory at its path is not mistaken for it.

An inode number is not reused while its directory is open.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chorus.errors import ChorusError

log = logging.getLogger("chorus.system")


class PinnedDirectory:
    def __init__(self, path: Path) -> None:
        self.path = path
        # O_PATH, if the system has it, needs no permission to read.
        self._descriptor = os.open(path, os.O_DIRECTORY | getattr(os, "O_PATH", os.O_RDONLY))

    def is_there(self) -> bool:
        """True if the directory is still at its path."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self.path))  # noqa: PTH116  beside os.fstat
        except OSError:
            return False

    @contextmanager
    def ignore_if_removed(self) -> Iterator[None]:
        """In the block, ignore `ChorusError` and `OSError` if the directory is no longer at its path."""
        try:
            yield
        except (ChorusError, OSError) as error:
            if self.is_there():
                raise
            log.info("%s is gone: %s", self.path, error)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
