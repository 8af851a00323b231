"""Trees: whatever is spliced, the result is the tree git itself would write."""

import hashlib
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chorus.model.ids import Oid, RepoPath
from chorus.store.objects.object_store import ObjectStore
from chorus.store.objects.tree_object import RUN_ENTRIES, Directory
from chorus.store.objects.trees import (
    EMPTY_TREE,
    EXECUTABLE_MODE,
    FILE_MODE,
    SUBMODULE_MODE,
    SYMLINK_MODE,
    TREE_MODE,
    TreeChange,
    TreeEntry,
    Trees,
)
from tests.repos import UserRepo
from tests.store.open_store import OpenStore

# Few names that sort in trying ways, as file and as directory: "a" < "a-" < "a/" < "a0".
NAMES = st.sampled_from(["a", "a-", "a.", "a0", "a ", " a", "100644 a", "b\n", "é", "\udcff", "A"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join).map(RepoPath)
ENTRIES = st.builds(
    TreeEntry,
    st.sampled_from([FILE_MODE, EXECUTABLE_MODE, SYMLINK_MODE]),
    # Bytes that look like parts of an entry, to catch a search that strays into an object id.
    st.sampled_from([b"\0" * 19 + b"1", b"100644 a\0" * 2 + b"xx", b" a\0" * 6 + b"yy", b"z" * 20]).map(
        lambda raw: Oid(raw.hex())
    ),
)
Step = list[tuple[RepoPath, TreeEntry | None]]
CHANGES = st.lists(st.tuples(PATHS, st.none() | ENTRIES), max_size=6)


class MemoryStore(ObjectStore):
    """Trees kept in a dictionary."""

    def __init__(self) -> None:
        self.held: dict[Oid, bytes] = {}

    def write_tree(self, data: bytes) -> Oid:
        oid = hash_tree(data)
        self.held[oid] = data
        return oid

    def read_tree(self, oid: Oid) -> bytes:
        return self.held[oid]


def hash_tree(data: bytes) -> Oid:
    return Oid(hashlib.sha1(b"tree %d\0" % len(data) + data).hexdigest())


def apply(
    files: dict[str, TreeEntry], changes: dict[RepoPath, TreeEntry | None]
) -> dict[str, TreeEntry] | None:
    """The plain meaning of a splice; None if it has none."""
    wanted = [path for path, entry in changes.items() if entry is not None]
    if any(other.startswith(path + "/") for path in wanted for other in wanted):
        return None
    files = {path: entry for path, entry in files.items() if path not in changes}
    for path in wanted:
        above = {path[:end] for end in range(len(path)) if path[end] == "/"}
        files = {
            other: entry
            for other, entry in files.items()
            if other not in above and not other.startswith(path + "/")
        }
        files[path] = changes[path]  # type: ignore[assignment]  # deletions were sorted out above
    return files


@settings(max_examples=150, deadline=None)
@given(st.lists(CHANGES, min_size=1, max_size=4))
def test_any_changes_in_any_order_give_the_expected_files(steps: list[Step]) -> None:
    store = MemoryStore()
    trees = Trees(store, cache_bytes=3000)
    root: Oid | None = None
    files: dict[str, TreeEntry] = {}
    for step in steps:
        changes = dict(step)
        after = apply(files, changes)
        if after is None:
            with pytest.raises(ValueError, match="below a file"):
                trees.splice(root, changes)
            continue
        old, before = root, files
        root, files = trees.splice(root, changes), after
        assert dict(trees.walk(root)) == files
        assert all(trees.lookup(root, RepoPath(path)) == entry for path, entry in files.items())
        assert root == Trees(store).splice(None, {RepoPath(path): entry for path, entry in files.items()})
        assert trees.diff(old, root) == differences(before, files)


def differences(before: dict[str, TreeEntry], after: dict[str, TreeEntry]) -> list[TreeChange]:
    paths = sorted(before.keys() | after.keys(), key=os.fsencode)
    pairs = ((path, before.get(path), after.get(path)) for path in paths)
    return [TreeChange(RepoPath(path), old, new) for path, old, new in pairs if old != new]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(PATHS, ENTRIES, max_size=12))
def test_git_writes_the_same_tree(repo: UserRepo, changes: dict[RepoPath, TreeEntry]) -> None:
    store = MemoryStore()
    try:
        root = Trees(store).splice(None, changes)
    except ValueError:
        return
    index = repo.path / ".git/scratch"
    index.unlink(missing_ok=True)
    lines = [
        b"%o %s\t%s\0" % (entry.mode, entry.oid.encode(), os.fsencode(path))
        for path, entry in changes.items()
    ]
    repo.git("update-index", "-z", "--index-info", stdin=b"".join(lines), GIT_INDEX_FILE=str(index))

    assert repo.git("write-tree", "--missing-ok", GIT_INDEX_FILE=str(index)).strip() == root


