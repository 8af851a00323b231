"""Where to look: watchdog's events, folded into the set of paths that may have changed.

Gives relative paths (a directory stands for all below it), whether HEAD may have moved, and whether
events were lost so that only a scan can tell. An event is a hint, never a fact: what changed is read
from the disk by whoever asks.
"""

import logging
import os
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

from chorus.core.ids import RepoPath

log = logging.getLogger("chorus.sources")

# Without "opened" and "closed without a write": a recursive watch's own walk would raise those for
# every directory, and one watchdog release never gets past them in a large tree.
EVENTS: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileDeletedEvent,
    FileMovedEvent,
    FileClosedEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
]

# Beyond this many paths one scan is cheaper than a look at each; a burst this large may also have
# overflowed the kernel's queue.
MOST_PATHS = 2_000

# watchdog keeps the first half of a rename back, and all behind it, until the second half has come, and
# looks for that only once this time is over (0.5 s by itself). The kernel tells of both halves at once.
RENAME_SECONDS = 0.005

# Files of the git directory that move when HEAD does.
HEAD_FILES = ("HEAD", "ORIG_HEAD", "MERGE_HEAD", "index", "logs/HEAD")


@dataclass(frozen=True, slots=True)
class Moved:
    """What may have changed since the last look. `lost`: events are missing, only a scan can tell."""

    paths: frozenset[RepoPath]
    head: bool
    lost: bool


class FileWatch:
    """Watches one work tree from threads of watchdog's; `take` is called from the agent's thread.

    Each top-level directory is watched by itself, so that `.git` (which Chorus writes to) and the
    directories in `skip` (ignored ones, often the largest) cost nothing.
    """

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
        self._observer: BaseObserver | None = None
        self._watches: dict[str, ObservedWatch] = {}
        self._overflow = _OverflowFilter(self._note_loss)
        self.problem: str | None = None

    def start(self) -> None:
        """Begin; a watch that cannot be had (inotify limits) is a stated problem, not a failure."""
        _hasten_renames()
        observer = Observer()
        logging.getLogger(OVERFLOW_LOGGER).addFilter(self._overflow)
        try:
            observer.start()
            observer.schedule(_Handler(self._note_top), self._root, event_filter=EVENTS)
            self._observer = observer
            for name in self._directories():
                self._watch_directory(name)
            for directory in (self._git_dir, os.path.join(self._git_dir, "logs")):  # noqa: PTH118
                if os.path.isdir(directory):  # noqa: PTH112  plain strings all through
                    observer.schedule(_Handler(self._note_git), directory, event_filter=EVENTS)
        except OSError as error:
            self.problem = f"{error.strerror or error}: changes are found by scanning"
            log.warning("cannot watch %s: %s", self._root, self.problem)
            self._observer = observer
            self.stop()

    def stop(self) -> None:
        logging.getLogger(OVERFLOW_LOGGER).removeFilter(self._overflow)
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
            self._observer = None

    @property
    def is_blind(self) -> bool:
        """Whether nothing is watched, so that only scanning finds what changed."""
        return self._observer is None

    def take(self) -> Moved:
        """Everything noted since the last call."""
        with self._lock:
            blind = self.is_blind
            moved = Moved(frozenset(self._paths), self._head or blind, self._lost or blind)
            self._paths.clear()
            self._head = self._lost = False
        return moved

    def _directories(self) -> list[str]:
        with os.scandir(self._root) as entries:
            return [e.name for e in entries if e.is_dir(follow_symlinks=False) and e.name not in self._skip]

    def _watch_directory(self, name: str) -> None:
        if self._observer is None:
            return
        if old := self._watches.pop(name, None):
            self._observer.unschedule(old)
        path = f"{self._root}/{name}"
        self._watches[name] = self._observer.schedule(
            _Handler(self._note), path, recursive=True, event_filter=EVENTS
        )

    def _note_top(self, event: FileSystemEvent) -> None:
        """An event directly in the root: a directory that appears there needs a watch of its own."""
        for path in _paths_of(event):
            name = path[len(self._root) + 1 :]
            if name and "/" not in name and name not in self._skip and _is_real_directory(path):
                try:
                    self._watch_directory(name)
                except OSError as error:
                    self.problem = f"{error.strerror or error}: {name} is found by scanning"
                    self._note_loss()
        self._note(event)

    def _note(self, event: FileSystemEvent) -> None:
        inside = [path for path in map(self._relative, _paths_of(event)) if path is not None]
        if not inside:
            return
        with self._lock:
            was_quiet = not self._paths and not self._lost
            self._paths.update(inside)
            if len(self._paths) > MOST_PATHS:
                self._paths.clear()
                self._lost = True
        if was_quiet:
            self._wake()

    def _note_git(self, event: FileSystemEvent) -> None:
        names = {path[len(self._git_dir) + 1 :] for path in _paths_of(event)}
        if names.isdisjoint(HEAD_FILES):
            return
        with self._lock:
            was_quiet, self._head = not self._head, True
        if was_quiet:
            self._wake()

    def _note_loss(self) -> None:
        with self._lock:
            self._lost = True
        self._wake()

    def _relative(self, path: str) -> RepoPath | None:
        if not path.startswith(self._root + "/"):
            return None
        relative = path[len(self._root) + 1 :]
        return None if relative.split("/", 1)[0] in self._skip else RepoPath(relative)


def _hasten_renames() -> None:
    """A watchdog without this part has no such rest."""
    with suppress(ImportError):
        from watchdog.observers.inotify_move_event_grouper import InotifyMoveEventGrouper  # noqa: PLC0415

        InotifyMoveEventGrouper.delay = RENAME_SECONDS


def _paths_of(event: FileSystemEvent) -> list[str]:
    return [os.fsdecode(path) for path in (event.src_path, event.dest_path) if path]


def _is_real_directory(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)  # noqa: PTH112, PTH114


class _Handler(FileSystemEventHandler):
    def __init__(self, note: Callable[[FileSystemEvent], None]) -> None:
        self._note = note

    def on_any_event(self, event: FileSystemEvent) -> None:
        self._note(event)


# watchdog tells of a kernel queue that overflowed nowhere but in its log.
OVERFLOW_LOGGER = "watchdog.observers.inotify_c"


class _OverflowFilter(logging.Filter):
    def __init__(self, note_loss: Callable[[], None]) -> None:
        super().__init__()
        self._note_loss = note_loss

    def filter(self, record: logging.LogRecord) -> bool:
        if "overflow" in record.getMessage():
            self._note_loss()
        return True
