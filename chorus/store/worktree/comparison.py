"""Compare single files of the work tree with a recorded tree of raw bytes.

An unchanged file costs one `stat`, which is compared with the file's stamp. A file that was read just after a
change is read again, because another change could have left its stamp the same.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, assert_never

from chorus.model.ids import Oid, RepoPath
from chorus.store.objects.object_store import ObjectStore, hash_blob
from chorus.store.objects.tree_object import SUBMODULE_MODE, TreeEntry
from chorus.store.objects.trees import Trees
from chorus.store.repository import Repository
from chorus.store.worktree.file_state import (
    Absent,
    File,
    FileState,
    Skipped,
    SkipReason,
    Stamp,
    recorded_mode,
)
from chorus.store.worktree.ignore import Ignores
from chorus.store.worktree.work_tree import WorkTree

SECOND_NS = 10**9
# The kernel's clock for files ticks every 1 to 10 ms. Some file systems round times to 1 or 2 seconds.
FRESH_NS = 100 * 10**6
FRESH_COARSE_NS = 2 * SECOND_NS

MAX_STAMPS = 50_000  # some 20 MB, kept between comparisons
# Files are read in batches. A batch takes one git process, to find ignored files, and memory for the bytes.
MAX_BATCH_FILES = 2000
MAX_BATCH_BYTES = 32 * 2**20


@dataclass(frozen=True, slots=True)
class ObservedChange:
    """A file that differs from the recorded tree. The bytes of `after` are in the store."""

    path: RepoPath
    before: TreeEntry | None
    after: TreeEntry | None


@dataclass(frozen=True, slots=True)
class SkippedPath:
    path: RepoPath
    why: SkipReason
    detail: str = ""


class KnownFile(NamedTuple):
    """The content of a file when it had this stamp."""

    stamp: Stamp
    entry: TreeEntry


class Comparison:
    __slots__ = ("changes", "directories", "omitted")

    def __init__(self) -> None:
        self.changes: list[ObservedChange] = []
        self.omitted: list[SkippedPath] = []
        self.directories: list[RepoPath] = []


class FileComparer:
    def __init__(self, repository: Repository, store: ObjectStore, trees: Trees, work_tree: WorkTree) -> None:
        self._repository = repository
        self._store = store
        self._trees = trees
        self._work_tree = work_tree
        self._ignores = Ignores(repository)
        self._known: dict[RepoPath, KnownFile] = {}

    def compare(self, tree: Oid | None, paths: Iterable[RepoPath]) -> Comparison:
        if len(self._known) > MAX_STAMPS:
            self._known.clear()
        comparison = Comparison()
        batch: dict[RepoPath, tuple[TreeEntry | None, FileState]] = {}
        now_ns, held = time.time_ns(), 0
        for path in paths:
            before = self._trees.lookup(tree, path)
            state = self._read(path, before)
            if state is not None:
                batch[path] = (before, state)
                held += len(state.data) if isinstance(state, File) else 0
            if held > MAX_BATCH_BYTES or len(batch) >= MAX_BATCH_FILES:
                self._compare_all(batch, now_ns, comparison)
                batch, now_ns, held = {}, time.time_ns(), 0
        if batch:
            self._compare_all(batch, now_ns, comparison)
        return comparison

    def known(self, path: RepoPath) -> KnownFile | None:
        """The file as last read. None if it was not read, or was read too soon after a change."""
        return self._known.get(path)

    def _read(self, path: RepoPath, before: TreeEntry | None) -> FileState | None:
        known = self._known.get(path)
        if known is not None and known.entry == before:
            return self._work_tree.read_unless(path, known.stamp)
        return self._work_tree.read_file(path)

    def _compare_all(
        self, batch: dict[RepoPath, tuple[TreeEntry | None, FileState]], now_ns: int, comparison: Comparison
    ) -> None:
        ignored = self._ignores.ignored(path for path, (_, state) in batch.items() if can_be_ignored(state))
        for path, (before, state) in batch.items():
            if path in ignored:
                comparison.omitted.append(SkippedPath(path, SkipReason.IGNORED))
            else:
                self._compare(path, before, state, now_ns, comparison)

    def _compare(
        self, path: RepoPath, before: TreeEntry | None, state: FileState, now_ns: int, comparison: Comparison
    ) -> None:
        old = None if before is None or before.is_tree else before
        self._known.pop(path, None)
        match state:
            case _ if old is not None and old.mode == SUBMODULE_MODE:
                comparison.omitted.append(SkippedPath(path, SkipReason.NESTED))
            case Skipped(why, detail):
                comparison.omitted.append(SkippedPath(path, why, detail))
            case Absent(why):
                if why is SkipReason.DIRECTORY:
                    comparison.directories.append(path)
                elif why is not None and old is None:
                    comparison.omitted.append(SkippedPath(path, why))
                if old is not None:
                    comparison.changes.append(ObservedChange(path, old, None))
            case File():
                entry = TreeEntry(self._mode(state.mode, old), hash_blob(state.data))
                if entry != old:
                    self._store.write_blob(state.data)
                    comparison.changes.append(ObservedChange(path, old, entry))
                self._remember(path, KnownFile(state.stamp, entry), now_ns)
            case _:
                assert_never(state)

    def _mode(self, mode: int, before: TreeEntry | None) -> int:
        return recorded_mode(
            mode,
            before,
            trust_bits=self._repository.config.get_bool("core.filemode", default=True),
            trust_links=self._repository.config.get_bool("core.symlinks", default=True),
        )

    def _remember(self, path: RepoPath, known: KnownFile, now_ns: int) -> None:
        if not is_fresh(known.stamp, now_ns):
            self._known[path] = known


def can_be_ignored(state: FileState) -> bool:
    """True if `git check-ignore` can be asked about a path in this state; for other paths, git may fail."""
    match state:
        case File():
            return True
        case Skipped(why):
            return why in (
                SkipReason.SPECIAL,
                SkipReason.UNREADABLE,
                SkipReason.TOO_LARGE,
                SkipReason.UNSTEADY,
                SkipReason.NAME,
            )
        case Absent():
            return False


def is_fresh(stamp: Stamp, now_ns: int) -> bool:
    """True if the stamp is so recent that a change after `now_ns` could leave it the same."""
    last_ns = max(stamp.modified_ns, stamp.changed_ns)
    coarse = stamp.modified_ns % SECOND_NS == 0 and stamp.changed_ns % SECOND_NS == 0
    return now_ns - last_ns < (FRESH_COARSE_NS if coarse else FRESH_NS)
