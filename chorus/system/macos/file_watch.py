"""Start watching a work tree with FSEvents, or with kqueue where watchdog has no FSEvents.

Both report late, merge several changes of a file into one event, and do not keep the order between files. So
there are no barriers: a scan finds the changes of a call.
"""

from collections.abc import Callable
from typing import Any

from watchdog.events import (
    DirAttribEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from chorus.system.file_watch.watch_target import WatchTarget

KEEPS_ORDER = False

# From <CoreServices/FSEvents.h>: something below this directory changed; events were dropped, by this process
# or by the kernel; event ids began again. watchdog does not report these.
MUST_SCAN = 0x1 | 0x2 | 0x4 | 0x8
# All that these two send, except DirModifiedEvent ("something in this directory changed"): the changed entry
# has an event of its own.
EVENTS: list[type[FileSystemEvent]] = [
    DirAttribEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
]


def start_observer(target: WatchTarget) -> BaseObserver:
    """Watch the work tree and the git directory. Raises OSError if the work tree cannot be watched."""
    observer = _create_observer(target.on_overflow, target.on_limit)
    observer.start()
    try:
        observer.schedule(target.handler, target.root, recursive=True, event_filter=EVENTS)
        if not target.git_dir.startswith(target.root + "/"):
            observer.schedule(target.handler, target.git_dir, event_filter=EVENTS)
    except (OSError, SystemError) as error:  # the second if FSEvents takes no more streams
        observer.stop()
        observer.join()
        raise error if isinstance(error, OSError) else OSError(str(error)) from error
    return observer


def _create_observer(on_overflow: Callable[[], None], on_limit: Callable[[str], None]) -> BaseObserver:
    try:
        from watchdog.observers.fsevents import FSEventsEmitter  # noqa: PLC0415  not on every system
    except ImportError:
        return Observer()

    class Emitter(FSEventsEmitter):
        def queue_events(self, timeout: float, events: list[Any]) -> None:  # type: ignore[override]  # as FSEventsEmitter's
            if any(event.flags & MUST_SCAN for event in events):
                on_overflow()
            super().queue_events(timeout, events)

        def run(self) -> None:
            super().run()
            if self.should_keep_running():
                on_limit("the file watch has ended")

    return BaseObserver(Emitter)
