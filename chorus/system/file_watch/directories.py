"""The directories of one work tree that are watched, by threads of watchdog's.

Each top-level directory is watched by itself, so that `.git` (which Chorus writes to) and those to skip
(ignored ones, often the largest) cost nothing. One that appears is watched, one that goes is left, one that
nobody could look into is watched once its rights allow it. Gives every event; what it means is another's.
"""

import errno
import logging
import os
from collections.abc import Callable, Collection

from watchdog.events import (
    DirAttribEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

from chorus.system.file_watch.barrier import FlushBarrier, Handler
from chorus.system.file_watch.inotify import LIMITS, hasten_renames, tell_unwatched

log = logging.getLogger("chorus.system")

# Without "opened" and "closed without a write": a recursive watch's own walk would raise those for
# every directory, and one watchdog release never gets past them in a large tree.
EVENTS: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileAttribEvent,
    FileDeletedEvent,
    FileMovedEvent,
    FileClosedEvent,
    DirAttribEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
]

# Paths of an event: where it happened, and where to, if anywhere.
Note = Callable[[list[str]], None]


class DirectoryWatches:
    def __init__(
        self,
        root: str,
        git_dir: str,
        skip: Collection[str],
        *,
        note: Note,
        note_git: Note,
        note_limit: Callable[[str], None],
    ) -> None:
        self._root, self._git_dir, self._skip = root, git_dir, skip
        self._note, self._note_git, self._note_limit = note, note_git, note_limit
        self._observer: BaseObserver | None = None
        self._tops: dict[str, ObservedWatch] = {}
        self._closed: set[str] = set()  # directories that only others may look into
        self._left: list[str] = []  # directories that are watched no more, while that is being dealt with
        self.echo = FlushBarrier(os.path.join(git_dir, "chorus", "echo"))  # noqa: PTH118  plain strings all through

    def start(self) -> None:
        """Begin. Raises OSError where the root cannot be watched."""
        hasten_renames()
        self._observer = observer = Observer()
        tell_unwatched(observer, self._hear_unwatched)
        observer.start()
        observer.schedule(Handler(self._hear_top, self.echo), self._root, event_filter=EVENTS)
        for name in self._list_directories():
            self._watch(name)
        for directory in (self._git_dir, os.path.join(self._git_dir, "logs")):  # noqa: PTH118
            if os.path.isdir(directory):  # noqa: PTH112
                observer.schedule(Handler(self._hear_git, self.echo), directory, event_filter=EVENTS)
        self.echo.start(observer)

    def stop(self) -> None:
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
            self._observer = None

    @property
    def are_on(self) -> bool:
        return self._observer is not None

    def _list_directories(self) -> list[str]:
        with os.scandir(self._root) as entries:
            return [e.name for e in entries if e.is_dir(follow_symlinks=False) and e.name not in self._skip]

    def _watch(self, name: str) -> None:
        if self._observer is None:
            return
        self._leave(name)
        place, handler = f"{self._root}/{name}", Handler(self._hear, self.echo)
        try:
            watch = self._observer.schedule(handler, place, recursive=True, event_filter=EVENTS)
        except FileNotFoundError:
            pass  # gone again
        except OSError as error:
            # Not ours to look into: no loss. That a limit is reached was told already.
            log.info("%s is not watched: %s", place, error)
        else:
            self._tops[name] = watch

    def _leave(self, name: str) -> None:
        if self._observer is not None and (old := self._tops.pop(name, None)):
            self._observer.unschedule(old)
            self._left.append(old.path)

    def _hear_top(self, event: FileSystemEvent) -> None:
        """An event directly in the root: a directory that appears there needs a watch of its own."""
        if not isinstance(event, DirAttribEvent):
            for path in _paths_of(event):
                name = path[len(self._root) + 1 :]
                if not name or "/" in name or name in self._skip:
                    continue
                if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114
                    self._watch(name)
                else:
                    self._leave(name)
        self._hear(event)
        self._forget_left()

    def _hear(self, event: FileSystemEvent) -> None:
        if not isinstance(event, DirAttribEvent):
            self._note(_paths_of(event))
            return
        # Of a directory only who may look into it is of interest.
        directory = os.fsdecode(event.src_path)
        if directory in self._closed:
            self._closed.discard(directory)
            top = directory[len(self._root) + 1 :].partition("/")[0]
            self._watch(top)
            # What the watch before had to tell of the others there is lost with it.
            self._note([f"{self._root}/{top}"])
            self._forget_left()

    def _forget_left(self) -> None:
        """Once it is told what happened: nobody may take what was left for told before."""
        left, self._left = self._left, []
        for path in left:
            self.echo.forget(path)

    def _hear_git(self, event: FileSystemEvent) -> None:
        self._note_git(_paths_of(event))

    def _hear_unwatched(self, path: str, error: OSError) -> None:
        if error.errno in LIMITS:
            self._note_limit(error.strerror or str(error))
        elif error.errno == errno.EACCES:
            self._closed.add(path)


def _paths_of(event: FileSystemEvent) -> list[str]:
    return [os.fsdecode(path) for path in (event.src_path, event.dest_path) if path]
