"""What the tests of the git layer share: the layer, opened on a user's repository."""

from collections.abc import Iterator

import pytest

from chorus.git.objects import ObjectStore
from chorus.git.repository import Repository
from chorus.git.trees import Trees
from chorus.git.worktree import WorkTree
from tests.repos import UserRepo


@pytest.fixture
def repository(repo: UserRepo) -> Repository:
    return Repository.open(repo.path)


@pytest.fixture
def store(repository: Repository) -> Iterator[ObjectStore]:
    with ObjectStore(repository) as store:
        yield store


@pytest.fixture
def trees(store: ObjectStore) -> Trees:
    return Trees(store)


@pytest.fixture
def work_tree(repository: Repository) -> WorkTree:
    return WorkTree(repository.work_tree)
