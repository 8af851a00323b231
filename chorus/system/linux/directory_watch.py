"""Directories watched through one inotify queue."""

import logging
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from chorus.system.linux.inotify import APPEARED, DISAPPEARED, IN_MODIFY, IN_ONLYDIR, LIBC, call_libc

log = logging.getLogger("chorus.system")

CHANGES = IN_MODIFY | APPEARED | DISAPPEARED
READ_BYTES = 1 << 16


def open_directory_watch() -> "DirectoryQueue | None":
    """Return a new directory watch; None if that fails, as at the user's limit of inotify queues."""
    try:
        return DirectoryQueue()
    except OSError as error:
        log.info("directories are not watched: %s", error)
        return None


class DirectoryQueue:
    """A `DirectoryWatch` with an inotify queue."""

    def __init__(self) -> None:
        self._queue = call_libc(LIBC.inotify_init1, os.O_CLOEXEC | os.O_NONBLOCK)
        self._descriptors: set[int] = set()

    def fileno(self) -> int:
        return self._queue

    def watch(self, directories: Iterable[Path]) -> None:
        watched = {self._add_nearest(directory) for directory in directories}
        for left in self._descriptors - watched:
            LIBC.inotify_rm_watch(self._queue, left)  # fails if the directory is gone, which is fine
        self._descriptors = watched

    def drain(self) -> None:
        with suppress(BlockingIOError):
            while os.read(self._queue, READ_BYTES):
                pass

    def close(self) -> None:
        os.close(self._queue)

    def _add_nearest(self, directory: Path) -> int:
        name = os.fsencode(directory)
        while True:
            try:
                return call_libc(LIBC.inotify_add_watch, self._queue, name, CHANGES | IN_ONLYDIR)
            except (FileNotFoundError, NotADirectoryError):
                if name in (above := os.path.dirname(name), b""):  # noqa: PTH120  bytes
                    raise
                name = above
