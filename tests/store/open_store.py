"""Everything of `chorus.store`, opened on a user's repository."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chorus.model.ids import Oid
from chorus.store.objects.object_store import ObjectStore
from chorus.store.objects.trees import Trees
from chorus.store.repository import Repository
from chorus.store.worktree.filters import Filters
from chorus.store.worktree.scan import Scanner
from chorus.store.worktree.work_tree import WorkTree
from tests.repos import UserRepo


@dataclass(frozen=True)
class OpenStore:
    repo: UserRepo
    repository: Repository
    store: ObjectStore
    trees: Trees
    work_tree: WorkTree
    filters: Filters
    scanner: Scanner

    @classmethod
    @contextlib.contextmanager
    def open(cls, repo: UserRepo) -> Iterator["OpenStore"]:
        repository = Repository.open(repo.path)
        work_tree = WorkTree(repository.work_tree)
        with ObjectStore(repository) as store:
            trees, filters = Trees(store), Filters(repository, store)
            scanner = Scanner(repository, store, trees, work_tree, filters)
            yield cls(repo, repository, store, trees, work_tree, filters, scanner)

    def contents(self, tree: Oid) -> dict[str, tuple[int, bytes]]:
        """Mode and bytes of every file of a tree."""
        return {path: (entry.mode, self.store.read_blob(entry.oid)) for path, entry in self.trees.walk(tree)}

    def on_disk(self) -> dict[str, tuple[int, bytes]]:
        """The same of every file in the work tree that is not ignored, read without the code under test."""
        listed = self.repo.git("ls-files", "-z", "-c", "-o", "--exclude-standard").split("\0")[:-1]
        places = {name: self.repo.path / name for name in listed}
        return {name: read_plain(place) for name, place in places.items() if os.path.lexists(place)}


def read_plain(place: Path) -> tuple[int, bytes]:
    if place.is_symlink():
        return 0o120000, os.fsencode(place.readlink())
    return 0o100755 if place.stat().st_mode & 0o100 else 0o100644, place.read_bytes()
