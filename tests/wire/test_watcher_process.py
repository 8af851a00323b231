"""The watcher as a process that others start."""

import os
import signal

from chorus.wire.home import find_home
from chorus.wire.watcher_process import connect_or_start, connect_started, start, stop
from tests.repos import UserRepo
from tests.waiting import wait_for


def test_hooks_find_the_spool_while_the_first_watcher_is_still_loading(repo: UserRepo) -> None:
    """Without it they take the repository for one in which Chorus was never used, and report nothing."""
    home = find_home(repo.path)
    start(home)
    assert home.spool.is_dir()
    assert home.spool.stat().st_mode & 0o777 == 0o700
    connect_or_start(home).close()
    stop(home)


def test_a_watcher_that_is_killed_before_it_listens_is_started_again(repo: UserRepo) -> None:
    home = find_home(repo.path)
    start(home)
    wait_for(lambda: home.lock.exists() and home.lock.read_text().strip() != "", what="the watcher's lock")
    first = int(home.lock.read_text())
    os.kill(first, signal.SIGKILL)
    home.socket.unlink(missing_ok=True)  # in case it was quicker
    with connect_started(home) as watcher:
        assert watcher.ask("hello")["pid"] != first
    stop(home)
