"""A repository with a double of the client, and its watcher."""

from collections.abc import Iterator

import pytest

from chorus.wire.home import Home, find_home
from chorus.wire.watcher_process import stop
from tests.client_double.conftest import ClientDouble, client_double, project

__all__ = ["client_double", "project"]  # fixtures


@pytest.fixture
def home(client_double: ClientDouble) -> Iterator[Home]:
    """Whatever watcher was started in it is stopped at the end."""
    home = find_home(client_double.project)
    yield home
    stop(home)
