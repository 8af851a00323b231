"""A short name for a Unix socket, through a symbolic link to its directory."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

MAX_ADDRESS = 103  # bytes, and a zero at the end


@contextmanager
def short_path(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield a name for `path` that fits into a socket address (104 bytes), however long its directory is."""
    if len(os.fsencode(path)) <= MAX_ADDRESS:
        yield os.fspath(path)
        return
    import tempfile  # noqa: PLC0415  takes some ms, and few paths are that long

    parent, name = os.path.split(os.path.abspath(path))
    # Not below TMPDIR, which may be long too. Only this user can use the new directory.
    with tempfile.TemporaryDirectory(prefix="chorus-", dir="/tmp") as directory:
        link = os.path.join(directory, "d")
        os.symlink(parent, link)
        yield os.path.join(link, name)
