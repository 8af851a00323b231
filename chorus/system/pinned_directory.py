"""One directory, told from any other that stands at its path later.

Holds the directory open, so that its number is nobody else's for as long as it is asked about. Never looks
into it.
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
        # Where there is such a thing, a descriptor that needs no right to read.
        self._descriptor = os.open(path, os.O_DIRECTORY | getattr(os, "O_PATH", os.O_RDONLY))

    def is_there(self) -> bool:
        """Whether it is what its path leads to: neither removed, nor moved, nor out of reach."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self.path))  # noqa: PTH116  twice alike
        except OSError:
            return False

    @contextmanager
    def ignore_if_removed(self) -> Iterator[None]:
        """What fails in a directory that is there no more is no failure."""
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
