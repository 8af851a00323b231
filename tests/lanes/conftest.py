"""What the tests of this room share: a recorder on a user's repository, and an agent at work in it."""

from collections.abc import Iterator

import pytest

from chorus.lanes.recorder import Recorder
from tests.lanes.acting import Agent
from tests.repos import UserRepo


@pytest.fixture
def recorder(repo: UserRepo) -> Iterator[Recorder]:
    with Recorder.open(repo.path) as recorder:
        yield recorder


@pytest.fixture
def agent(repo: UserRepo, recorder: Recorder) -> Agent:
    return Agent(repo, recorder)
