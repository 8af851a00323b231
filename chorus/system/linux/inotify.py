"""A watchdog emitter that watches a whole directory tree through one inotify queue.

watchdog's own emitter holds back the first half of a rename, and its events do not show an overflow of the
queue or a limit. This emitter reports renames, overflows and limits immediately. It also keeps the kernel's
order across the tree, which the barriers of `file_watch.py` need.
"""

import ctypes
import errno
import os
import select
import struct
from collections.abc import Callable, Sequence

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    FileAttribEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileSystemEvent,
)
from watchdog.observers.api import EventEmitter, EventQueue, ObservedWatch

# From <sys/inotify.h>.
IN_MODIFY = 0x2
IN_ATTRIB = 0x4
IN_CLOSE_WRITE = 0x8
IN_MOVED_FROM = 0x40
IN_MOVED_TO = 0x80
IN_CREATE = 0x100
IN_DELETE = 0x200
IN_Q_OVERFLOW = 0x4000
IN_IGNORED = 0x8000
IN_ONLYDIR = 0x01000000
IN_DONT_FOLLOW = 0x02000000
IN_ISDIR = 0x40000000

# Without "opened" and "closed without a write": walking the tree would raise those for every directory.
CHANGES = IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE
APPEARED = IN_CREATE | IN_MOVED_TO
DISAPPEARED = IN_DELETE | IN_MOVED_FROM

HEADER = struct.Struct("iIII")  # watch descriptor, mask, cookie, length of the name
READ_BYTES = 1 << 16

# Watches and instances are limited for each user; the kernel may also have no memory for one.
LIMITS = {
    errno.ENOSPC: "inotify watch limit reached",
    errno.EMFILE: "inotify instance limit reached",
    errno.ENFILE: "open file limit reached",
    errno.ENOMEM: "out of kernel memory",
}
# The directory was removed, or replaced by a file, before it could be watched.
VANISHED = (errno.ENOENT, errno.ENOTDIR)

GIT = b".git"


