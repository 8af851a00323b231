"""A repository with the stand-in in it, and the agent it gets."""

from collections.abc import Iterator

import pytest

from chorus.wire.client import stop
from chorus.wire.home import Home, find_home
from tests.demo.conftest import StandIn, project, stand_in

__all__ = ["project", "stand_in"]  # fixtures


@pytest.fixture
def home(stand_in: StandIn) -> Iterator[Home]:
    """Whatever agent was started in it is stopped at the end."""
    home = find_home(stand_in.project)
    yield home
    stop(home)
