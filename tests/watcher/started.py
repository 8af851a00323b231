"""A fixture: the directory of a watcher that has been started."""

from collections.abc import Iterator

import pytest

from chorus.wire.home import Home, find_home
from chorus.wire.watcher_process import connect_or_start, stop
from tests.repos import UserRepo


@pytest.fixture
def home(repo: UserRepo) -> Iterator[Home]:
    home = find_home(repo.path)
    connect_or_start(home).close()
    yield home
    stop(home)
