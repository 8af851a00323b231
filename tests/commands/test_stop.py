"""`chorus stop`, and watchers that hang or whose repository was moved."""

import fcntl
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus.commands.access.watcher import read_status
from chorus.commands.doctor import check_watcher
from chorus.commands.stop import kill
from chorus.errors import ChorusError
from chorus.wire import client
from chorus.wire.client import WatcherNotResponding
from chorus.wire.home import Home, find_home
from chorus.wire.watcher_process import has_watcher
from tests.commands.conftest import Shell
from tests.repos import UserRepo


@pytest.fixture
def hung(worked: UserRepo, chorus: Shell) -> Iterator[int]:
    """A watcher that takes connections and answers nobody: its process."""
    assert chorus("keep", "1").code == 0  # which starts it
    watcher = int(chorus("status", "--json").json()["watcher"]["pid"])
    os.kill(watcher, signal.SIGSTOP)
    yield watcher
    kill(find_home(worked.path))


@pytest.mark.usefixtures("hung")
def test_a_watcher_that_does_not_respond_is_reported_with_a_hint(
    worked: UserRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "SHORT_TIMEOUT_SECONDS", 0.2)

    with pytest.raises(WatcherNotResponding, match="did not answer") as caught:
        read_status(find_home(worked.path))
    (check,) = check_watcher(find_home(worked.path))

    assert "chorus stop --kill" in str(caught.value.hint)
    assert (check.ok, check.fix) == (False, caught.value.hint)
    assert "watcher.log" in check.detail


def test_a_hanging_watcher_can_be_killed_without_loss(worked: UserRepo, chorus: Shell, hung: int) -> None:
    assert chorus("stop", "--kill").code == 0

    assert not has_watcher(find_home(worked.path))
    assert chorus("keep", "2").code == 0
    assert int(chorus("status", "--json").json()["watcher"]["pid"]) != hung
    kept = {entry["n"] for entry in chorus("log", "--json").json() if entry["status"] == "kept"}
    assert kept == {1, 2}


def test_a_moved_repository_gets_a_new_watcher(worked: UserRepo, chorus: Shell) -> None:
    assert chorus("keep", "1").code == 0
    moved = worked.path.rename(worked.path.with_name("moved"))
    try:
        assert chorus("keep", "2", cwd=moved).code == 0
        found = chorus("status", "--json", cwd=moved).json()
        assert (found["watcher"]["repository"], found["open"]) == (str(moved / ".git"), 1)
    finally:
        chorus("stop", cwd=moved)
        moved.rename(worked.path)


def test_kill_without_a_watcher_does_nothing(worked: UserRepo, chorus: Shell) -> None:
    chorus("stop")
    assert chorus("stop", "--kill").code == 3


def test_a_process_that_is_not_a_watcher_is_never_killed(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.root.mkdir()
    with home.lock.open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        held.write(b"%d\n" % os.getpid())
        held.flush()

        with pytest.raises(ChorusError, match="does not hold its process id"):
            kill(home)
