"""A short name for a Unix socket, through its open directory in /proc."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def short_path(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield a name for `path` that fits into a socket address (108 bytes), however long its directory is."""
    parent, name = os.path.split(path)
    directory = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{directory}/{name}"
    finally:
        os.close(directory)
