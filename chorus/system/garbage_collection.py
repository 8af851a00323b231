"""Pause Python's garbage collection."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pauses = 0  # by all threads


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """In the block, pause the collection of reference cycles in all threads.

    Pauses may overlap. Collection takes a third of the time of reading a long history, and stops all threads
    while it runs.
    """
    global _pauses  # noqa: PLW0603  the collector is the process's
    with _lock:
        _pauses += 1
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if not _pauses:
                gc.enable()
