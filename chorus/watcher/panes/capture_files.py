"""Capture files as a source: text files with a headless client's output, written by another program.

Examples are the log of `script` or `screen -L`, a file into which a pane is piped, and a dump that a terminal
multiplexer writes again and again. The text may be wrapped, at any width.

A session ends when the file is removed, when `script` writes its last line, or when the session's client
ends. The client is found only if it runs on this machine with the user's own configuration directory.
"""

import asyncio
import json
import logging
import os
import stat
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from chorus.agents.interface import Clients, DocumentFilter, Events, Source
from chorus.errors import ChorusError, NotFound
from chorus.model.api.json_api import CaptureJson
from chorus.model.ids import SessionId
from chorus.model.outcomes import Outcome, SessionDiscovered, TurnStarted
from chorus.watcher.panes.printed_events import PrintedEvents
from chorus.watcher.panes.repeated_capture import RepeatedCapture
from chorus.watcher.prompts.permission_requests import PermissionRequests
from chorus.watcher.prompts.reply_channels import CaptureChannel
from chorus.watcher.sources.live_clients import client_key, is_running
from chorus.watcher.sources.transcript_source import TranscriptSource
from chorus.watcher.state.files import save_json
from chorus.watcher.tasks import Start

log = logging.getLogger("chorus.watcher")

READ_SECONDS = 0.2
# A long file takes long to read: at most this part of the time is spent on it.
MAX_LOAD = 0.1
# How much is read from the end of a file. What is before that was read when it was written.
MAX_READ_BYTES = 16 * 2**20
# Begins the last line of a file that `script` has closed.
SCRIPT_END = b"Script done on "


class NotACapture(ChorusError):
    hint = "Give a text file that grows while the client prints, such as the log of `script`."


@dataclass(slots=True)
class CaptureFile:
    path: Path
    cwd: str  # where the client runs, if its events do not name it
    since: float
    widths: Sequence[int]
    events: int = 0
    sessions: set[SessionId] = field(default_factory=set)
    clients: dict[SessionId, str] = field(default_factory=dict)  # the clients that were found, by session
    capture: RepeatedCapture = field(init=False)
    names_directory: bool = False
    question: CaptureChannel | None = None  # a request in plain text, which the next event ends
    is_closed: bool = False  # by the program that wrote it
    _state: tuple[int, ...] = ()

    def read_changed(self) -> bytes | None:
        """Return the last part of the file, or None if the file has not changed. Raises OSError."""
        found = self.path.stat()
        state = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
        if state == self._state:
            return None
        text = self.read_end()
        self._state = state
        self.is_closed = text.rstrip().rpartition(b"\n")[2].startswith(SCRIPT_END)
        return text

    def ended_sessions(self) -> set[SessionId]:
        """All sessions if `script` has closed the file, else the sessions whose client has ended."""
        if self.is_closed:
            return set(self.sessions)
        return {session for session, client in self.clients.items() if not is_running(client)}

    def read_end(self) -> bytes:
        with self.path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - MAX_READ_BYTES))
            return file.read()

    def as_saved(self) -> "_SavedCapture":
        return {"path": str(self.path), "cwd": self.cwd, "widths": list(self.widths), "since": self.since}

    def as_json(self) -> CaptureJson:
        return {"capture": str(self.path), "events": self.events, "sessions": sorted(self.sessions)}


class _SavedCapture(TypedDict):
    path: str
    cwd: str
    widths: list[int]
    since: float


