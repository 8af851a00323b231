"""Where to look: the file watch's events, folded into the set of paths that may have changed.

Gives relative paths (a directory stands for all below it), whether HEAD may have moved, and whether
events were lost so that only a scan can tell. An event is a hint, never a fact: what changed is read
from the disk by whoever asks.
"""

import logging
import os
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from chorus.model.ids import RepoPath
from chorus.system.file_watch.directories import DirectoryWatches
from chorus.system.file_watch.inotify import OverflowFilter

log = logging.getLogger("chorus.system")

# Beyond this many paths one scan is cheaper than a look at each; a burst this large may also have
# overflowed the kernel's queue.
MAX_PATHS = 2_000

# Files of the git directory that move when HEAD does.
HEAD_FILES = ("HEAD", "ORIG_HEAD", "MERGE_HEAD", "index", "logs/HEAD")


@dataclass(frozen=True, slots=True)
class WatchedChanges:
    """What may have changed since the last look. `lost`: events are missing, only a scan can tell."""

    paths: frozenset[RepoPath]
    head: bool
    lost: bool


class FileWatch:
    """Watches one work tree from threads of watchdog's; `take` is called from the agent's thread."""

    def __init__(
        self, work_tree: Path, git_dir: Path, *, wake: Callable[[], None], skip: Collection[str] = ()
    ) -> None:
        self._root = os.fspath(work_tree)
        self._git_dir = os.fspath(git_dir)
        self._wake = wake
        self._skip = {".git", *skip}
        self._lock = threading.Lock()
        self._paths: set[RepoPath] = set()
        self._head = self._lost = True  # nothing was watched until now
        self._overflow = OverflowFilter(self._note_loss)
        self._watches = DirectoryWatches(
            self._root,
            self._git_dir,
            self._skip,
            note=self._note,
            note_git=self._note_git,
            note_limit=self._note_limit,
        )
        self.problem: str | None = None

    def start(self) -> None:
        """Begin; a watch that cannot be had (inotify limits) is a stated problem, not a failure."""
        self._overflow.start()
        try:
            self._watches.start()
        except OSError as error:
            self._note_limit(error.strerror or str(error))
        if self.problem is not None:
            self.stop()

    def stop(self) -> None:
        self._overflow.stop()
        self._watches.stop()

    @property
    def needs_scan(self) -> bool:
        """Whether something is not watched, so that only scanning finds what changed."""
        return not self._watches.are_on or self.problem is not None

    def take(self) -> WatchedChanges:
        """Everything noted since the last call."""
        with self._lock:
            blind = self.needs_scan
            moved = WatchedChanges(frozenset(self._paths), self._head or blind, self._lost or blind)
            self._paths.clear()
            self._head = self._lost = False
        return moved

    def flush_barrier(self, then: Callable[[], None]) -> bool:
        """`then` is called, by another thread, once all that is on the disk by now was told of.

        False: nobody can say when that is.
        """
        return not self.needs_scan and self._watches.echo.call(then)

    def _note(self, paths: list[str]) -> None:
        inside = [path for path in map(self._relative, paths) if path is not None]
        if not inside:
            return
        with self._lock:
            was_quiet = not self._paths and not self._lost
            self._paths.update(inside)
            if len(self._paths) > MAX_PATHS:
                self._paths.clear()
                self._lost = True
        if was_quiet:
            self._wake()

    def _note_git(self, paths: list[str]) -> None:
        names = {path[len(self._git_dir) + 1 :] for path in paths}
        if names.isdisjoint(HEAD_FILES):
            return
        with self._lock:
            was_quiet, self._head = not self._head, True
        if was_quiet:
            self._wake()

    def _note_limit(self, why: str) -> None:
        if self.problem is None:
            self.problem = f"{why}: changes are found by scanning"
            log.warning("cannot watch all of %s: %s", self._root, self.problem)
            self._note_loss()

    def _note_loss(self) -> None:
        with self._lock:
            self._lost = True
        self._wake()

    def _relative(self, path: str) -> RepoPath | None:
        if not path.startswith(self._root + "/"):
            return None
        relative = path[len(self._root) + 1 :]
        return None if relative.split("/", 1)[0] in self._skip else RepoPath(relative)
