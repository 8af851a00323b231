"""What the tests of the git layer share: the layer, opened on a user's repository."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus.store.objects.object_store import ObjectStore
from chorus.store.objects.trees import Trees
from chorus.store.repository import Repository
from chorus.store.worktree.work_tree import WorkTree
from tests.repos import UserRepo
from tests.store.layer import Layer


@pytest.fixture
def layer(repo: UserRepo) -> Iterator[Layer]:
    with Layer.open(repo) as layer:
        yield layer


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
def repository(layer: Layer) -> Repository:
    return layer.repository


@pytest.fixture
def store(layer: Layer) -> ObjectStore:
    return layer.store


@pytest.fixture
def trees(layer: Layer) -> Trees:
    return layer.trees


@pytest.fixture
def work_tree(layer: Layer) -> WorkTree:
    return layer.work_tree
