"""What watchdog keeps to itself about inotify: that events were lost, and that no more can be watched.

Where watchdog works by other means, there is nothing to say.
"""

import errno
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from watchdog.observers.api import BaseObserver

# watchdog keeps the first half of a rename back, and all behind it, until the second half has come, and
# looks for that only once this time is over (0.5 s by itself). The kernel tells of both halves at once.
RENAME_SECONDS = 0.005

# A user may have so many watches and so many instances; the kernel may also have no memory for one.
LIMITS = (errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM)

# Given by watchdog for a directory that only others may look into, as if it were a watch.
NO_WATCH = -1

# watchdog tells of a kernel queue that overflowed nowhere but in its log.
OVERFLOW_LOGGER = "watchdog.observers.inotify_c"


def hasten_renames() -> None:
    """A watchdog without this part has no such rest."""
    with suppress(ImportError):
        from watchdog.observers.inotify_move_event_grouper import InotifyMoveEventGrouper  # noqa: PLC0415

        InotifyMoveEventGrouper.delay = RENAME_SECONDS


def tell_unwatched(observer: BaseObserver, tell: Callable[[str, OSError], None]) -> None:
    """`tell` of each directory that cannot be watched: watchdog is silent about those below another."""
    source = getattr(observer, "_inotify_fd", None)
    add = getattr(source, "add_callback", None)
    if source is None or add is None:
        return

    def add_or_tell(path: bytes, *rest: Any) -> Any:  # noqa: ANN401  whatever watchdog gives
        try:
            watch = add(path, *rest)
            if watch == NO_WATCH:
                source.remove_callbacks([(watch, rest[-1])])
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        except OSError as error:
            tell(os.fsdecode(path), error)
            raise
        return watch

    source.add_callback = add_or_tell


class OverflowFilter(logging.Filter):
    def __init__(self, note_loss: Callable[[], None]) -> None:
        super().__init__()
        self._note_loss = note_loss

    def start(self) -> None:
        logging.getLogger(OVERFLOW_LOGGER).addFilter(self)

    def stop(self) -> None:
        logging.getLogger(OVERFLOW_LOGGER).removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        if "overflow" in record.getMessage():
            self._note_loss()
        return True
