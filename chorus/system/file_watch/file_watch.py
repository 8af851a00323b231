"""Watch a work tree, and report which paths may have changed since the last report.

Paths are relative, and a directory means everything below it. An event is only a hint: the caller must read
the disk.
"""

import itertools
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers.api import BaseObserver

from chorus.model.ids import RepoPath
from chorus.system.file_watch.watch_target import WatchTarget
from chorus.system.files.private_files import make_private
from chorus.system.this_system import IS_LINUX

if IS_LINUX:
    from chorus.system.linux.file_watch import KEEPS_ORDER, start_observer
else:
    from chorus.system.macos.file_watch import KEEPS_ORDER, start_observer

log = logging.getLogger("chorus.system")

# Beyond this many paths one scan is cheaper than a look at each; a burst this large may also have
# overflowed the kernel's queue.
MAX_PATHS = 2_000

# Files of the git directory that change when HEAD does.
HEAD_FILES = ("HEAD", "ORIG_HEAD", "MERGE_HEAD", "index", "logs/HEAD")

# Below the git directory: an empty directory whose events are barriers.
BARRIER_DIRECTORY = "chorus/barrier"


@dataclass(frozen=True, slots=True)
class WatchedChanges:
    """Possible changes since the last report. If `lost`, events are missing and the caller must scan."""

    seen: Mapping[RepoPath, float]  # when each path was first reported, in seconds since 1970
    head: bool
    lost: bool

    @property
    def paths(self) -> Set[RepoPath]:
        return self.seen.keys()


class FileWatch:
    """Watches one work tree in threads of watchdog."""

    def __init__(
        self,
        work_tree: Path,
        git_dir: Path,
        *,
        wake: Callable[[], None],
        on_head: Callable[[], None] = lambda: None,
        polling: bool = False,
    ) -> None:
        """`wake` is called when there are changes to `take`, and `on_head` when HEAD may have moved.

        Both are usually called in another thread. With `polling`, nothing is watched and the caller scans.
        """
        self._polling = polling
        self._root = os.fspath(work_tree)
        self._git_dir = os.fspath(git_dir)
        self._wake = wake
        self._on_head = on_head
        self._lock = threading.Lock()
        self._paths: dict[RepoPath, float] = {}
        self._head = self._lost = True  # nothing was watched until now
        self._observer: BaseObserver | None = None
        self._barriers = _Barriers(os.path.join(self._git_dir, BARRIER_DIRECTORY))  # noqa: PTH118  text  os is faster than pathlib here
        self.problem: str | None = None

    def start(self) -> None:
        """Start watching. An OSError, for example at an inotify limit, is stored in `problem`, not raised."""
        if self._polling:
            return
        try:
            self._observer = self._start_observer()
        except OSError as error:
            self._note_limit(error.strerror or str(error))
        if self.problem is not None:
            self.stop()

    def stop(self) -> None:
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
            self._observer = None

    @property
    def needs_scan(self) -> bool:
        """True if the watch is incomplete, so that only a scan finds all changes."""
        return self._observer is None or self.problem is not None

    def take(self) -> WatchedChanges:
        """Return all changes reported since the last call."""
        with self._lock:
            scan = self.needs_scan
            changes = WatchedChanges(self._paths, self._head or scan, self._lost or scan)
            self._paths = {}
            self._head = self._lost = False
        return changes

    def flush_barrier(self, then: Callable[[], None]) -> bool:
        """Call `then`, in another thread, once every change made up to now has been reported.

        Returns False, and does not call `then`, if no barrier is possible.
        """
        return not self.needs_scan and self._barriers.raise_one(then)

    def _start_observer(self) -> BaseObserver:
        os.stat(self._root)  # noqa: PTH116  raises before anything is created in a directory that is gone
        if KEEPS_ORDER:
            self._barriers.open()
        flat = [self._git_dir, os.path.join(self._git_dir, "logs"), self._barriers.directory]  # noqa: PTH118  text
        handler = _Handler(self._dispatch)
        return start_observer(
            WatchTarget(self._root, self._git_dir, flat, handler, self._note_overflow, self._note_limit)
        )

    def _dispatch(self, event: FileSystemEvent) -> None:
        paths = [os.fsdecode(path) for path in (event.src_path, event.dest_path) if path]
        for path in paths:
            if path.startswith(self._git_dir + "/"):
                self._note_git(path[len(self._git_dir) + 1 :])
            elif path.startswith(self._root + "/"):
                self._note(path[len(self._root) + 1 :])
            elif path != self._git_dir:
                # The root itself, or a path that spells the root differently (case, accents, a link).
                self._note_loss()

    def _note(self, path: str) -> None:
        if path == ".git" or path.startswith(".git/"):
            return
        with self._lock:
            was_quiet = not self._paths and not self._lost
            self._paths.setdefault(RepoPath(path), time.time())
            if len(self._paths) > MAX_PATHS:
                self._paths.clear()
                self._lost = True
        if was_quiet:
            self._wake()

    def _note_git(self, name: str) -> None:
        directory, _, last = name.rpartition("/")
        if directory == BARRIER_DIRECTORY:
            self._barriers.reach(last)
        elif name in HEAD_FILES:
            with self._lock:
                was_quiet, self._head = not self._head, True
            if was_quiet:
                self._wake()
            self._on_head()

    def _note_limit(self, reason: str) -> None:
        if self.problem is None:
            self.problem = f"{reason}: changes are found by scanning"
            log.warning("cannot watch all of %s: %s", self._root, self.problem)
            self._note_loss()

    def _note_overflow(self) -> None:
        self._note_loss()
        self._barriers.reach_all()  # their events may be among those lost, and a scan finds everything

    def _note_loss(self) -> None:
        with self._lock:
            self._lost = True
        self._wake()


class _Barriers:
    """Barrier files: when the watch reports a new barrier file, it has reported all earlier changes.

    inotify keeps the order, because one queue serves all watched directories.
    """

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self._is_open = False
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._pending: dict[str, Callable[[], None]] = {}

    def open(self) -> None:
        make_private(Path(self.directory).parent)
        make_private(Path(self.directory))
        for left in os.listdir(self.directory):  # noqa: PTH208  os is faster than pathlib here
            os.unlink(os.path.join(self.directory, left))  # noqa: PTH108, PTH118  os is faster than pathlib here
        self._is_open = True

    def raise_one(self, then: Callable[[], None]) -> bool:
        if not self._is_open:
            return False
        name = str(next(self._numbers))
        path = os.path.join(self.directory, name)  # noqa: PTH118  text  os is faster than pathlib here
        with self._lock:
            self._pending[name] = then
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            os.unlink(path)  # noqa: PTH108  os is faster than pathlib here
        except OSError:
            with self._lock:
                self._pending.pop(name, None)
            return False
        return True

    def reach(self, name: str) -> None:
        with self._lock:
            then = self._pending.pop(name, None)
        if then is not None:
            then()

    def reach_all(self) -> None:
        for name in list(self._pending):
            self.reach(name)


class _Handler(FileSystemEventHandler):
    def __init__(self, dispatch: Callable[[FileSystemEvent], None]) -> None:
        self._dispatch = dispatch

    def on_any_event(self, event: FileSystemEvent) -> None:
        self._dispatch(event)
