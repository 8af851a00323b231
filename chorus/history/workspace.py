"""One work tree and what reads and records it.

Receives a path inside the work tree. Gives the git layer, opened once and shared by timeline and
lanes, and the lock under which both are written. Never writes by itself.
"""

import contextlib
import os
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from chorus.model.ids import Oid, RepoPath
from chorus.store.git_paths import work_tree_name
from chorus.store.lock_file import translate_write_errors
from chorus.store.objects.commits import Commit
from chorus.store.objects.object_store import ObjectStore
from chorus.store.objects.trees import EXECUTABLE_MODE, FILE_MODE, TreeEntry, Trees
from chorus.store.repository import Repository
from chorus.store.worktree.filters import NOTHING, Filters
from chorus.store.worktree.scan import Scanner
from chorus.store.worktree.work_tree import CAP_BYTES, WorkTree
from chorus.system.file_lock import FileLock

# Who makes the commits of a lane: the agent whose work they hold.
AGENT_NAME = "Claude"
AGENT_EMAIL = "noreply@anthropic.com"

PLAIN_MODES = (FILE_MODE, EXECUTABLE_MODE)

# Contents kept in memory: the two sides of the last few edits, unless they are large.
KEPT_CONTENTS = 16
KEPT_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Authorship:
    """When, in seconds since the epoch, something was made (None: when it was written), and by whom."""

    written: int
    made: int | None = None
    by_agent: bool = False


class Workspace:
    def __init__(self, repository: Repository, cap_bytes: int = CAP_BYTES) -> None:
        self.repository = repository
        self.refs = repository.refs
        self.store = ObjectStore(repository)
        self.trees = Trees(self.store)
        exact_names = not repository.config.get_bool("core.ignorecase", default=False)
        durable = repository.config.get_bool("chorus.durable", default=True)
        self.work_tree = WorkTree(repository.work_tree, cap_bytes, exact_names=exact_names, durable=durable)
        self.filters = Filters(repository, self.store)
        self.scanner = Scanner(repository, self.store, self.trees, self.work_tree, self.filters)
        self._complaints: list[str] = []
        self.lock_path = repository.own_dir / "recording.lock"
        self._lock: FileLock | None = None
        self._held = False
        self._contents: OrderedDict[Oid, bytes] = OrderedDict()
        self._spliced: tuple[tuple[Oid | None, tuple[tuple[RepoPath, TreeEntry | None], ...]], Oid] | None = (
            None
        )
        # Answers that hold for as long as the lock is held.
        self._located: dict[str, RepoPath | None] = {}
        self._converts: dict[RepoPath, bool] = {}

    @classmethod
    def open(cls, path: Path, cap_bytes: int = CAP_BYTES) -> Self:
        return cls(Repository.open(path), cap_bytes)

    def close(self) -> None:
        self.store.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def read(self, entry: TreeEntry | None) -> bytes | None:
        """The bytes of a file, None where there is none. The last few are kept: each is asked for twice."""
        if entry is None:
            return None
        data = self._contents.pop(entry.oid, None)
        if data is None:
            data = self.store.read_blob(entry.oid)
        if len(data) <= KEPT_BYTES:
            self._contents[entry.oid] = data
            if len(self._contents) > KEPT_CONTENTS:
                self._contents.popitem(last=False)
        return data

    def normal(self, path: RepoPath, entry: TreeEntry | None) -> TreeEntry | None:
        """A file of the work tree in git's own form, as `git add` would store it."""
        if entry is None or entry.mode not in PLAIN_MODES or not self._may_convert(path):
            return entry
        raw = self.read(entry) or b""
        converted = self.filters.to_git(path, raw)
        if converted.note:
            self._complaints.append(converted.note)
        return (
            entry if converted.data == raw else TreeEntry(entry.mode, self.store.write_blob(converted.data))
        )

    def drain_complaints(self) -> tuple[str, ...]:
        """What filters failed to do since the last call, each once."""
        said = tuple(dict.fromkeys(self._complaints))
        self._complaints.clear()
        return said

    def locate(self, path: str) -> RepoPath | None:
        """The path a tool names, relative to the work tree; None if it lies outside."""
        if path not in self._located:
            self._located[path] = self.work_tree.locate(path)
        return self._located[path]

    def learn_conversions(self, paths: Iterable[RepoPath]) -> None:
        """Ask about many paths at once what `normal` would ask about one by one."""
        new = [path for path in paths if path not in self._converts]
        found = self.filters.conversions(new) if new else {}
        self._converts |= {path: conversion != NOTHING for path, conversion in found.items()}

    def _may_convert(self, path: RepoPath) -> bool:
        self.learn_conversions([path])
        return self._converts[path]

    @property
    def name(self) -> str:
        """This work tree among those of its repository, as a part of a ref name."""
        return work_tree_name(os.fspath(self.repository.git_dir), os.fspath(self.repository.common_dir))

    def now(self) -> int:
        return int(time.time())

    def splice(self, root: Oid | None, changes: Mapping[RepoPath, TreeEntry | None]) -> Oid:
        """The tree with these changes. Timeline and lane often make the same change to the same tree."""
        asked = (root, tuple(changes.items()))
        if self._spliced is None or self._spliced[0] != asked:
            self._spliced = (asked, self.trees.splice(root, changes))
        return self._spliced[1]

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Alone with timeline and lanes: other processes that record here wait. May be nested."""
        if self._held:
            yield
            return
        lock = self._open_lock()
        lock.acquire()
        self._held = True
        self._located.clear()
        self._converts.clear()
        self._spliced = None
        try:
            yield
        finally:
            self._held = False
            lock.release()

    def _open_lock(self) -> FileLock:
        if self._lock is None:
            with translate_write_errors(os.fspath(self.lock_path)):
                self.lock_path.parent.mkdir(parents=True, exist_ok=True)
                self._lock = FileLock(self.lock_path)
        return self._lock

    def commit(self, tree: Oid, parents: tuple[Oid, ...], message: str, moment: Authorship) -> Oid:
        """A commit that no ref has yet."""
        committer = self.repository.signature(moment.written)
        author = replace(committer, seconds=committer.seconds if moment.made is None else moment.made)
        if moment.by_agent:
            author = replace(author, name=AGENT_NAME, email=AGENT_EMAIL)
        return self.store.write_commit(Commit(tree, parents, author, committer, message))
