"""Files looked at one by one, compared with a recorded tree of raw bytes.

Receives the tree and the paths, gives what differs, its new bytes already stored, and what is left out
and why. Costs a `stat` for a file that is as it was when last read. A stamp so fresh that a later change
could carry the same one is not trusted: such a file is read again.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, assert_never

from chorus.model.ids import Oid, RepoPath
from chorus.store.objects.directory import SUBMODULE_MODE, Entry
from chorus.store.objects.store import ObjectStore, hash_blob
from chorus.store.objects.trees import Trees
from chorus.store.repository import Repository
from chorus.store.worktree.file_state import Absent, File, FileState, Skipped, Stamp, Why, settled_mode
from chorus.store.worktree.ignore import Ignores
from chorus.store.worktree.work_tree import WorkTree

SECOND_NS = 10**9
# The kernel's clock for files ticks every 1 to 10 ms; some file systems keep whole or even seconds only.
FRESH_NS = 100 * 10**6
FRESH_COARSE_NS = 2 * SECOND_NS

MOST_STAMPS = 50_000  # some 20 MB, kept from one look to the next
# Files are read in batches, for whether git ignores them costs a process per batch, bytes cost memory.
MOST_AT_ONCE = 2000
MOST_BYTES = 32 * 2**20


@dataclass(frozen=True, slots=True)
class Observed:
    """A file that differs. `after` names bytes that are in the store."""

    path: RepoPath
    before: Entry | None
    after: Entry | None


@dataclass(frozen=True, slots=True)
class Omitted:
    """Something that is not followed, and why."""

    path: RepoPath
    why: Why
    detail: str = ""


class Known(NamedTuple):
    """What a file held when it had this stamp."""

    stamp: Stamp
    entry: Entry


class Sight:
    """What one look at some paths found."""

    __slots__ = ("changes", "directories", "omitted")

    def __init__(self) -> None:
        self.changes: list[Observed] = []
        self.omitted: list[Omitted] = []
        self.directories: list[RepoPath] = []


class Observer:
    def __init__(self, repository: Repository, store: ObjectStore, trees: Trees, work_tree: WorkTree) -> None:
        self._repository = repository
        self._store = store
        self._trees = trees
        self._work_tree = work_tree
        self._ignores = Ignores(repository)
        self._known: dict[RepoPath, Known] = {}

    def look(self, tree: Oid | None, paths: Iterable[RepoPath]) -> Sight:
        if len(self._known) > MOST_STAMPS:
            self._known.clear()
        sight = Sight()
        batch: dict[RepoPath, tuple[Entry | None, FileState]] = {}
        now_ns, held = time.time_ns(), 0
        for path in paths:
            before = self._trees.lookup(tree, path)
            state = self._read(path, before)
            if state is not None:
                batch[path] = (before, state)
                held += len(state.data) if isinstance(state, File) else 0
            if held > MOST_BYTES or len(batch) >= MOST_AT_ONCE:
                self._compare_all(batch, now_ns, sight)
                batch, now_ns, held = {}, time.time_ns(), 0
        self._compare_all(batch, now_ns, sight)
        return sight

    def known(self, path: RepoPath) -> Known | None:
        """What the file held when it was last read; None where its stamp is not to be trusted."""
        return self._known.get(path)

    def _read(self, path: RepoPath, before: Entry | None) -> FileState | None:
        """None if the file is as it was when last read, and as recorded."""
        known = self._known.get(path)
        if known is not None and known.entry == before:
            return self._work_tree.read_unless(path, known.stamp)
        return self._work_tree.read_file(path)

    def _compare_all(
        self, batch: dict[RepoPath, tuple[Entry | None, FileState]], now_ns: int, sight: Sight
    ) -> None:
        ignored = self._ignores.ignored(path for path, (_, state) in batch.items() if is_askable(state))
        for path, (before, state) in batch.items():
            if path in ignored:
                sight.omitted.append(Omitted(path, Why.IGNORED))
            else:
                self._compare(path, before, state, now_ns, sight)

    def _compare(
        self, path: RepoPath, before: Entry | None, state: FileState, now_ns: int, sight: Sight
    ) -> None:
        old = None if before is None or before.is_tree else before
        self._known.pop(path, None)
        match state:
            case _ if old is not None and old.mode == SUBMODULE_MODE:
                sight.omitted.append(Omitted(path, Why.NESTED))
            case Skipped(why, detail):
                sight.omitted.append(Omitted(path, why, detail))
            case Absent(why):
                if why is Why.DIRECTORY:
                    sight.directories.append(path)
                elif why is not None and old is None:
                    sight.omitted.append(Omitted(path, why))
                if old is not None:
                    sight.changes.append(Observed(path, old, None))
            case File():
                entry = Entry(self._mode(state.mode, old), hash_blob(state.data))
                if entry != old:
                    self._store.write_blob(state.data)
                    sight.changes.append(Observed(path, old, entry))
                self._remember(path, Known(state.stamp, entry), now_ns)
            case _:
                assert_never(state)

    def _mode(self, mode: int, before: Entry | None) -> int:
        return settled_mode(
            mode,
            before,
            trust_bits=self._repository.config.switch("core.filemode", default=True),
            trust_links=self._repository.config.switch("core.symlinks", default=True),
        )

    def _remember(self, path: RepoPath, known: Known, now_ns: int) -> None:
        if not is_fresh(known.stamp, now_ns):
            self._known[path] = known


def is_askable(state: FileState) -> bool:
    """git is not asked about what is not there, or not its own: it fails on some of that."""
    match state:
        case File():
            return True
        case Skipped(why):
            return why in (Why.SPECIAL, Why.UNREADABLE, Why.TOO_LARGE, Why.UNSTEADY, Why.NAME)
        case Absent():
            return False


def is_fresh(stamp: Stamp, now_ns: int) -> bool:
    """A change after `now_ns` might leave the stamp as it is."""
    last_ns = max(stamp.modified_ns, stamp.changed_ns)
    coarse = stamp.modified_ns % SECOND_NS == 0 and stamp.changed_ns % SECOND_NS == 0
    return now_ns - last_ns < (FRESH_COARSE_NS if coarse else FRESH_NS)
