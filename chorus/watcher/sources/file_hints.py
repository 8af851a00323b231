"""Where something moved in a work tree, and when that was told.

Receives what the file watch says. Gives the places to look at: all of them, those left alone for a while,
or those written before a moment. What is given is forgotten. Never looks into a file: what changed there
is the recorder's to say.
"""

import asyncio
import logging
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from chorus.model.ids import RepoPath
from chorus.system.file_watch import FileWatch

log = logging.getLogger("chorus.watcher")

# The watch says when it has told of everything, mostly within 2 ms; a machine may be busier than that.
TOLD_SECONDS = 2.0
# A watch that so often in a row did not say it never will: nobody waits for it again.
MAX_MISSED_BARRIERS = 3
# Where it cannot say so, it tells of a write within about 10 ms: when nothing came for this long, all has.
SETTLED_SECONDS = 0.015
# A tree that something writes to without end never settles: the window ends with what has come.
SETTLE_SECONDS = 0.15
# What the client stamps and what the file system stamps come from the same clock, read at other moments.
CLOCK_SLACK_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Taken:
    """Places to look at, with what it takes to put them back."""

    told: Mapping[RepoPath, float]
    lost: float | None = None
    was_new: bool = False

    @property
    def where(self) -> set[RepoPath] | None:
        """None: everywhere."""
        return set(self.told) if self.lost is None else None


@dataclass(slots=True)
class Hints:
    root: Path
    watch: FileWatch
    is_new: bool = True  # nothing was looked at since the watch began
    told_seconds: float = TOLD_SECONDS
    _told: dict[RepoPath, float] = field(default_factory=dict)  # when a move was last told of
    _lost: float | None = None  # since when only a look at everything can tell what moved
    _head: bool = False
    _untold: int = 0  # so often in a row the watch did not say that it has told everything

    def gather(self) -> None:
        """Hear what the watch has to say by now."""
        moved = self.watch.take()
        now = time.monotonic()
        self._told |= dict.fromkeys(moved.paths, now)
        if moved.lost and self._lost is None:
            self._lost = now
        self._head |= moved.head

    async def settle(self) -> None:
        """Wait until the watch has told of what is already on disk."""
        loop = asyncio.get_running_loop()
        told = asyncio.Event()
        self.gather()
        if self._lost is not None:
            return

        def hear() -> None:
            told.set()
            self._untold = 0  # also when it comes late: a burst holds it up, and it works

        if self._untold < MAX_MISSED_BARRIERS and self.watch.flush_barrier(lambda: _call(loop, hear)):
            try:
                await asyncio.wait_for(told.wait(), self.told_seconds)
            except TimeoutError:
                self._untold += 1
                log.warning("the file watch did not say within %s s that it has told all", self.told_seconds)
            self.gather()
        else:
            await self._wait_for_silence()

    async def _wait_for_silence(self) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + SETTLE_SECONDS
        known = -1
        while known != len(self._told) and loop.time() < deadline and self._lost is None:
            known = len(self._told)
            await asyncio.sleep(SETTLED_SECONDS)
            self.gather()

    @property
    def are_lost(self) -> bool:
        return self._lost is not None

    @property
    def left(self) -> bool:
        """Whether there is any place to look at, by what was gathered."""
        return bool(self._told) or self.are_lost

    @property
    def moved(self) -> bool:
        """Whether anything moved, HEAD included."""
        return self.left or self._head

    def take(self) -> Taken:
        self.gather()
        taken = Taken(self._told, self._lost, self.is_new)
        self._told, self._lost, self._head = {}, None, False
        self.is_new = self.is_new and taken.lost is None
        return taken

    def put_back(self, taken: Taken) -> None:
        """Nobody could look there."""
        self._told = {**taken.told, **self._told}
        self._lost = taken.lost if self._lost is None else self._lost
        self.is_new = taken.was_new

    def take_settled(self, grace_seconds: float) -> Taken | None:
        """What has been left alone for so long; None: nothing is to be looked at now."""
        self.gather()
        settled = time.monotonic() - grace_seconds
        if self._lost is not None:
            is_early = any(told > settled for told in (self._lost, *self._told.values()))
            return None if is_early else self.take()
        ready = {path: told for path, told in self._told.items() if told <= settled}
        if not ready and (self._told or not self._head):
            return None
        self._head = False
        return self._remove(ready)

    def take_until(self, until: str) -> Taken:
        """What was written before that moment; nothing, if it is none that a clock could show."""
        try:
            moment = datetime.fromisoformat(until).timestamp() - CLOCK_SLACK_SECONDS
        except (ValueError, OverflowError):
            return Taken({})
        return self._remove({path: told for path, told in self._told.items() if self._written(path) < moment})

    def _remove(self, told: Mapping[RepoPath, float]) -> Taken:
        for path in told:
            del self._told[path]
        return Taken(told)

    def _written(self, path: RepoPath) -> float:
        """When the file was written; a file that is gone cannot tell, and counts as just now."""
        try:
            return os.lstat(self.root / path).st_mtime
        except OSError:
            return float("inf")


def _call(loop: asyncio.AbstractEventLoop, then: Callable[[], None]) -> None:
    """Called from a thread of the file watch's, perhaps after the loop has ended."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(then)
