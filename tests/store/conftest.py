"""Fixtures for the tests of `chorus.store`."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus.store.objects.object_store import ObjectStore
from chorus.store.objects.trees import Trees
from chorus.store.repository import Repository
from chorus.store.worktree.work_tree import WorkTree
from tests.repos import UserRepo
from tests.store.open_store import OpenStore


@pytest.fixture
def opened(repo: UserRepo) -> Iterator[OpenStore]:
    with OpenStore.open(repo) as opened:
        yield opened


@pytest.fixture
def memory_repo(template_repo: Path, tmp_path: Path) -> Iterator[UserRepo]:
    """The same repository in memory, where there is one: for tests that make git write a lot."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as place:
        yield UserRepo.copy(template_repo, Path(place) / "repo")


@pytest.fixture
def new_repo(tmp_path: Path) -> UserRepo:
    """A repository without a commit."""
    (tmp_path / "new").mkdir()
    new = UserRepo(tmp_path / "new")
    new.git("init", "-q", "-b", "main")
    return new


@pytest.fixture
def repository(opened: OpenStore) -> Repository:
    return opened.repository


@pytest.fixture
def store(opened: OpenStore) -> ObjectStore:
    return opened.store


@pytest.fixture
def trees(opened: OpenStore) -> Trees:
    return opened.trees


@pytest.fixture
def work_tree(opened: OpenStore) -> WorkTree:
    return opened.work_tree
