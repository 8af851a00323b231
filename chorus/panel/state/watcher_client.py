"""Requests from the panel to the watcher, on the panel's own event loop.

Each request has a connection of its own, so that a landing does not hold up an approval.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Literal, overload

from chorus.model.api.json_api import (
    ActionJson,
    AnswerJson,
    HunkJson,
    KeepJson,
    LandJson,
    NoteJson,
    RevertJson,
    SentNotesJson,
)
from chorus.model.api.requests import (
    ActionArguments,
    ActionSelection,
    AnswerArguments,
    LandArguments,
    NoteArguments,
    NotesArguments,
    RedoArguments,
    RevertArguments,
)
from chorus.panel.state.model import TaskProgress
from chorus.wire.async_client import Streams, exchange, open_streams
from chorus.wire.client import WatcherNotResponding, WatcherNotRunning
from chorus.wire.home import Home
from chorus.wire.protocol import ProtocolError
from chorus.wire.watcher_process import NOT_STARTED_HINT, START_TIMEOUT_SECONDS, start

# Requests that need no work tree; all others are sent with the panel's.
REPOSITORY_WIDE = frozenset({"answer"})
# Requests that are answered with a list; all others with an object.
LISTS = frozenset({"hunks", "notes", "drop_notes"})
# A request that takes longer than this is shown as running.
SHOW_AFTER_SECONDS = 0.5


@dataclass(slots=True, eq=False)
class _PendingRequest:
    label: str
    since: float


class WatcherClient:
    """Sends requests, and lists the slow ones. Calls `on_change` when that list may have changed."""

    def __init__(self, home: Home, work_tree: Path, on_change: Callable[[], None]) -> None:
        self._home = home
        self._work_tree = work_tree
        self._on_change = on_change
        self._pending: list[_PendingRequest] = []
        self._ticker: asyncio.Task[None] | None = None

    @overload
    async def request(
        self, do: Literal["show"], arguments: ActionArguments, *, label: str, start_watcher: bool
    ) -> ActionJson: ...
    @overload
    async def request(self, do: Literal["keep"], arguments: ActionSelection, *, label: str) -> KeepJson: ...
    @overload
    async def request(
        self, do: Literal["revert"], arguments: RevertArguments, *, label: str
    ) -> RevertJson: ...
    @overload
    async def request(self, do: Literal["redo"], arguments: RedoArguments, *, label: str) -> RevertJson: ...
    @overload
    async def request(self, do: Literal["land"], arguments: LandArguments, *, label: str) -> LandJson: ...
    @overload
    async def request(
        self, do: Literal["hunks"], arguments: ActionArguments, *, label: str
    ) -> list[HunkJson]: ...
    @overload
    async def request(self, do: Literal["note"], arguments: NoteArguments, *, label: str) -> NoteJson: ...
    @overload
    async def request(
        self,
        do: Literal["notes", "drop_notes"],
        arguments: NotesArguments,
        *,
        label: str,
        start_watcher: bool = True,
    ) -> list[NoteJson]: ...
    @overload
    async def request(
        self, do: Literal["send_notes"], arguments: NotesArguments, *, label: str
    ) -> SentNotesJson: ...
    @overload
    async def request(
        self, do: Literal["answer"], arguments: AnswerArguments, *, label: str
    ) -> AnswerJson: ...
    async def request(
        self, do: str, arguments: Mapping[str, object], *, label: str, start_watcher: bool = True
    ) -> object:
        """Send a request and return its result. Raise the error that the watcher reports."""
        if do not in REPOSITORY_WIDE:
            arguments = {"cwd": str(self._work_tree), **arguments}
        with self._shown_as(label):
            result = await _send(self._home, do, arguments, start_watcher=start_watcher)
        expected = list if do in LISTS else dict
        if not isinstance(result, expected):
            raise ProtocolError(f"the watcher answered {do} with {type(result).__name__}")
        return result

    def progress(self) -> list[TaskProgress]:
        """Return the requests that have been running for a while."""
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


async def _send(home: Home, do: str, arguments: Mapping[str, object], *, start_watcher: bool) -> object:
    streams = await (_connect_or_start(home) if start_watcher else open_streams(home))
    return await exchange(streams, do, arguments)


async def _connect_or_start(home: Home) -> Streams:
    with suppress(WatcherNotRunning):
        return await open_streams(home)
    start(home)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + START_TIMEOUT_SECONDS
    while loop.time() < deadline:
        with suppress(WatcherNotRunning):
            return await open_streams(home)
        await asyncio.sleep(0.02)
    raise WatcherNotResponding(f"the watcher did not start; its log is {home.log}", hint=NOT_STARTED_HINT)
