"""Start and stop the watcher as a process. The watcher's own code is never imported here."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from chorus import __version__
from chorus.system.files import file_lock
from chorus.system.files.private_files import make_private, open_private
from chorus.wire.client import Connection, WatcherNotResponding, WatcherNotRunning, connect
from chorus.wire.protocol import ProtocolError

if TYPE_CHECKING:
    from chorus.model.api.json_api import WatcherJson
    from chorus.wire.home import Home

# A cold start imports GitPython and pydantic: about 0.4 s, more on a busy machine.
START_TIMEOUT_SECONDS = 20.0
NOT_STARTED_HINT = "Read its log, or run `chorus doctor`."
# The watcher takes its lock before these imports. If nothing holds the lock after this time, it was killed.
LOCK_SECONDS = 2.0


def connect_or_start(home: Home) -> Connection:
    """Connect to a watcher of this version, starting or replacing it if necessary."""
    connection = connect_current(home)
    if connection is not None:
        return connection
    stop(home)
    start(home)
    connection = connect_started(home)
    connection.ask("hello")  # answered once it has loaded
    return connection


def connect_current(home: Home) -> Connection | None:
    """Connect to the running watcher. Return None unless it has this version and serves this repository."""
    try:
        connection = connect(home)
    except WatcherNotRunning:
        return None
    with suppress(ProtocolError, WatcherNotRunning):
        if _is_current(connection.ask("hello"), home):
            return connection
    connection.close()
    return None


def start(home: Home) -> None:
    """Start a watcher as a detached process. If a watcher runs already, the new one exits."""
    make_private(home.root)
    file_lock.require_locks(home.root)  # without locks, the watcher would fail and could not report it
    make_private(home.spool)  # hooks leave events there from now on, while the watcher is still loading
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "CLAUDE"))}
    with (
        Path(os.devnull).open("r+b") as null,
        open(home.log, "ab", opener=open_private) as log,
    ):
        # Started by a shell that exits at once, so that the watcher is not a child of this process. This
        # process may become the client. A killed watcher would then stay a zombie of the client, and a zombie
        # looks like a running watcher.
        subprocess.run(
            ["sh", "-c", '"$@" &', "sh", sys.executable, "-P", "-m", "chorus.watcher", str(home.common_dir)],
            stdin=null,
            stdout=null,
            stderr=log,
            cwd="/",
            env={**environment, "PYTHONPATH": import_path()},
            start_new_session=True,
            check=False,
        )


def stop(home: Home) -> bool:
    """Stop the watcher and wait until it has released its lock. Return False if none runs.

    Raises WatcherNotResponding after `START_TIMEOUT_SECONDS`.
    """
    try:
        with connect(home) as connection:
            connection.ask("stop")
    except WatcherNotRunning:
        return False
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while has_watcher(home):
        if time.monotonic() > deadline:
            raise WatcherNotResponding(f"the watcher for {home.common_dir} did not stop")
        time.sleep(0.01)
    return True


def has_watcher(home: Home) -> bool:
    return file_lock.is_locked(home.lock)


def _is_current(hello: WatcherJson, home: Home) -> bool:
    """Return True if the watcher is of this version, and if its repository has not been moved."""
    with suppress(FileNotFoundError):
        return hello.get("version") == __version__ and Path(hello["repository"]).samefile(home.common_dir)
    return False


def connect_started(home: Home) -> Connection:
    """Connect to a new watcher as soon as it accepts connections. It may still be loading.

    If the watcher is killed before that, start another one. Raises WatcherNotResponding after
    `START_TIMEOUT_SECONDS`.
    """
    started = time.monotonic()
    deadline = started + START_TIMEOUT_SECONDS
    while True:
        try:
            return connect(home)
        except WatcherNotRunning:
            now = time.monotonic()
            if now > deadline:
                raise WatcherNotResponding(
                    f"the watcher did not start; its log is {home.log}", hint=NOT_STARTED_HINT
                ) from None
            if now > started + LOCK_SECONDS and not has_watcher(home):
                start(home)
                started = now
            time.sleep(0.01)


def import_path() -> str:
    """Return the directory that contains this package, so that the watcher runs the same code."""
    return str(Path(__file__).resolve().parent.parent.parent)
