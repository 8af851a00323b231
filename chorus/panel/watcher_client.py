"""Requests from the panel to the watcher, on the panel's own loop.

Each request has a connection of its own, so that a long one (landing) does not hold up a short one
(approving). Closing the panel drops the connection at once; the watcher still finishes what was requested.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from chorus.panel.model import TaskProgress
from chorus.wire.client import (
    START_TIMEOUT_SECONDS,
    WatcherNotResponding,
    WatcherNotRunning,
    short_path,
    start,
)
from chorus.wire.home import Home
from chorus.wire.protocol import MAX_LINE_BYTES, decode, encode, parse_answer

# Requests about the whole repository; all others are about the panel's work tree.
REPOSITORY_WIDE = frozenset({"answer"})
# A request that takes longer than this is shown as running.
SHOW_AFTER_SECONDS = 0.5

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(slots=True, eq=False)
class _PendingRequest:
    label: str
    since: float


class WatcherClient:
    """Sends requests, and lists those that take long. `on_change`: called when that list may have changed."""

    def __init__(self, home: Home, work_tree: Path, on_change: Callable[[], None]) -> None:
        self._home = home
        self._work_tree = work_tree
        self._on_change = on_change
        self._pending: list[_PendingRequest] = []
        self._ticker: asyncio.Task[None] | None = None

    async def request(
        self, do: str, arguments: dict[str, Any], *, label: str, start_watcher: bool = True
    ) -> dict[str, Any]:
        """Send a request and return its result; raise the error the watcher reports.

        `start_watcher`: whether to start one that is not running. Actions of the user start one; loading
        something to show does not.
        """
        if do not in REPOSITORY_WIDE:
            arguments = {"cwd": str(self._work_tree), **arguments}
        with self._shown_as(label):
            result = await _send(self._home, do, arguments, start_watcher=start_watcher)
        return result if isinstance(result, dict) else {}

    def progress(self) -> list[TaskProgress]:
        """Return the requests that have run for a while, each with its seconds so far."""
        now = monotonic()
        return [
            TaskProgress(f"{request.label} {now - request.since:.0f} s", 0, None)
            for request in self._pending
            if now - request.since >= SHOW_AFTER_SECONDS * 0.9
        ]

    @contextmanager
    def _shown_as(self, label: str) -> Iterator[None]:
        request = _PendingRequest(label, monotonic())
        self._pending.append(request)
        if self._ticker is None:
            self._ticker = asyncio.create_task(self._tick())
        try:
            yield
        finally:
            self._pending.remove(request)
            if not self._pending and self._ticker is not None:
                self._ticker.cancel()
                self._ticker = None
            self._on_change()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(SHOW_AFTER_SECONDS)
            self._on_change()


async def _send(home: Home, do: str, arguments: dict[str, Any], *, start_watcher: bool) -> object:
    reader, writer = await (_connect_or_start(home) if start_watcher else _connect_only(home))
    try:
        writer.write(encode({"id": 1, "do": do, **arguments}))
        line = await reader.readline()
    except (OSError, ValueError) as error:
        raise WatcherNotRunning(f"lost the connection to the watcher: {error}") from error
    finally:
        writer.close()
    if not line.endswith(b"\n"):
        raise WatcherNotRunning("the watcher closed the connection")
    result: object = parse_answer(decode(line))
    return result


async def _connect_only(home: Home) -> Streams:
    if streams := await _connect(home):
        return streams
    raise WatcherNotRunning(f"no watcher is running for {home.common_dir}")


async def _connect_or_start(home: Home) -> Streams:
    if streams := await _connect(home):
        return streams
    start(home)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + START_TIMEOUT_SECONDS
    while loop.time() < deadline:
        if streams := await _connect(home):
            return streams
        await asyncio.sleep(0.02)
    raise WatcherNotResponding(f"the watcher did not start; see its log: {home.log}")


async def _connect(home: Home) -> Streams | None:
    try:
        with short_path(home.socket) as path:
            return await asyncio.open_unix_connection(path, limit=MAX_LINE_BYTES)
    except (FileNotFoundError, ConnectionRefusedError):
        return None
