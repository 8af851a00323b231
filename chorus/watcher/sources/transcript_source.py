"""Transcripts as a source: the files of watched sessions and of their sub-agents, read as they grow.

A line from before the session was watched is history: its turns and messages are known, but nothing from it
is recorded.
"""

import asyncio
import json
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from chorus.agents.interface import Clients, Source, TranscriptReader
from chorus.model.ids import SessionId
from chorus.model.json_limit import is_too_much
from chorus.model.session import Session
from chorus.watcher.sources.pipeline import Pipeline
from chorus.watcher.sources.transcript_activity import (
    REPORTED_SETTLE_SECONDS,
    SETTLE_SECONDS,
    WATCHED_POLL_SECONDS,
    TranscriptActivity,
)
from chorus.watcher.state.files import SessionFile, save_json
from chorus.watcher.work_trees import WatchedTrees

# How often positions are saved. Lines read since the last save are read again by the next watcher, which
# recognises them by their ids.
SAVE_SECONDS = 3.0
# How long the files of a session that has reported its end are still read after they last grew. A client
# writes its last lines within a second of its end, but background tasks that it left may add some.
LATE_SECONDS = 60.0
# The most that is read and fed before requests get their turn: some ten milliseconds of work.
MAX_STEP_BYTES = 2**20
MAX_STEP_LINES = 500
# How many positions of files that are no longer followed are kept: enough for the sessions of some weeks.
# Every save writes all positions.
MAX_POSITIONS = 500


@dataclass(frozen=True, slots=True)
class TranscriptSource:
    tails: "TranscriptTails"
    sessions: SessionFile
    pipeline: Pipeline
    trees: WatchedTrees
    activity: TranscriptActivity = field(default_factory=TranscriptActivity)

    def load(self) -> None:
        self.tails.load()
        for session in self.sessions.load():
            self.follow(session)

    def save(self) -> None:
        self.tails.save()
        self.sessions.save()

    def _save_if_due(self) -> None:
        if self.tails.unsaved and time.monotonic() - self.tails.saved_at > SAVE_SECONDS:
            self.save()

    def follow(self, session: Session, *, from_start: bool = False) -> None:
        self.activity.note()
        if session.transcript is None or session.state == "gone" or self.tails.follows(session.transcript):
            return
        if self.tails.follow(session.id, Path(session.transcript), from_start=from_start):
            self.activity.note_file()

    async def run(self) -> None:
        while True:
            # Watch first, then read: the watch then reports what is written during or after the reading.
            self.activity.watch(self.tails.directories)
            await self.catch_up()
            self._save_if_due()
            await self.activity.wait(
                SAVE_SECONDS if self.tails.unsaved else WATCHED_POLL_SECONDS,
                REPORTED_SETTLE_SECONDS if self._is_all_reported() else SETTLE_SECONDS,
            )

    def _is_all_reported(self) -> bool:
        """True if hooks or mods report the calls of all sessions that are followed."""
        sessions = self.pipeline.roster.sessions
        return all(name in sessions and sessions[name].is_live for name in self.tails.followed)

    async def catch_up(self) -> None:
        """Feed everything that has been written by now, in small steps so that requests are not blocked."""
        async with self.pipeline.lock:
            await self._read_step()
        while self.tails.has_more:
            await asyncio.sleep(0)
            async with self.pipeline.lock:
                await self._read_step()
        self.trees.publish_changes()

    async def read(self) -> None:
        """Feed what was written since the last time. The caller holds the pipeline's lock."""
        await self._read_step()
        while self.tails.has_more:
            await asyncio.sleep(0)
            await self._read_step()

    async def _read_step(self) -> None:
        # Save no position before the lines are recorded: if that fails, the next watcher must read them.
        before, self.tails.frozen = self.tails.frozen, True
        lines = list(self.tails.read())
        for history in (True, False):
            messages = [m for line in lines if line.history is history and (m := _decode(line)) is not None]
            if messages:
                await self.pipeline.feed(messages, Source.TRANSCRIPT, history=history)
        self.tails.frozen = before
        if lines:
            self.activity.note()
            self.tails.unsaved = True
            self._save_if_due()
        sessions = self.pipeline.roster.sessions
        gone = [name for name in self.tails.followed if name in sessions and sessions[name].state == "gone"]
        self.tails.forget_quiet(gone, time.monotonic())

    async def end_client(self, session: SessionId, client: str) -> None:
        """Feed the last lines of an ended client, then end its session.

        If another client is in the session, end only the calls of the ended client.
        """
        if not self.pipeline.roster.remove_client(session, client):
            await self.end_session(session)
            return
        async with self.pipeline.lock:
            await self.read()
            await self.pipeline.end_client(session, client, source="pane")

    async def end_session(self, session: SessionId) -> None:
        """Feed the last lines of the session, then end the session."""
        if self.pipeline.roster.sessions[session].state == "gone":
            return
        async with self.pipeline.lock:
            await self.read()
            await self.pipeline.end_session(session, source="pane")
        self.tails.forget(session)
        self.sessions.save()


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    session: SessionId
    text: bytes
    history: bool


