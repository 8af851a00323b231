"""Find what changed in the work tree since a recorded tree of raw bytes.

The new bytes of each file that differs are stored. Skipped paths are reported. An ignored path is reported
only if the caller names it.
"""

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chorus.model.ids import Oid, RepoPath
from chorus.model.repo_paths import is_at_or_below
from chorus.store.git_process import split_names
from chorus.store.objects.object_store import ObjectMissing, ObjectStore
from chorus.store.objects.trees import Trees
from chorus.store.repository import Repository
from chorus.store.worktree.comparison import Comparison, FileComparer, ObservedChange, SkippedPath
from chorus.store.worktree.file_state import SkipReason, Stamp, stamp_of
from chorus.store.worktree.filters import Filters
from chorus.store.worktree.index_file import IndexEntry, make_index_entry
from chorus.store.worktree.stamp_index import StampIndex
from chorus.store.worktree.work_tree import WorkTree

__all__ = ["ObservedChange", "ScanResult", "Scanner", "SkippedPath"]

# git compares whole seconds: only an older stamp is safe in the private index.
MIN_STAMP_AGE_NS = 2 * 10**9
# Checking one path again costs as much as rewriting some 300 entries of the index.
UPDATE_SHARE = 300
MIN_UPDATE = 64
# Command lines are limited; with more directories than this, one pass over everything costs no more.
MAX_DIRECTORIES = 200


@dataclass(frozen=True, slots=True)
class ScanResult:
    """The result of a scan, sorted by path."""

    changes: tuple[ObservedChange, ...]
    omitted: tuple[SkippedPath, ...]


