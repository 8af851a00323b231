"""The watcher of the current repository, for commands that need one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from chorus.errors import NotFound
from chorus.wire.client import Connection, WatcherNotRunning, connect
from chorus.wire.home import Home, find_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from chorus.model.api.json_api import StatusJson


class NeverUsed(NotFound):
    hint = "Start a session with `chorus claude`, or watch a running one with `chorus attach`."


@contextmanager
def open_watcher() -> Iterator[Connection]:
    """Connect to the watcher, and start one if necessary. Raise NeverUsed if Chorus was never used here."""
    from chorus.wire.watcher_process import connect_or_start  # noqa: PLC0415  most commands only read

    home = find_home(os.getcwd())
    if not os.path.exists(home.file("")):
        raise NeverUsed("Chorus has not been used in this repository")
    with connect_or_start(home) as connection:
        yield connection


@contextmanager
def open_watcher_of(repository: str) -> Iterator[Connection]:
    """Connect to the running watcher of a repository, named as in `chorus inbox`."""
    from chorus.inbox.repositories import find_repository  # noqa: PLC0415  only for another repository

    with connect(find_repository(repository)) as connection:
        yield connection


def read_status(home: Home) -> StatusJson:
    """Return the watcher's status, or an empty status if no watcher is running."""
    try:
        with connect(home) as connection:
            status: StatusJson = connection.ask("status")
            return status
    except WatcherNotRunning:
        return {
            "watcher": None,
            "ok": False,
            "work_trees": [],
            "sessions": [],
            "lanes": 0,
            "open": 0,
            "prompts": 0,
            "problems": [],
        }


def is_stopped(home: Home) -> bool:
    """Return True if the user stopped the watcher. Hooks then do not start one."""
    return os.path.exists(home.file("spool/asleep"))


def find_supported_home(directory: Path) -> Home:
    """Return the repository's home. Raise an error if Chorus cannot record there."""
    from chorus.store.repository import Repository  # noqa: PLC0415  only commands that watch a session

    home = find_home(directory)
    Repository.open(directory)
    return home
