"""Fixtures of the history tests: a recorder on a user's repository, and an agent at work in it."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus.history.recorder import Recorder
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo


@pytest.fixture
def recorder(repo: UserRepo) -> Iterator[Recorder]:
    with Recorder.open(repo.path) as recorder:
        yield recorder


@pytest.fixture
def agent(repo: UserRepo, recorder: Recorder) -> Agent:
    return Agent(repo, recorder)


@pytest.fixture
def memory_path(tmp_path: Path) -> Iterator[Path]:
    """A temporary directory in memory if possible: a disk would spend the time on flushing."""
    memory = Path("/dev/shm")
    if not memory.is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="chorus-test-", dir=memory) as name:
        yield Path(name)
