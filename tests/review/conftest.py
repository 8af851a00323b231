"""Fixtures shared with the tests of the history: a recorder on a user's repository and an agent at work."""

import pytest

from tests.history.conftest import agent, memory_path, recorder
from tests.repos import UserRepo
from tests.review.landing_steps import LINES

__all__ = ["agent", "memory_path", "recorder"]


@pytest.fixture
def numbered(repo: UserRepo) -> UserRepo:
    """A clean repository with a file of thirty numbered lines."""
    repo.git("reset", "-q", "--hard")
    repo.git("clean", "-qfd")
    repo.commit("numbers", **{"n.txt": LINES})
    return repo
