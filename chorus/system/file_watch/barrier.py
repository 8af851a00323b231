"""When the file watch has told of everything that is on the disk by now: a call, and its echo.

Events of one observer come through one queue of the kernel's, in order. So a file of our own is made in a
directory that the same observer watches: when that is told of, all that happened before it is on its way,
each directory's events in a line of their own. Through each of these lines a mark is then sent, behind what
is in it. When all marks are back, everything was told. Never writes into a work tree.
"""

import itertools
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from watchdog.events import FileCreatedEvent, FileSystemEvent, FileSystemEventHandler
from watchdog.observers.api import BaseObserver, EventEmitter, ObservedWatch

# No path holds this character.
MARK = "\0"


@dataclass(slots=True)
class _Call:
    then: Callable[[], None]
    out: set[str]  # the watched directories whose mark is not back


class FlushBarrier:
    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._observer: BaseObserver | None = None
        self._watch: ObservedWatch | None = None
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._calls: dict[int, _Call] = {}

    def start(self, observer: BaseObserver) -> None:
        """Listen. Raises OSError where no watch is left to be had."""
        os.makedirs(self._directory, mode=0o700, exist_ok=True)  # noqa: PTH103  plain strings all through
        for left in os.listdir(self._directory):  # noqa: PTH208
            os.unlink(os.path.join(self._directory, left))  # noqa: PTH108, PTH118
        self._watch = observer.schedule(
            Handler(self._hear, self), self._directory, event_filter=[FileCreatedEvent]
        )
        self._observer = observer if _has_lines(observer) else None

    def call(self, then: Callable[[], None]) -> bool:
        """`then` is called, by another thread, once all is told. False: nobody can say when that is."""
        if self._observer is None:
            return False
        number = next(self._numbers)
        place = os.path.join(self._directory, str(number))  # noqa: PTH118
        with self._lock:
            self._calls[number] = _Call(then, set())
        try:
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            os.unlink(place)  # noqa: PTH108
        except OSError:
            with self._lock:
                self._calls.pop(number, None)
            return False
        return True

    def hear_mark(self, event: FileSystemEvent) -> bool:
        """Whether the event is a mark of ours, and no event at all."""
        directory, found, number = os.fsdecode(event.src_path).partition(MARK)
        if found:
            self._take(int(number), directory)
        return bool(found)

    def forget(self, directory: str) -> None:
        """That directory is watched no more: no mark comes back from there."""
        with self._lock:
            waiting = [number for number, call in self._calls.items() if directory in call.out]
        for number in waiting:
            self._take(number, directory)

    def _hear(self, event: FileSystemEvent) -> None:
        """Called by the thread that calls all handlers: marks sent here are heard later."""
        name = os.path.basename(os.fsdecode(event.src_path))  # noqa: PTH119
        call = self._calls.get(int(name)) if name.isdecimal() else None
        if call is None or self._observer is None:
            return
        call.out.add(self._directory)
        for emitter in list(self._observer.emitters):
            if emitter.watch != self._watch and _send(emitter, f"{emitter.watch.path}{MARK}{name}"):
                call.out.add(emitter.watch.path)
        # Behind what the idle ones have sent on before they were asked.
        for emitter in self._observer.emitters:
            if emitter.watch == self._watch:
                emitter.queue_event(FileCreatedEvent(f"{self._directory}{MARK}{name}"))

    def _take(self, number: int, directory: str) -> None:
        with self._lock:
            call = self._calls.get(number)
            if call is None:
                return
            call.out.discard(directory)
            if call.out:
                return
            del self._calls[number]
        call.then()


class Handler(FileSystemEventHandler):
    """Hands every event on, except marks of this echo's."""

    def __init__(self, note: Callable[[FileSystemEvent], None], echo: "FlushBarrier") -> None:
        self._note, self._echo = note, echo

    def on_any_event(self, event: FileSystemEvent) -> None:
        if not self._echo.hear_mark(event):
            self._note(event)


def _has_lines(observer: BaseObserver) -> bool:
    """Whether marks can be sent: by inotify, as this watchdog deals with it."""
    try:
        from watchdog.observers.inotify import InotifyObserver, InotifyWatchGroup  # noqa: PLC0415
    except ImportError:
        return False
    return (
        isinstance(observer, InotifyObserver)
        and hasattr(InotifyWatchGroup, "__dataclass_fields__")
        and ("_move_event_grouper" in InotifyWatchGroup.__dataclass_fields__)
    )


def _send(emitter: EventEmitter, path: str) -> bool:
    """Put a mark behind all that waits in this emitter; False where nothing waits, or it has ended."""
    if not (emitter.is_alive() and emitter.should_keep_running()):
        return False
    with suppress(AttributeError):  # it ends just now
        from watchdog.observers.inotify_c import InotifyConstants, InotifyEvent, WatchDescriptor  # noqa: PLC0415
        from watchdog.observers.inotify_move_event_grouper import PathedInotifyEvent  # noqa: PLC0415

        created = InotifyEvent(WatchDescriptor(0), InotifyConstants.IN_CREATE, 0, b"")
        line = emitter._inotify._move_event_grouper  # type: ignore[attr-defined]
        if _is_idle(line):
            return False
        line.put_event(PathedInotifyEvent(created, os.fsencode(path)))
        return True
    return False


def _is_idle(line: Any) -> bool:  # noqa: ANN401  a part of watchdog without a name outside of it
    """Whether the thread that empties this line waits for something to come. A mark costs 0.2 ms."""
    try:
        queue = line._queue
        with queue._lock:
            return not queue._queue and bool(queue._not_empty._waiters)
    except AttributeError:
        return False
