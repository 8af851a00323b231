"""A minimal recorder: one edit as a commit on a ref, with `chorus.store` alone."""

from chorus.model.ids import Oid, RepoPath
from chorus.store.objects.commits import Commit
from chorus.store.objects.object_store import ObjectStore
from chorus.store.objects.trees import FILE_MODE, TreeEntry, Trees
from chorus.store.repository import Repository

TIMELINE = "refs/chorus/timeline/test"
LANE = "refs/heads/chorus/test"


class Recorder:
    def __init__(self, repository: Repository, store: ObjectStore, trees: Trees, ref: str = TIMELINE) -> None:
        self.repository = repository
        self.store = store
        self.trees = trees
        self.ref = ref
        self.tip = repository.refs.read(ref)
        base = self.tip or repository.head().oid
        self.tree: Oid | None = store.read_commit(base).tree if base else None

    def record(self, path: str, data: bytes | None, mode: int = FILE_MODE) -> Oid:
        entry = None if data is None else TreeEntry(mode, self.store.write_blob(data))
        self.tree = self.trees.splice(self.tree, {RepoPath(path): entry})
        who = self.repository.committer.sign()
        parents = (self.tip,) if self.tip else ()
        commit = self.store.write_commit(Commit(self.tree, parents, who, who, f"edit {path}\n"))
        self.repository.refs.update(self.ref, commit, self.tip, f"record {path}")
        self.tip = commit
        return commit