@dataclass(slots=True)
class _Followed:
    session: SessionId
    tail: TranscriptReader
    watched_from: int  # lines before this position are history


@dataclass(slots=True)
class TranscriptTails:
    """The files that are followed, and how far each was read."""

    clients: Clients
    path: Path  # where positions are saved
    has_more: bool = False  # the last call left something to read
    frozen: bool = False  # save nothing: what was read last is not recorded, the next watcher must read it
    unsaved: bool = False  # positions have moved since they were saved
    saved_at: float = 0.0
    _files: dict[Path, _Followed] = field(default_factory=dict)
    _mains: dict[Path, SessionId] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)
    _directories: set[Path] = field(default_factory=set)
    _positions: dict[str, int] = field(default_factory=dict)  # in the order in which they last moved
    _quiet: dict[SessionId, float] = field(default_factory=dict)  # ended sessions, since when no file grew

    def load(self) -> None:
        with suppress(FileNotFoundError, ValueError):
            known = json.loads(self.path.read_bytes())
            if isinstance(known, Mapping):
                self._positions = {path: at for path, at in known.items() if isinstance(at, int)}

    def follows(self, name: str) -> bool:
        """True if the transcript at this path is followed. Quick, because every report asks."""
        return name in self._names

    def follow(self, session: SessionId, transcript: Path, *, from_start: bool = False) -> bool:
        """Follow the transcript of a session; return False if it is already followed.

        Lines that an earlier watcher has read are history. In a file that no watcher has read, all present
        lines are history. With `from_start`, none of them are: the session began while it was watched.
        """
        if transcript in self._mains:
            return False
        self._mains[transcript] = session
        self._names.add(str(transcript))
        self._find_directories()
        known = str(transcript) in self._positions
        self._add(session, transcript, from_start=from_start)
        for path in self.clients.subagent_transcripts(transcript):
            # A file unknown to the earlier watcher has appeared since.
            self._add(session, path, from_start=from_start or known)
        if not known:
            self.save()  # if this watcher is killed now, the next one must know that the session was watched
        return True

    def forget(self, session: SessionId) -> None:
        """Stop following an ended session; its positions are kept."""
        for path in [path for path, known in self._mains.items() if known == session]:
            del self._mains[path]
            self._names.discard(str(path))
        self._find_directories()
        for path in [path for path, followed in self._files.items() if followed.session == session]:
            del self._files[path]

    def _find_directories(self) -> None:
        found = (self.clients.transcript_directories(main) for main in self._mains)
        self._directories = {path for paths in found for path in paths}

    @property
    def directories(self) -> set[Path]:
        return self._directories

    @property
    def followed(self) -> set[SessionId]:
        return set(self._mains.values())

    def forget_quiet(self, ended: Collection[SessionId], now: float) -> None:
        """Stop following ended sessions whose files have not grown for a while."""
        self._quiet = {session: self._quiet.get(session, now) for session in ended}
        for session in [session for session, since in self._quiet.items() if now - since > LATE_SECONDS]:
            self.forget(session)

    def read(self) -> Iterator[TranscriptLine]:
        """Yield the lines completed since the last call, up to a limit. If more are left, set `has_more`."""
        self.has_more = False
        budget, lines_left = MAX_STEP_BYTES, MAX_STEP_LINES
        for transcript, session in list(self._mains.items()):
            for path in self.clients.subagent_transcripts(transcript):
                if path not in self._files:
                    self._add(session, path, from_start=True)
        for path, followed in list(self._files.items()):
            start = followed.tail.position
            for text in followed.tail.read_lines():
                self._quiet.pop(followed.session, None)
                yield TranscriptLine(
                    followed.session, text, history=followed.tail.position <= followed.watched_from
                )
                lines_left -= 1
            if followed.tail.position != start:
                self._positions.pop(str(path), None)
                self._positions[str(path)] = followed.tail.position
            budget -= max(followed.tail.position - start, 0)
            # Stop here, so that the lines of sub-agents are fed after those of their session.
            if followed.tail.has_more or budget <= 0 or lines_left <= 0:
                self.has_more = True
                return

    @property
    def problems(self) -> list[str]:
        return [followed.tail.problem for followed in self._files.values() if followed.tail.problem]

    def save(self) -> None:
        """Save for the next watcher how far each file was read. Do nothing while `frozen` is set."""
        if self.frozen:
            return
        left = [path for path in self._positions if Path(path) not in self._files]
        for path in left[:-MAX_POSITIONS]:
            del self._positions[path]
        save_json(self.path, self._positions)
        self.unsaved, self.saved_at = False, time.monotonic()

    def _add(self, session: SessionId, path: Path, *, from_start: bool) -> None:
        known = self._positions.setdefault(str(path), 0 if from_start else _size(path))
        self._files[path] = _Followed(session, self.clients.read_transcript(path), watched_from=known)


def _decode(line: TranscriptLine) -> dict[str, Any] | None:
    if is_too_much(line.text):
        return None
    try:
        value = orjson.loads(line.text)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return 0
