"""A watcher that is killed while `chorus claude` starts does not keep the user from the client."""

import os
import signal
import threading
import time

import pytest

from chorus.demo.script import Text
from chorus.wire.home import find_home
from tests.e2e.scenarios import edit
from tests.e2e.watched_session import WatchedSession
from tests.waiting import wait_for


@pytest.mark.parametrize("delay", [0.0, 0.1])  # before it listens, or while it loads
def test_the_client_starts_although_its_first_watcher_is_killed(
    watched: WatchedSession, delay: float
) -> None:
    lock = find_home(watched.project).lock
    killed: list[int] = []

    def kill_first() -> None:
        while not killed:
            try:
                pid = int(lock.read_text())
            except (OSError, ValueError):
                time.sleep(0.001)
                continue
            time.sleep(delay)
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    killer = threading.Thread(target=kill_first, daemon=True)
    killer.start()
    watched.start_modded()
    killer.join(20)
    assert killed
    watched.play("first", [edit("app.py", "old", "new")], [Text("Done.")])
    wait_for(
        lambda: [entry["status"] for entry in watched.actions()] == ["committed"], what="the edit's commit"
    )
