"""A watcher on a thread of this process, whose loop says how much processor time each of its steps took."""

import asyncio
import socket
import threading
import time
from asyncio import events
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from chorus.system.files.private_files import make_private
from chorus.system.socket_path import short_path
from chorus.watcher.watcher import Watcher
from chorus.wire.client import Connection, connect
from chorus.wire.home import Home, find_home
from chorus.wire.watcher_process import connect_started
from tests.watcher.hook_events import HookEvents


class MeasuredWatcher:
    def __init__(self, project: Path) -> None:
        self.project = project
        self.home: Home = find_home(project)
        self.hooks = HookEvents(self.home)
        self.longest = 0.0  # step since the last `reset`, in seconds of processor time of the loop's thread
        self.thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self._stop: Callable[[], object] = lambda: None

    def connect(self) -> Connection:
        return connect(self.home)

    def reset(self) -> None:
        self.longest = 0.0

    def send(self, data: bytes) -> None:
        """Send bytes to the socket, and wait until the watcher has closed the connection."""
        with socket.socket(socket.AF_UNIX) as raw:
            with short_path(self.home.socket) as path:
                raw.connect(path)
            try:
                raw.sendall(data)
                raw.shutdown(socket.SHUT_WR)
                while raw.recv(2**16):
                    pass
            except OSError:
                pass  # the watcher has heard enough

    def has_looked(self) -> bool:
        """Whether it has looked at the whole work tree. Without a file watch, there may always be changes."""
        trees = self.trees.all.values()
        return not any(tree.is_new or (tree.has_changes and not tree.watch.needs_scan) for tree in trees)

    async def _serve(self) -> None:
        stopping, loop = asyncio.Event(), asyncio.get_running_loop()
        self._stop = lambda: loop.call_soon_threadsafe(stopping.set)
        self.trees = (watcher := Watcher(self.home)).trees
        await watcher.serve(stopping)

    @contextmanager
    def running(self, monkeypatch: pytest.MonkeyPatch) -> Iterator["MeasuredWatcher"]:
        run = events.Handle._run

        def measure(handle: events.Handle) -> None:
            started = time.thread_time()
            run(handle)
            if threading.current_thread() is self.thread:
                self.longest = max(self.longest, time.thread_time() - started)

        monkeypatch.setattr(events.Handle, "_run", measure)
        make_private(self.home.root)
        self.home.lock.touch()
        self.thread.start()
        try:
            with connect_started(self.home) as watcher:
                watcher.ask("log", cwd=str(self.project), limit=1)
            yield self
        finally:
            self._stop()
            self.thread.join()
