"""The repositories of this user in which a watcher runs or ran: one small private file each.

A file contains only the path of the repository. Files of another user are not read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress

from chorus.errors import ChorusError, ExitCode
from chorus.wire.home import Home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

# Longer than any path.
MAX_BYTES = 64 * 1024
WRITABLE_BY_OTHERS = 0o022


class UnsafeRegistry(ChorusError):
    """Another user could have written to the registry."""

    exit_code = ExitCode.REFUSED


def state_directory() -> Path:
    """Return the directory for Chorus's files that belong to no repository."""
    from pathlib import Path  # noqa: PLC0415  a short command needs none

    return Path(_state_directory())


def registry_directory() -> Path:
    return state_directory() / "watchers"


def register(home: Home) -> None:
    """Add a repository, unless it is already registered."""
    from chorus.system.files.atomic_file import replace_file  # noqa: PLC0415  only a watcher writes
    from chorus.system.files.private_files import FILE_MODE, make_private  # noqa: PLC0415  as above

    path = registry_directory() / repository_key(home)
    if not path.exists():
        make_private(state_directory())
        make_private(path.parent)
        replace_file(path, os.fsencode(home.repository), mode=FILE_MODE)


def forget(home: Home) -> None:
    """Remove a repository from the registry. Errors are ignored."""
    with suppress(OSError):
        (registry_directory() / repository_key(home)).unlink()


def list_registered() -> list[Home]:
    """Return the registered repositories, sorted by path.

    Repositories without a directory of Chorus are removed from the registry.
    """
    directory = os.path.join(_state_directory(), "watchers")
    try:
        state = os.stat(directory)
    except OSError:
        return []
    if state.st_uid != os.geteuid() or state.st_mode & WRITABLE_BY_OTHERS:
        raise UnsafeRegistry(
            f"{directory} can be written by another user",
            hint=f"Remove it: rm -r {directory}. Watchers recreate it.",
        )
    return sorted(set(_read_all(directory)), key=lambda home: home.repository)


def repository_key(home: Home) -> str:
    """Return a name for a repository that does not reveal its path."""
    from hashlib import sha256  # noqa: PLC0415  needs a library that few commands load

    return sha256(os.fsencode(home.repository)).hexdigest()[:32]


def _state_directory() -> str:
    state = os.environ.get("XDG_STATE_HOME")
    return os.path.join(state or os.path.join(os.path.expanduser("~"), ".local", "state"), "chorus")


def _read_all(directory: str) -> Iterator[Home]:
    for name in os.listdir(directory):
        path = os.path.join(directory, name)
        home = None if name.startswith(".") else _read(path)
        if home is None:
            continue
        if os.path.isdir(home.file("")):
            yield home
        else:
            with suppress(OSError):
                os.unlink(path)


def _read(path: str) -> Home | None:
    """Return the repository named in a file that the user owns; None for anything else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_uid != os.geteuid():
            return None
        repository = os.fsdecode(os.read(descriptor, MAX_BYTES))
    finally:
        os.close(descriptor)
    return Home(repository) if os.path.isabs(repository) and "\0" not in repository else None
