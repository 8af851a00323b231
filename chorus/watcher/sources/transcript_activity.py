"""Decide when to read transcripts: once something in their directories has changed."""

import asyncio
import logging
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from chorus.system.file_watch.directory_watch import DirectoryWatch, open_directory_watch

log = logging.getLogger("chorus.watcher")

# The client writes several lines in a moment: they are read together.
SETTLE_SECONDS = 0.05
# For sessions whose calls the mod or hooks report: there is time to read the lines of several calls together.
REPORTED_SETTLE_SECONDS = 0.25
# Time between two readings, at least. The client itself writes transcripts up to 250 ms late.
POLL_SECONDS = 0.1
# When no session was active for a while, files that are not watched are read less often.
QUIET_SECONDS = 3.0
QUIET_POLL_SECONDS = 1.0
# A watch reports every write on this machine. On a network file system another machine may write.
WATCHED_POLL_SECONDS = 10.0


@dataclass(slots=True)
class TranscriptActivity:
    is_watching: bool = False  # all directories are watched
    _active_at: float = field(default_factory=time.monotonic)
    _read_at: float = 0.0
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _watch: DirectoryWatch | None = field(default_factory=open_directory_watch)
    _problem: str | None = None  # why directories are not watched, as it was last logged

    def note(self) -> None:
        """Note that a session is active. Files that are not watched are then read more often."""
        self._active_at = time.monotonic()
        if not self.is_watching:
            self._changed.set()

    def note_file(self) -> None:
        """Note that there is a new file, so that files are read again soon."""
        self._active_at = time.monotonic()
        self._changed.set()

    def watch(self, directories: Iterable[Path]) -> None:
        """Watch the directories of transcripts. Call it before each reading of the files."""
        self._read_at = time.monotonic()
        if self._watch is None:
            return
        self._watch.drain()
        try:
            self._watch.watch(directories)
        except (OSError, ValueError) as error:
            self.is_watching = False
            if str(error) != self._problem:
                log.info("transcripts are polled: %s", error)
                self._problem = str(error)
        else:
            self.is_watching = True
            self._problem = None

    async def wait(
        self, limit_seconds: float = WATCHED_POLL_SECONDS, settle_seconds: float = SETTLE_SECONDS
    ) -> None:
        """Wait until it is time to read the files again.

        If the directories are watched, wait for a change, but at most `limit_seconds`. Then wait at least
        `settle_seconds` more. If they are not watched, wait for the next interval.
        """
        if self.is_watching:
            await self._wait_for_change(limit_seconds)
        elif time.monotonic() - self._active_at >= QUIET_SECONDS:
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(min(limit_seconds, QUIET_POLL_SECONDS)):
                    await self._changed.wait()
        self._changed.clear()
        pause = self._read_at + POLL_SECONDS - time.monotonic()
        await asyncio.sleep(max(pause, settle_seconds) if self.is_watching else pause)

    async def _wait_for_change(self, limit_seconds: float) -> None:
        assert self._watch is not None
        loop = asyncio.get_running_loop()
        # The loop listens only during this wait, so several writes in a moment wake it once.
        loop.add_reader(self._watch.fileno(), self._changed.set)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(limit_seconds):
                    await self._changed.wait()
        finally:
            loop.remove_reader(self._watch.fileno())

    def close(self) -> None:
        if self._watch is not None:
            self._watch.close()
            self._watch, self.is_watching = None, False