class InotifyEmitter(EventEmitter):
    """Watches one directory tree, except the `.git` directories in it.

    Also watches the directories in `flat`, but not their subdirectories. A new directory is reported after
    its watch has started, so a caller that then reads the directory misses nothing. A rename is reported as
    one path that disappeared and one path that appeared.
    """

    def __init__(
        self,
        event_queue: EventQueue,
        watch: ObservedWatch,
        *,
        timeout: float,
        event_filter: list[type[FileSystemEvent]] | None = None,
        flat: Sequence[str] = (),
        on_overflow: Callable[[], None],
        on_limit: Callable[[str], None],
    ) -> None:
        super().__init__(event_queue, watch, timeout=timeout, event_filter=event_filter)
        self._root = os.fsencode(watch.path)
        self._flat = {os.fsencode(directory) for directory in flat}
        self._on_overflow = on_overflow
        self._on_limit = on_limit
        self._paths: dict[int, bytes] = {}  # by watch descriptor
        self._descriptors: dict[bytes, int] = {}
        self._unreadable: set[bytes] = set()
        self._queue = self._wake = -1
        self._poll = select.poll()  # select() stops at descriptor 1024

    def on_thread_start(self) -> None:
        self._queue = call_libc(LIBC.inotify_init1, os.O_CLOEXEC | os.O_NONBLOCK)
        self._wake = os.eventfd(0)
        try:
            for directory in self._flat:
                self._add(directory)
            self._remember(self._root, self._add_watch(self._root))
            self._add_tree(self._root, again=True)
        except OSError:
            self._close()
            raise
        self._poll.register(self._queue, select.POLLIN)
        self._poll.register(self._wake, select.POLLIN)

    def on_thread_stop(self) -> None:
        if self._wake >= 0:
            os.eventfd_write(self._wake, 1)

    def run(self) -> None:
        try:
            super().run()
        finally:
            self._close()

    def queue_events(self, timeout: float) -> None:
        self._poll.poll()
        try:
            data = os.read(self._queue, READ_BYTES)
        except BlockingIOError:
            return
        position = 0
        while position < len(data):
            descriptor, mask, _, length = HEADER.unpack_from(data, position)
            position += HEADER.size + length
            self._take(descriptor, mask, data[position - length : position].rstrip(b"\0"))

    def _take(self, descriptor: int, mask: int, name: bytes) -> None:
        if mask & IN_Q_OVERFLOW:
            # Directories may have come and gone unseen.
            self._add_tree(self._root, again=True)
            self._on_overflow()
            return
        directory = self._paths.get(descriptor)
        if directory is None:  # it was moved; its new place, if in the tree, is reported
            return
        if mask & IN_IGNORED:
            self._forget(directory)
        elif name:
            path = directory + b"/" + name
            if not mask & IN_ISDIR:
                self.queue_event(_file_event(os.fsdecode(path), mask))
            elif directory not in self._flat:
                self._take_directory(path, mask)

    def _take_directory(self, path: bytes, mask: int) -> None:
        if mask & DISAPPEARED:
            if mask & IN_MOVED_FROM:
                self._remove_tree(path)
            self._unreadable.discard(path)
            self.queue_event(DirDeletedEvent(os.fsdecode(path)))
        elif mask & APPEARED or path in self._unreadable:
            self._unreadable.discard(path)
            self._add_tree(path)
            self.queue_event(DirCreatedEvent(os.fsdecode(path)))

    def _add_tree(self, top: bytes, *, again: bool = False) -> None:
        """Watch a directory and all directories below it, except `.git`.

        A directory that is already watched is searched only if `again` is True.
        """
        found = [top]
        while found:
            directory = found.pop()
            if directory != self._root and os.path.basename(directory) == GIT:  # noqa: PTH119  bytes
                continue
            if self._add(directory) or again:
                found += _list_directories(directory)

    def _add(self, directory: bytes) -> bool:
        """Watch one directory. Return False if it was watched before or cannot be watched."""
        try:
            descriptor = self._add_watch(directory)
        except OSError as error:
            if error.errno in LIMITS:
                self._on_limit(LIMITS[error.errno])
            elif error.errno not in VANISHED:
                self._unreadable.add(directory)  # watched once its permissions change
            return False
        if self._descriptors.get(directory) == descriptor:
            return False
        self._remember(directory, descriptor)
        return True

    def _add_watch(self, directory: bytes) -> int:
        is_named = directory == self._root or directory in self._flat
        flags = CHANGES | IN_ONLYDIR | (0 if is_named else IN_DONT_FOLLOW)
        return call_libc(LIBC.inotify_add_watch, self._queue, directory, flags)

    def _remember(self, directory: bytes, descriptor: int) -> None:
        self._forget(self._paths.get(descriptor))  # the same directory, under the name it had before
        self._paths[descriptor] = directory
        self._descriptors[directory] = descriptor

    def _remove_tree(self, top: bytes) -> None:
        below = top + b"/"
        for path in [path for path in self._descriptors if path == top or path.startswith(below)]:
            LIBC.inotify_rm_watch(self._queue, self._descriptors[path])
            self._forget(path)

    def _forget(self, directory: bytes | None) -> None:
        descriptor = self._descriptors.pop(directory, None) if directory is not None else None
        if descriptor is not None:
            self._paths.pop(descriptor, None)

    def _close(self) -> None:
        for descriptor in (self._queue, self._wake):
            os.close(descriptor)
        self._queue = self._wake = -1


def _list_directories(directory: bytes) -> list[bytes]:
    try:
        with os.scandir(directory) as entries:
            return [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:  # gone again, or not readable
        return []


def _file_event(path: str, mask: int) -> FileSystemEvent:
    if mask & APPEARED:
        return FileCreatedEvent(path)
    if mask & DISAPPEARED:
        return FileDeletedEvent(path)
    return FileAttribEvent(path) if mask & IN_ATTRIB else FileModifiedEvent(path)


LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.inotify_add_watch.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)


def call_libc(function: Callable[..., int], *arguments: int | bytes) -> int:
    """Call a function of the C library; raise OSError if it fails."""
    result = function(*arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, LIMITS.get(code) or os.strerror(code))
    return result
