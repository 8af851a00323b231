"""One work tree with its git store and recording lock, opened once and shared by timeline and lanes."""

import contextlib
import os
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from chorus.model.ids import Oid, RepoPath
from chorus.store.git_paths import work_tree_name
from chorus.store.lock_file import translate_write_errors
from chorus.store.objects.commits import Commit, Signature
from chorus.store.objects.object_store import ObjectStore
from chorus.store.objects.trees import EXECUTABLE_MODE, FILE_MODE, TreeEntry, Trees
from chorus.store.repository import Repository
from chorus.store.worktree.filters import NOTHING, Filters
from chorus.store.worktree.scan import Scanner
from chorus.store.worktree.spelling import Spelling
from chorus.store.worktree.work_tree import CAP_BYTES, WorkTree
from chorus.system.files.file_lock import FileLock
from chorus.system.files.git_files import work_tree_label
from chorus.system.files.private_files import make_private

# The author of actions.
AGENT_NAME = "Claude"
AGENT_EMAIL = "noreply@anthropic.com"

PLAIN_MODES = (FILE_MODE, EXECUTABLE_MODE)

# Contents cached in memory: both sides of the last few edits, unless they are large.
MAX_CACHED_CONTENTS = 16
MAX_CACHED_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Authorship:
    """The times of a commit, in seconds since the epoch, and whether the agent is its author.

    `authored` is when the change was made; None: the same as `committed`.
    """

    committed: int
    authored: int | None = None
    by_agent: bool = False


class Workspace:
    def __init__(self, repository: Repository, cap_bytes: int = CAP_BYTES) -> None:
        self.repository = repository
        self.refs = repository.refs
        self.store = ObjectStore(repository)
        self.trees = Trees(self.store)
        spelling = Spelling.of(
            ignores_case=repository.config.get_bool("core.ignorecase", default=False),
            composes=repository.config.get_bool("core.precomposeunicode", default=False),
        )
        durable = repository.config.get_bool("chorus.durable", default=True)
        self.work_tree = WorkTree(repository.work_tree, cap_bytes, spelling=spelling, durable=durable)
        self.filters = Filters(repository, self.store)
        self.scanner = Scanner(repository, self.store, self.trees, self.work_tree, self.filters)
        self._filter_failures: list[str] = []
        self.lock_path = repository.own_dir / "recording.lock"
        self._lock: FileLock | None = None
        self._held = False
        self._contents: OrderedDict[Oid, bytes] = OrderedDict()
        self._spliced: tuple[tuple[Oid | None, tuple[tuple[RepoPath, TreeEntry | None], ...]], Oid] | None = (
            None
        )
        # Caches that are valid while the lock is held.
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
        """The bytes of a file; None if it does not exist. Some are cached, because most are read twice."""
        if entry is None:
            return None
        data = self._contents.pop(entry.oid, None)
        if data is None:
            data = self.store.read_blob(entry.oid)
        if len(data) <= MAX_CACHED_BYTES:
            self._contents[entry.oid] = data
            if len(self._contents) > MAX_CACHED_CONTENTS:
                self._contents.popitem(last=False)
        return data

    def normal(self, path: RepoPath, entry: TreeEntry | None) -> TreeEntry | None:
        """A file of the work tree as `git add` would store it."""
        if entry is None or entry.mode not in PLAIN_MODES or not self._may_convert(path):
            return entry
        raw = self.read(entry) or b""
        converted = self.filters.to_git(path, raw)
        if converted.warning:
            self._filter_failures.append(converted.warning)
        return (
            entry if converted.data == raw else TreeEntry(entry.mode, self.store.write_blob(converted.data))
        )

    def drain_filter_failures(self) -> tuple[str, ...]:
        """Return the failures of filters since the last call, without duplicates."""
        failures = tuple(dict.fromkeys(self._filter_failures))
        self._filter_failures.clear()
        return failures

    def locate(self, path: str) -> RepoPath | None:
        """Convert a path that a tool names to one relative to the work tree; None if it is outside."""
        if not self.work_tree.spelling.is_exact:  # the spelling on disk may change
            return self.work_tree.locate(path)
        if path not in self._located:
            self._located[path] = self.work_tree.locate(path)
        return self._located[path]

    def locate_all(self, paths: Iterable[str]) -> list[RepoPath]:
        """The paths that are in this work tree, without duplicates."""
        found = (self.locate(path) for path in paths)
        return list(dict.fromkeys(path for path in found if path is not None))

    def learn_conversions(self, paths: Iterable[RepoPath]) -> None:
        """Ask git for the conversions of many paths at once."""
        new = [path for path in paths if path not in self._converts]
        found = self.filters.conversions(new) if new else {}
        self._converts |= {path: conversion != NOTHING for path, conversion in found.items()}

    def _may_convert(self, path: RepoPath) -> bool:
        self.learn_conversions([path])
        return self._converts[path]

    @property
    def name(self) -> str:
        """The name by which refs tell this work tree from the others of its repository."""
        return work_tree_name(os.fspath(self.repository.git_dir), os.fspath(self.repository.common_dir))

    @cached_property
    def label(self) -> str:
        """The name of this work tree for users."""
        return work_tree_label(self.repository.git_dir, self.repository.common_dir)

    def now(self) -> int:
        return int(time.time())

    def splice(self, root: Oid | None, changes: Mapping[RepoPath, TreeEntry | None]) -> Oid:
        """Return the tree `root` with these changes. Cached: timeline and lane often need the same tree."""
        wanted = (root, tuple(changes.items()))
        if self._spliced is None or self._spliced[0] != wanted:
            self._spliced = (wanted, self.trees.splice(root, changes))
        return self._spliced[1]

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Hold the recording lock of this work tree. May be nested."""
        if self._held:
            yield
            return
        lock = self._open_lock()
        lock.acquire()
        self._held = True
        self._located.clear()
        self._converts.clear()
        self._spliced = None
        self.trees.forget_results()
        try:
            yield
        finally:
            self._held = False
            lock.release()

    def _open_lock(self) -> FileLock:
        if self._lock is None:
            with translate_write_errors(os.fspath(self.lock_path)):
                make_private(self.lock_path.parent)
                self._lock = FileLock(self.lock_path)
        return self._lock

    def commit(self, tree: Oid, parents: tuple[Oid, ...], message: str, authorship: Authorship) -> Oid:
        """Write a commit; no ref points at it yet."""
        committer = self.repository.committer.sign(authorship.committed)
        seconds = committer.seconds if authorship.authored is None else authorship.authored
        name, email = (AGENT_NAME, AGENT_EMAIL) if authorship.by_agent else (committer.name, committer.email)
        author = Signature(name, email, seconds, committer.zone)
        return self.store.write_commit(Commit(tree, parents, author, committer, message))