@dataclass(slots=True)
class CaptureFiles:
    events: Events
    clients: Clients
    transcripts: TranscriptSource
    requests: PermissionRequests
    start: Start
    file: Path  # where the list of followed files is saved, for a restarted watcher
    all: dict[Path, CaptureFile] = field(default_factory=dict)

    async def restore(self) -> None:
        saved: list[_SavedCapture] = []
        with suppress(OSError, ValueError):
            saved = json.loads(self.file.read_bytes())
        for one in saved:
            with suppress(ChorusError, KeyError, TypeError):
                await self.follow(Path(one["path"]), one["cwd"], one["widths"], since=one["since"])

    def save(self) -> None:
        save_json(self.file, [one.as_saved() for one in self.all.values()])

    def forget(self) -> None:
        """Stop following all files, also after a restart."""
        self.all.clear()
        self.file.unlink(missing_ok=True)

    async def follow(
        self, path: Path, cwd: str, widths: Sequence[int], since: float | None = None
    ) -> CaptureFile:
        """Follow a file. Events that are history are read, but nothing from them is recorded.

        `since`: when an earlier watcher began to follow the file. Events from before `since` are history.
        Without `since`, all events that are in the file now are history.
        """
        if (known := self.all.get(path)) is not None:
            return known
        _check(path)
        followed = CaptureFile(path, cwd, since or time.time(), tuple(widths))
        shown = self._read_shown(followed) if since is None else None
        printed = PrintedEvents(
            self.events, lambda *messages: self._feed(followed, *messages), followed.since, shown
        )
        followed.capture = RepeatedCapture(printed)
        self.transcripts.trees.find(cwd)
        self.all[path] = followed
        await self._read(followed)
        self.save()
        self.start(self._follow(followed))
        return followed

    def _read_shown(self, followed: CaptureFile) -> DocumentFilter:
        """Return a filter that recognises the events that are in the file now."""
        shown = self.events.document_filter()
        with suppress(OSError):
            for document in self.events.read_capture(followed.read_end(), followed.widths):
                shown.is_new(document)
        return shown

    def of_session(self, session: str) -> CaptureFile | None:
        return next((one for one in self.all.values() if session in one.sessions), None)

    async def _follow(self, followed: CaptureFile) -> None:
        while self.all.get(followed.path) is followed:
            began = time.monotonic()
            ended = followed.ended_sessions()
            # A client's last output is written a moment after its end: its session ends after that is read.
            if not await self._read(followed):
                await self._end(ended)
            await asyncio.sleep(max(READ_SECONDS, (time.monotonic() - began) / MAX_LOAD))

    async def _read(self, followed: CaptureFile) -> bool:
        """Feed the new events of the file to the pipeline. Return whether the file has changed."""
        try:
            text = followed.read_changed()
        except OSError as error:
            log.info("stopped following %s: %s", followed.path, error.strerror)
            await self._leave(followed)
            return False
        if text is not None and await followed.capture.feed(text, followed.widths):
            log.warning("%s: output was replaced before it was read", followed.path)
        return text is not None

    async def _leave(self, followed: CaptureFile) -> None:
        del self.all[followed.path]
        self.save()
        await self._end(followed.sessions)

    async def _end(self, sessions: set[SessionId]) -> None:
        for session in sessions & self.transcripts.pipeline.roster.sessions.keys():
            await self.transcripts.end_session(session)

    async def _feed(self, followed: CaptureFile, messages: list[dict[str, Any]], history: bool) -> None:
        followed.events += len(messages)
        followed.names_directory = followed.names_directory or any("cwd" in one for one in messages)
        if not followed.names_directory:
            messages = [{**one, "cwd": followed.cwd} for one in messages]
        if followed.question is not None:
            followed.question.close()
        pipeline = self.transcripts.pipeline
        async with pipeline.lock:
            outcomes = await pipeline.feed(
                messages, Source.STREAM, channel=f"capture {followed.path}", history=history
            )
        followed.sessions |= {one.session for one in outcomes if isinstance(one, SessionDiscovered)}
        self._find_clients(followed, outcomes)
        followed.question = self.requests.feed_capture(followed.path, outcomes)
        self.transcripts.sessions.save()
        self.transcripts.trees.publish_changes()

    def _find_clients(self, followed: CaptureFile, outcomes: list[Outcome]) -> None:
        begun = {one.session for one in outcomes if isinstance(one, SessionDiscovered | TurnStarted)}
        for session in followed.sessions & begun:
            known = followed.clients.get(session)
            if (known is None or not is_running(known)) and (found := self.clients.find_client(session)):
                followed.clients[session] = client_key(found)


def _check(path: Path) -> None:
    """Raise an error if the path is not a regular file that can be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise NotACapture(f"{path} is not a regular file")
        os.close(os.open(path, os.O_RDONLY))
    except FileNotFoundError:
        raise NotFound(f"file not found: {path}") from None
    except OSError as error:
        raise NotACapture(
            f"cannot read {path}: {error.strerror}",
            hint="Make the file readable, then run the command again.",
        ) from None
