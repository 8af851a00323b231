"""The files that say which paths git ignores or converts, and whether they are still the same.

Receives paths, gives marks to compare. A directory's rules hold for all below it, so a path's mark is
made of the rule files from the root down to its own directory, and of those for the whole repository.
Never reads a rule: git does.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from chorus.model.ids import RepoPath
from chorus.store.worktree.file_state import Stamp, stamp_of

# An answer takes about 300 bytes; a scan of a large tree asks only about what is new in it.
MAX_CACHED_ANSWERS = 50_000

RuleStamp: TypeAlias = tuple[Stamp | None, ...]


class RuleFiles:
    def __init__(self, root: Path, name: str, everywhere: Iterable[Path]) -> None:
        self._root = os.fspath(root)
        self._name = name
        self._everywhere = tuple(os.fspath(place) for place in everywhere)

    def stamp_paths(self, paths: Iterable[RepoPath]) -> Iterator[tuple[RepoPath, RuleStamp]]:
        """The mark of each path; each rule file is looked at once."""
        above = map(stamp_of, self._everywhere)
        seen: dict[str, RuleStamp] = {"": (*above, stamp_of(f"{self._root}/{self._name}"))}
        for path in paths:
            yield path, self._mark(path.rpartition("/")[0], seen)

    def _mark(self, directory: str, seen: dict[str, RuleStamp]) -> RuleStamp:
        mark = seen.get(directory)
        if mark is None:
            above = self._mark(directory.rpartition("/")[0], seen)
            mark = seen[directory] = (*above, stamp_of(f"{self._root}/{directory}/{self._name}"))
        return mark
