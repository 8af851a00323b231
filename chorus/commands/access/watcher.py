"""The watcher of the current repository, for commands that need one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from chorus.errors import NotFound
from chorus.wire.client import Connection, WatcherNotRunning, connect, connect_or_start
from chorus.wire.home import Home, find_home

if TYPE_CHECKING:
    from chorus.model.json_api import StatusJson


class NeverUsed(NotFound):
    hint = "Start a session with `chorus claude`, or watch a running one with `chorus attach`."


@contextmanager
def open_watcher() -> Iterator[Connection]:
    """Connect to the watcher; start it if necessary, but not where Chorus was never used."""
    home = find_home(Path.cwd())
    if not home.root.exists():
        raise NeverUsed("Chorus has not been used in this repository")
    with connect_or_start(home) as connection:
        yield connection


def read_status(home: Home) -> StatusJson:
    """Return the watcher's status. Never starts a watcher."""
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


def find_supported_home(directory: Path) -> Home:
    """Return the home of the repository; raise, with a hint, where Chorus cannot record."""
    from chorus.store.repository import Repository  # noqa: PLC0415  only commands that start a session

    home = find_home(directory)
    Repository.open(directory)
    return home
