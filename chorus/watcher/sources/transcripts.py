"""What the transcripts of the watched sessions tell, brought in as it is written.

Receives sessions to follow. Keeps on disk which sessions there are and how far each was read, so that an
agent that starts again goes on from there.
"""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from chorus.agents.interface import Source
from chorus.model.ids import SessionId
from chorus.model.session import Session
from chorus.watcher.sources.intake import Intake
from chorus.watcher.sources.transcript_tails import Line, Tails
from chorus.watcher.state.session_file import SessionFile
from chorus.watcher.trees import Trees

# How often transcripts are looked at. The client itself writes them up to 250 ms late.
POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Transcripts:
    tails: Tails
    sessions: SessionFile
    intake: Intake
    trees: Trees

    def load(self) -> None:
        """Go on with the sessions an earlier agent watched."""
        self.tails.load()
        for session in self.sessions.load():
            self.follow(session)

    def keep(self) -> None:
        self.tails.keep()
        self.sessions.keep()

    def follow(self, session: Session, *, from_start: bool = False) -> None:
        if session.transcript is not None and session.state != "gone":
            self.tails.follow(session.id, Path(session.transcript), from_start=from_start)

    async def keep_reading(self) -> None:
        while True:
            await asyncio.sleep(POLL_SECONDS)
            await self.catch_up()

    async def catch_up(self) -> None:
        """Handle everything that has been told by now."""
        async with self.intake.history:
            await self.read()
        self.trees.announce()

    async def read(self) -> None:
        """Take what was written since the last time. The caller holds the history."""
        # If it cannot be recorded, the next agent has to read it again.
        before, self.tails.frozen = self.tails.frozen, True
        lines = list(self.tails.read())
        for history in (True, False):
            messages = [m for line in lines if line.history is history and (m := _decode(line)) is not None]
            if messages:
                await self.intake.take(messages, Source.TRANSCRIPT, history=history)
        self.tails.frozen = before
        if lines:
            self.keep()
        sessions = self.intake.roster.sessions
        gone = [name for name in self.tails.followed if name in sessions and sessions[name].state == "gone"]
        self.tails.leave(gone, time.monotonic())

    async def end(self, session: SessionId) -> None:
        """The session's client is gone: what it wrote last is heard, and nothing more will come."""
        if self.intake.roster.sessions[session].state == "gone":
            return
        async with self.intake.history:
            await self.read()
            await self.intake.end(session, source="pane")
        self.tails.forget(session)
        self.sessions.keep()


def _decode(line: Line) -> dict[str, Any] | None:
    try:
        value = orjson.loads(line.text)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None
