"""The paths of a work tree that the file watch reported, each with its time."""

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
from chorus.system.file_watch.file_watch import FileWatch

log = logging.getLogger("chorus.watcher")

# A barrier is mostly reported within 2 ms; a busy machine takes longer.
BARRIER_TIMEOUT_SECONDS = 2.0
# After this many missed barriers in a row the tree is scanned instead, until one of them is reported late.
MAX_MISSED_BARRIERS = 3
# The client's times and the file system's come from the same clock, read at different moments.
CLOCK_SLACK_SECONDS = 0.02
# How late the file watch may be: mostly less than a millisecond, on a busy machine longer.
EVENT_SLACK_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class PathBatch:
    """Paths to check, taken from `ChangedPaths`.

    `reported`: when each path was last reported. `seen`: when each path was first reported. `lost_since`: the
    time since which reports may be missing, so that the whole tree must be scanned; None if all paths are
    known. `was_never_scanned`: True if no scan of the whole tree was taken before.
    """

    reported: Mapping[RepoPath, float]
    seen: Mapping[RepoPath, float] = field(default_factory=dict)
    lost_since: float | None = None
    was_never_scanned: bool = False

    @property
    def where(self) -> set[RepoPath] | None:
        """The paths, or None for the whole work tree."""
        return set(self.reported) if self.lost_since is None else None


@dataclass(slots=True)
class ChangedPaths:
    root: Path
    watch: FileWatch
    is_new: bool = True  # no scan of the whole tree was taken since the watch began
    barrier_timeout_seconds: float = BARRIER_TIMEOUT_SECONDS
    _reported: dict[RepoPath, float] = field(default_factory=dict)  # when each path was last reported
    _seen: dict[RepoPath, float] = field(default_factory=dict)  # when first reported, in seconds since 1970
    _lost: float | None = None  # since when only a scan of the whole tree can find what changed
    _head: bool = False
    _missed_barriers: int = 0  # in a row

    def gather(self) -> None:
        """Add what the file watch has reported since the last call."""
        moved = self.watch.take()
        now = time.monotonic()
        self._reported |= dict.fromkeys(moved.paths, now)
        self._seen = {**moved.seen, **self._seen}
        if moved.lost and self._lost is None:
            self._lost = now
        self._head |= moved.head

    async def settle(self) -> None:
        """Wait until the file watch has reported everything that is already on disk.

        If no barrier can prove this, the whole tree is marked for a scan.
        """
        loop = asyncio.get_running_loop()
        passed = asyncio.Event()
        self.gather()
        if self._lost is not None:
            return

        def barrier_passed() -> None:
            passed.set()
            self._missed_barriers = 0  # also if it is late: a burst of changes delays it, but the watch works

        if self._missed_barriers < MAX_MISSED_BARRIERS and self.watch.flush_barrier(
            lambda: _call(loop, barrier_passed)
        ):
            try:
                async with asyncio.timeout(self.barrier_timeout_seconds):
                    await passed.wait()
            except TimeoutError:
                self._missed_barriers += 1
                self._note_loss()
                log.warning(
                    "the file watch did not reach its barrier within %s s", self.barrier_timeout_seconds
                )
            self.gather()
        else:
            self._note_loss()

    def _note_loss(self) -> None:
        if self._lost is None:
            self._lost = time.monotonic()

    @property
    def are_lost(self) -> bool:
        return self._lost is not None

    @property
    def any_left(self) -> bool:
        return bool(self._reported) or self.are_lost

    @property
    def any_change(self) -> bool:
        return self.any_left or self._head

    def is_settled(self, grace_seconds: float) -> bool:
        """A cheap check before `take_settled`.

        False only if `take_settled` would return None because all reported paths are still too new.
        """
        self.gather()
        settled = time.monotonic() - grace_seconds
        if self._lost is not None:
            return True
        return self._head or not self._reported or min(self._reported.values()) <= settled

    def take(self) -> PathBatch:
        self.gather()
        taken = PathBatch(self._reported, self._seen, self._lost, self.is_new)
        self._reported, self._seen, self._lost, self._head = {}, {}, None, False
        self.is_new = self.is_new and taken.lost_since is None
        return taken

    def put_back(self, taken: PathBatch) -> None:
        self._reported = {**taken.reported, **self._reported}
        self._seen = {**self._seen, **taken.seen}
        self._lost = taken.lost_since if self._lost is None else self._lost
        self.is_new = taken.was_never_scanned

    def take_settled(self, grace_seconds: float) -> PathBatch | None:
        """Take the paths last reported more than `grace_seconds` ago; None if there is nothing to check yet.

        If only HEAD may have moved, the result has no paths. If reports may be missing, take all paths, or
        none while any report is newer.
        """
        self.gather()
        settled = time.monotonic() - grace_seconds
        if self._lost is not None:
            is_early = any(moment > settled for moment in (self._lost, *self._reported.values()))
            return None if is_early else self.take()
        ready = {path: moment for path, moment in self._reported.items() if moment <= settled}
        if not ready and (self._reported or not self._head):
            return None
        self._head = False
        return self._remove(ready)

    def take_until(self, until: str) -> PathBatch:
        """Take the paths written before `until`, by more than `CLOCK_SLACK_SECONDS`.

        If `until` is not a valid time, take no paths.
        """
        moment = parse_moment(until)
        if moment is None:
            return PathBatch({})
        moment -= CLOCK_SLACK_SECONDS
        return self._remove({path: at for path, at in self._reported.items() if self._written(path) < moment})

    def take_ended(self, until: float) -> set[RepoPath] | None:
        """Return the paths that may have changed by `until`; None if any path may have changed.

        `until` is in seconds since 1970. The paths are then forgotten, except files that are gone or were
        written again after `until`.
        """
        self.gather()
        if self._lost is not None:
            return None
        ended = {path: at for path, at in self._reported.items() if self._written(path) <= until}
        seen = {path for path in self._reported if self._seen[path] <= until + EVENT_SLACK_SECONDS}
        self._remove(ended)
        return seen | ended.keys()

    def _remove(self, paths: Mapping[RepoPath, float]) -> PathBatch:
        for path in paths:
            del self._reported[path]
        return PathBatch(paths, {path: self._seen.pop(path) for path in paths})

    def _written(self, path: RepoPath) -> float:
        """Return when the file was last written, moved or created; infinity if it is gone.

        The time of the last write is not enough, because a program may set it.
        """
        try:
            state = os.lstat(self.root / path)
        except OSError:
            return float("inf")
        return max(state.st_mtime, state.st_ctime)


def parse_moment(time: str | None) -> float | None:
    """Return a time from the client as seconds since 1970; None if it is missing or invalid."""
    try:
        return None if time is None else datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError):
        return None


def _call(loop: asyncio.AbstractEventLoop, then: Callable[[], None]) -> None:
    """Schedule `then` on the loop, from another thread. Do nothing if the loop is closed."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(then)
