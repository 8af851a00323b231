"""Files of a running watcher are removed: it recreates them, or leaves them to another watcher."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress

import psutil
import pytest

from chorus.wire.client import WatcherNotRunning, connect
from chorus.wire.home import Home
from chorus.wire.watcher_process import connect_or_start
from tests.repos import UserRepo
from tests.waiting import wait_for
from tests.watcher.hook_events import SECONDS, Session
from tests.watcher.started import home

__all__ = ["home"]  # a fixture


@pytest.fixture
def wake(home: Home) -> Iterator[Callable[[], object]]:
    """As a hook does that came a moment before."""
    poke = os.open(home.spool / "poke", os.O_WRONLY | os.O_NONBLOCK)

    def write() -> None:
        with suppress(BrokenPipeError):  # it has found out by itself, and ended
            os.write(poke, b"\n")

    yield write
    os.close(poke)


def process_of(home: Home) -> int | None:
    try:
        with connect(home) as watcher:
            pid: int = watcher.ask("hello")["pid"]
    except WatcherNotRunning:
        return None
    return pid


def test_a_removed_socket_spool_and_log_are_recreated(
    repo: UserRepo, home: Home, wake: Callable[[], object]
) -> None:
    session = Session("s", home, repo.path)
    session.bash("t1", "echo 1 > app.py")
    pid = process_of(home)
    home.socket.unlink()
    home.log.unlink()
    shutil.rmtree(home.spool)

    wake()
    wait_for(lambda: process_of(home) == pid, what="the same watcher is found", seconds=SECONDS)
    wait_for((home.spool / "watcher").exists, what="hooks find it", seconds=SECONDS)
    session.bash("t2", "echo 2 > app.py")
    assert session.recorded() == [("committed", ["app.py"])] * 2
    assert "the socket was removed" in home.log.read_text()


def test_a_watcher_replaced_by_another_ends_and_leaves_it_alone(
    repo: UserRepo, home: Home, wake: Callable[[], object]
) -> None:
    session = Session("s", home, repo.path)
    session.bash("t1", "echo 1 > app.py")
    old = process_of(home)
    away = home.root.rename(home.root.with_name("away"))
    shutil.copytree(away, home.root, ignore=shutil.ignore_patterns("watcher.*", "spool"))
    connect_or_start(home).close()
    new = process_of(home)
    assert old is not None
    assert new != old

    wake()
    wait_for(lambda: not psutil.pid_exists(old), what="the old one ends", seconds=SECONDS)
    assert process_of(home) == new
    session.bash("t2", "echo 2 > app.py")
    assert session.recorded() == [("committed", ["app.py"])] * 2
