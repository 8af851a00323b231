"""Replace a file atomically: readers see the old content or the new, never part of it.

For files outside the user's work tree. Standard library only, because short commands import this module.
"""

import itertools
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from chorus.system.files.durable_writes import sync_file

_serial = itertools.count()


def replace_file(
    path: Path,
    data: bytes,
    *,
    mode: int | None = None,
    durable: bool = False,
    check: Callable[[], None] | None = None,
) -> None:
    """Write `data` to a temporary file next to `path`, then rename it over `path`.

    Without `mode`, the file keeps its permission bits, and a new file gets the bits that the umask allows.
    With `durable`, the bytes are on the disk before the rename. `check` is called just before the rename; if
    `check` raises, `path` keeps its content.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{next(_serial)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o666 if mode is None else mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            _set_mode(file.fileno(), path, mode)
            if durable:
                sync_file(file.fileno())
        if check is not None:
            check()
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _set_mode(descriptor: int, path: Path, mode: int | None) -> None:
    if mode is None:
        with suppress(FileNotFoundError):
            os.fchmod(descriptor, path.stat().st_mode & 0o7777)
    else:
        os.fchmod(descriptor, mode)