def oid_of(number: int) -> Oid:
    return Oid(f"{number:040x}")


def test_a_wide_directory_stays_in_order_through_many_changes() -> None:
    trees = Trees(MemoryStore())
    files = {f"file{number:05}": TreeEntry(FILE_MODE, oid_of(number)) for number in range(5000)}
    root = trees.splice(None, {RepoPath(path): entry for path, entry in files.items()})
    for number in range(1500):
        name = f"file{(number * 7919) % 6000:05}" + ("-new" if number % 5 == 0 else "")
        entry = None if number % 3 == 0 else TreeEntry(FILE_MODE, oid_of(10_000 + number))
        root = trees.splice(root, {RepoPath(name): entry})
        if entry is None:
            files.pop(name, None)
        else:
            files[name] = entry

    assert dict(trees.walk(root)) == files
    assert [path for path, _ in trees.walk(root)] == sorted(files)


def test_one_change_in_a_wide_directory_touches_one_run() -> None:
    raw = b"".join(b"100644 file%05d\0%s" % (number, b"x" * 20) for number in range(10_000))
    directory = Directory.parse(raw)
    changed = directory.changed({b"file05000x": TreeEntry(FILE_MODE, oid_of(1))})

    assert len(set(map(id, changed.runs)) - set(map(id, directory.runs))) <= 2
    assert max(len(run.raw) for run in changed.runs) < 3 * RUN_ENTRIES * 40


def test_an_emptied_tree_is_the_empty_tree(opened: OpenStore) -> None:
    file = RepoPath("a/b/c")
    root = opened.trees.splice(None, {file: TreeEntry(FILE_MODE, opened.store.write_blob(b""))})

    assert opened.trees.splice(root, {file: None}) == EMPTY_TREE
    assert opened.store.read_tree(EMPTY_TREE) == b""


def test_removing_a_file_that_is_a_directory_keeps_what_is_below_it() -> None:
    trees = Trees(MemoryStore())
    root = trees.splice(None, {RepoPath("a/b"): TreeEntry(FILE_MODE, oid_of(1))})

    assert trees.splice(root, {RepoPath("a"): None}) == root


def test_a_deleted_file_is_removed_even_if_something_changes_below_its_path() -> None:
    trees = Trees(MemoryStore())
    root = trees.splice(None, {RepoPath("a"): TreeEntry(FILE_MODE, oid_of(1))})

    assert trees.splice(root, {RepoPath("a"): None, RepoPath("a/b"): None}) == EMPTY_TREE


def test_the_same_path_can_be_changed_twice() -> None:
    trees = Trees(MemoryStore())
    path = RepoPath("a/b/c")
    root = trees.splice(
        None, {path: TreeEntry(FILE_MODE, oid_of(1)), RepoPath("x"): TreeEntry(FILE_MODE, oid_of(1))}
    )

    for number in (2, 3, 2, 1):
        assert trees.lookup(
            trees.splice(root, {path: TreeEntry(FILE_MODE, oid_of(number))}), path
        ) == TreeEntry(FILE_MODE, oid_of(number))


def test_a_submodule_stays_where_it_is() -> None:
    trees = Trees(MemoryStore())
    root = trees.splice(None, {RepoPath("sub"): TreeEntry(SUBMODULE_MODE, oid_of(1))})
    root = trees.splice(root, {RepoPath("x"): TreeEntry(FILE_MODE, oid_of(2))})

    assert trees.lookup(root, RepoPath("sub")) == TreeEntry(SUBMODULE_MODE, oid_of(1))
    assert [entry.mode for _, entry in trees.walk(root)] == [SUBMODULE_MODE, FILE_MODE]
    assert trees.lookup(root, RepoPath("sub/x")) is None
    assert TREE_MODE not in [entry.mode for _, entry in trees.walk(root)]


def test_the_cache_stays_within_its_limit(opened: OpenStore) -> None:
    bounded = Trees(opened.store, cache_bytes=20_000)
    root: Oid | None = None
    for number in range(200):
        root = bounded.splice(root, {RepoPath(f"d{number}/f"): TreeEntry(FILE_MODE, oid_of(number))})

    assert sum(cost for _, cost in bounded._cache.values()) <= 20_000
    assert len(list(bounded.walk(root))) == 200
