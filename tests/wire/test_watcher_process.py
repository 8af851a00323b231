"""The watcher as a process that others start."""

from chorus.wire.home import find_home
from chorus.wire.watcher_process import connect_or_start, start, stop
from tests.repos import UserRepo


def test_hooks_find_the_spool_while_the_first_watcher_is_still_loading(repo: UserRepo) -> None:
    """Without it they take the repository for one in which Chorus was never used, and report nothing."""
    home = find_home(repo.path)
    start(home)
    assert home.spool.is_dir()
    assert home.spool.stat().st_mode & 0o777 == 0o700
    connect_or_start(home).close()
    stop(home)
