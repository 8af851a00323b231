"""Detect changes of the files that say which paths git ignores or converts.

The `RuleStamp` of a path has the stamps of all rule files that may apply to the path.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from chorus.model.ids import RepoPath
from chorus.store.repository import Repository
from chorus.store.worktree.file_state import Stamp, stamp_of

# An answer takes about 300 bytes; a scan of a large tree asks only about new files.
MAX_CACHED_ANSWERS = 50_000

# The version of the user's configuration, then the stamp of each rule file.
RuleStamp: TypeAlias = tuple[int | Stamp | None, ...]


class RuleFiles:
    def __init__(self, repository: Repository, name: str, everywhere: Iterable[Path]) -> None:
        self._config = repository.config
        self._root = os.fspath(repository.work_tree)
        self._name = name
        self._everywhere = tuple(os.fspath(path) for path in everywhere)

    def stamp_paths(self, paths: Iterable[RepoPath]) -> Iterator[tuple[RepoPath, RuleStamp]]:
        """Yield each path with its stamp. Each rule file is checked only once for all paths."""
        above = map(stamp_of, self._everywhere)
        seen: dict[str, RuleStamp] = {
            "": (self._config.version, *above, stamp_of(f"{self._root}/{self._name}"))
        }
        for path in paths:
            yield path, self._stamp(path.rpartition("/")[0], seen)

    def _stamp(self, directory: str, seen: dict[str, RuleStamp]) -> RuleStamp:
        stamp = seen.get(directory)
        if stamp is None:
            above = self._stamp(directory.rpartition("/")[0], seen)
            stamp = seen[directory] = (*above, stamp_of(f"{self._root}/{directory}/{self._name}"))
        return stamp
