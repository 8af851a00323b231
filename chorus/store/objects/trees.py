"""Look up a path in a tree, list a tree, compare two trees, and write a tree with some paths changed.

A change of a path reads and writes only the directories along that path. As in git, there are no empty
directories.
"""

import os
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from chorus.model.ids import Oid, RepoPath
from chorus.store.objects.object_store import ObjectStore
from chorus.store.objects.tree_object import (
    EXECUTABLE_MODE,
    FILE_MODE,
    SUBMODULE_MODE,
    SYMLINK_MODE,
    TREE_MODE,
    Directory,
    TreeEntry,
    parse_entries,
    unshared,
)

__all__ = [
    "EMPTY_TREE", "EXECUTABLE_MODE", "FILE_MODE", "SUBMODULE_MODE", "SYMLINK_MODE", "TREE_MODE",
    "TreeChange", "TreeEntry", "Trees",
]  # fmt: skip

EMPTY_TREE = Oid("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
EMPTY = Directory.parse(b"")
CACHE_BYTES = 64 * 2**20
# How many replaced directories stay in the cache: another tree may contain the same ones.
MAX_OLD_VERSIONS = 256

# Changes in one directory, by name: a file, None for a removal, or the changes in the directory of that name.
# The empty name ITSELF in such a directory means: if there was a file in place of the directory, remove it.
ITSELF = b""
Nested: TypeAlias = dict[bytes, "TreeEntry | Nested | None"]


@dataclass(frozen=True, slots=True)
class TreeChange:
    path: RepoPath
    before: TreeEntry | None
    after: TreeEntry | None


class Trees:
    def __init__(self, store: ObjectStore, cache_bytes: int = CACHE_BYTES) -> None:
        self._store = store
        self._cache: OrderedDict[Oid, tuple[Directory, int]] = OrderedDict()
        self._room = cache_bytes
        # For each directory that the last change rewrote: its new id, by old id and path of the change below
        # it. The next change is often the same change to another tree.
        self._last_results: dict[tuple[Oid, bytes], Oid] = {}
        self._last_entry: TreeEntry | None = None
        self._old_versions: deque[Oid] = deque()

    def splice(self, root: Oid | None, changes: Mapping[RepoPath, TreeEntry | None]) -> Oid:
        """Write the tree with these files added, replaced or (None) removed.

        A file replaces a directory of the same name, and a directory replaces a file.
        """
        replaced = self._replace(root, changes) if len(changes) == 1 else None
        return replaced or self._splice(root, nest(changes)) or self._store.write_tree(b"")

    def forget_results(self) -> None:
        """Forget the trees that the last change wrote: a sweep may have removed them."""
        self._last_results.clear()

    def lookup(self, root: Oid | None, path: RepoPath) -> TreeEntry | None:
        """The entry at a path, file or directory; None if there is no entry."""
        entry = TreeEntry(TREE_MODE, root) if root else None
        for name in os.fsencode(path).split(b"/"):
            if entry is None or not entry.is_tree:
                return None
            entry = self._read(entry.oid).find(name)
        return entry

    def find(self, root: Oid | None, path: str, is_same: Callable[[str, str], bool]) -> list[RepoPath]:
        """The paths of files and directories that match `path`; `is_same` compares each part of the path."""
        found: list[tuple[str, Oid | None]] = [("", root)]
        for part in path.split("/"):
            found = [
                (f"{below}{name}/", entry.oid if entry.is_tree else None)
                for below, oid in found
                for name, entry in self._named(oid)
                if is_same(name, part)
            ]
        return [RepoPath(each[:-1]) for each, _ in found]

    def _named(self, oid: Oid | None) -> Iterator[tuple[str, TreeEntry]]:
        for name, entry in self._read(oid).entries():
            yield os.fsdecode(name), entry

    def walk(self, root: Oid | None, below: str = "") -> Iterator[tuple[RepoPath, TreeEntry]]:
        """Every entry that is not a directory, in git's order."""
        for name, entry in self._read(root).entries():
            path = below + os.fsdecode(name)
            if entry.is_tree:
                yield from self.walk(entry.oid, path + "/")
            else:
                yield RepoPath(path), entry

    def diff(self, old: Oid | None, new: Oid | None) -> list[TreeChange]:
        """The files that differ, sorted by path. Reads only directories that differ."""
        return sorted(self._diff(old, new, ""), key=lambda change: os.fsencode(change.path))

    def _replace(self, root: Oid | None, changes: Mapping[RepoPath, TreeEntry | None]) -> Oid | None:
        """The fast path: write the tree with other bytes in one existing file.

        Returns None for any other change.
        """
        ((path, entry),) = changes.items()
        if entry is None or root is None:
            return None
        rest = os.fsencode(path)
        names = rest.split(b"/")
        if entry != self._last_entry:
            self._last_results, self._last_entry = {}, entry
        oid, steps = root, []
        for depth, name in enumerate(names, 1):
            known = self._last_results.get((oid, rest))
            if known is not None:
                oid = known
                break
            directory = self._read(oid)
            position = directory.locate(name, TREE_MODE if depth < len(names) else entry.mode)
            if position is None:
                return None
            steps.append((oid, rest, directory, position))
            oid = directory.oid_at(position)
            rest = rest[len(name) + 1 :]
        else:
            if oid == entry.oid:
                return root
            oid = entry.oid
        for old, rest, directory, position in reversed(steps):
            oid = self._write(directory.replaced(position, bytes.fromhex(oid)))
            self._last_results[old, rest] = oid
            self._replaced(old)
        return oid

    def _replaced(self, oid: Oid) -> None:
        """Keep only the last `MAX_OLD_VERSIONS` replaced directories in the cache."""
        self._old_versions.append(oid)
        if len(self._old_versions) > MAX_OLD_VERSIONS:
            _, freed = self._cache.pop(self._old_versions.popleft(), (None, 0))
            self._room += freed

    def _splice(self, oid: Oid | None, nested: Nested) -> Oid | None:
        directory = self._read(oid)
        changes: dict[bytes, TreeEntry | None] = {}
        for name, change in nested.items():
            old = directory.find(name)
            old_tree = old is not None and old.mode == TREE_MODE
            if isinstance(change, dict):
                inner = self._splice(old.oid if old and old_tree else None, change)
                new = TreeEntry(TREE_MODE, inner) if inner else None
                gone = old_tree or (old is not None and ITSELF in change)
            else:
                new = change
                gone = old is not None and not old_tree
            if gone if new is None else new != old:
                changes[name] = new
        if not changes:
            return oid
        changed = directory.changed(changes)
        return self._write(changed) if changed.runs[0].raw else None

    def _write(self, directory: Directory) -> Oid:
        raw = directory.render()
        oid = self._store.write_tree(raw)
        self._keep(oid, directory, len(raw))
        return oid

    def _read(self, oid: Oid | None) -> Directory:
        if oid is None or oid == EMPTY_TREE:
            return EMPTY
        kept = self._cache.get(oid)
        if kept is not None:
            self._cache.move_to_end(oid)
            return kept[0]
        raw = self._store.read_tree(oid)
        directory = Directory.parse(raw)
        self._keep(oid, directory, len(raw))
        return directory

    def _keep(self, oid: Oid, directory: Directory, size: int) -> None:
        # With its table of positions and Python's overhead, a tree takes about three times its bytes.
        cost = 1000 + 3 * size
        if oid not in self._cache:
            self._room -= cost
        self._cache[oid] = (directory, cost)
        while self._room < 0 and len(self._cache) > 1:
            _, (_, freed) = self._cache.popitem(last=False)
            self._room += freed

    def _diff(self, old: Oid | None, new: Oid | None, below: str) -> Iterator[TreeChange]:
        if old == new:
            return
        gone, come = (
            {name: entry for raw in runs for name, entry in parse_entries(raw)}
            for runs in unshared(self._read(old), self._read(new))
        )
        for name in gone.keys() | come.keys():
            before, after = gone.get(name), come.get(name)
            if before != after:
                yield from self._diff_entry(below + os.fsdecode(name), before, after)

    def _diff_entry(
        self, path: str, before: TreeEntry | None, after: TreeEntry | None
    ) -> Iterator[TreeChange]:
        trees = [entry.oid if entry and entry.is_tree else None for entry in (before, after)]
        if any(trees):
            yield from self._diff(trees[0], trees[1], path + "/")
        files = [entry if entry and not entry.is_tree else None for entry in (before, after)]
        if any(files):
            yield TreeChange(RepoPath(path), files[0], files[1])


def nest(changes: Mapping[RepoPath, TreeEntry | None]) -> Nested:
    """Group changes by directory. Raises ValueError for a file below another file."""
    nested: Nested = {}
    # In order of path, so that `a` comes before `a/b`.
    for path in sorted(changes):
        *parents, name = os.fsencode(path).split(b"/")
        level = nested
        for parent in parents:
            inner = level.get(parent)
            if isinstance(inner, TreeEntry):
                if changes[path] is None:
                    break
                raise ValueError(f"{path!r} is below a file")
            if inner is None:
                inner = level[parent] = {ITSELF: None} if parent in level else {}
            level = inner
        else:
            level[name] = changes[path]
    return nested