class Scanner:
    def __init__(
        self, repository: Repository, store: ObjectStore, trees: Trees, work_tree: WorkTree, filters: Filters
    ) -> None:
        self._repository = repository
        self._trees = trees
        self._work_tree = work_tree
        self._index = StampIndex(repository, store, filters)
        self._comparer = FileComparer(repository, store, trees, work_tree)
        self._tracked_ignored: list[RepoPath] = []
        self._tracked_ignored_stamp: Stamp | None = None

    def baseline(self) -> tuple[Oid, ScanResult]:
        """Store the whole work tree. Return its tree, and how the work tree differs from the user's index."""
        tree = self._index.build()
        scan = self.changed(tree)
        return self._splice(tree, scan.changes), scan

    def changed(self, tree: Oid, paths: Iterable[RepoPath] | None = None) -> ScanResult:
        """Find what differs from `tree`, everywhere or at `paths`. A directory means everything below it."""
        if paths is None:
            return self._scan_everything(tree)
        as_in_git = self._work_tree.spelling.as_in_git
        named = [RepoPath(path) for path in dict.fromkeys(map(as_in_git, paths))]
        comparison = self._comparer.compare(tree, named)
        areas = comparison.directories
        if len(areas) > MAX_DIRECTORIES:
            return self._scan_everything(tree)
        more = [path for area in set(named) - set(areas) for path in self._files_below(tree, area)]
        nested: list[SkippedPath] = []
        if areas:
            found, nested = self._find(tree, areas)
            more += found
        below = set(more) - set(named)
        return collect(comparison, self._comparer.compare(tree, below) if below else Comparison(), nested)

    def other_spellings(self, tree: Oid, paths: Sequence[RepoPath]) -> list[RepoPath]:
        """Other spellings of these paths, on disk or in `tree`, that mean the same files.

        After a rename to another spelling, both the old name and the new one have to be scanned.
        """
        spelling = self._work_tree.spelling
        if spelling.is_exact:
            return []
        root, listings = str(self._work_tree.root), dict[str, list[str]]()
        found: dict[RepoPath, None] = {}
        for path in paths:
            found[RepoPath(spelling.as_on_disk(root, path, listings))] = None
            found |= dict.fromkeys(self._trees.find(tree, path, spelling.is_same))
        return [path for path in found if path not in set(paths)]

    def _scan_everything(self, tree: Oid) -> ScanResult:
        now_ns = time.time_ns()
        found, nested = self._find(tree, ())
        found += self.other_spellings(tree, found)
        comparison = self._comparer.compare(tree, found)
        scan = collect(comparison, Comparison(), nested)
        if len(found) > max(MIN_UPDATE, self._index.size() // UPDATE_SHARE):
            self._update_index(tree, found, scan, now_ns)
        return scan

    def _find(self, tree: Oid, areas: Sequence[RepoPath]) -> tuple[list[RepoPath], list[SkippedPath]]:
        """List every path that may differ from `tree`, and the repositories inside this one.

        `areas`: the directories to look in, or none for the whole work tree.
        """
        moved = [path for path in self._differing(tree) if not areas or is_at_or_below(path, areas)]
        kept = [path for path in self._tracked_though_ignored() if not areas or is_at_or_below(path, areas)]
        unknown = self._index.unknown(areas)
        nested = [
            SkippedPath(RepoPath(path[:-1]), SkipReason.NESTED) for path in unknown if path.endswith("/")
        ]
        files = [path for path in unknown if not path.endswith("/")]
        return list(dict.fromkeys([*self._index.stale(areas), *files, *moved, *kept])), nested

    def _differing(self, tree: Oid) -> list[RepoPath]:
        """Paths that differ between the private index and `tree`.

        At these paths, an unchanged stamp does not mean that the file is as in `tree`.
        """
        base = self._index.tree
        try:
            changes = self._trees.diff(base or self._index.build(), tree)
        except ObjectMissing:
            changes = self._trees.diff(self._index.build(), tree)
        return [change.path for change in changes]

    def _tracked_though_ignored(self) -> list[RepoPath]:
        """Files of the user's index that an ignore rule matches: the private index may lack them."""
        stamp = stamp_of(self._repository.git_dir / "index")
        if stamp != self._tracked_ignored_stamp:
            options = ("-z", "--cached", "--ignored", "--exclude-standard")
            self._tracked_ignored = split_names(self._repository.git.run("ls-files", *options))
            self._tracked_ignored_stamp = stamp
        return self._tracked_ignored

    def _files_below(self, tree: Oid, path: RepoPath) -> list[RepoPath]:
        entry = self._trees.lookup(tree, path)
        if entry is None or not entry.is_tree:
            return []
        return [file for file, _ in self._trees.walk(entry.oid, path + "/")]

    def _update_index(self, tree: Oid, found: Iterable[RepoPath], scan: ScanResult, now_ns: int) -> None:
        after = self._splice(tree, scan.changes)
        updates = {os.fsencode(path): self._index_entry(after, path, now_ns) for path in found}
        self._index.update(updates, after)

    def _index_entry(self, tree: Oid, path: RepoPath, now_ns: int) -> IndexEntry | None:
        entry = self._trees.lookup(tree, path)
        if entry is None or entry.is_tree:
            return None
        known = self._comparer.known(path)
        if known is None or known.entry != entry:
            return make_index_entry(entry, NO_STAMP).without_stamp()
        indexed = make_index_entry(entry, known.stamp)
        is_old = now_ns - max(known.stamp.modified_ns, known.stamp.changed_ns) > MIN_STAMP_AGE_NS
        return indexed if is_old else indexed.without_stamp()

    def _splice(self, tree: Oid, changes: Iterable[ObservedChange]) -> Oid:
        return self._trees.splice(tree, {change.path: change.after for change in changes})


NO_STAMP = Stamp(0, 0, 0, 0, 0, 0, 0, 0)


def collect(one: Comparison, other: Comparison, nested: Iterable[SkippedPath]) -> ScanResult:
    def by_path(item: ObservedChange | SkippedPath) -> bytes:
        return os.fsencode(item.path)

    return ScanResult(
        tuple(sorted((*one.changes, *other.changes), key=by_path)),
        tuple(sorted((*one.omitted, *other.omitted, *nested), key=by_path)),
    )
