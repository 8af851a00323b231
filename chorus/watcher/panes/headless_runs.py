"""Headless sessions that Chorus started, and the named pipes through which they get their input."""

import asyncio
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chorus.errors import NotFound
from chorus.model.ids import PaneId, SessionId
from chorus.watcher.panes.stdin_feeder import END

# A Python program starts the headless session: half a second here, more on a busy machine.
START_TIMEOUT_SECONDS = 20.0


class NoHeadlessRun(NotFound):
    hint = "Run `chorus status` to list the sessions, or start one with `chorus run MESSAGE`."


@dataclass(slots=True)
class HeadlessRun:
    name: str
    pipe: Path
    pane: PaneId
    session: SessionId | None = None
    started: bool = (
        False  # something was sent: from then on a pipe without a reader means that the session ended
    )


@dataclass(slots=True)
class HeadlessRuns:
    all: dict[str, HeadlessRun] = field(default_factory=dict)

    def add(self, name: str, pipe: Path, pane: PaneId) -> HeadlessRun:
        self.all[name] = run = HeadlessRun(name, pipe, pane)
        return run

    def find(self, name: str | None) -> HeadlessRun:
        """Return the run of that name, session or pane; without a name, the only run there is."""
        alive = [run for run in self.all.values() if run.pipe.exists()]
        if name is not None:
            alive = [run for run in alive if name in (run.name, run.session, run.pane)]
        if not alive:
            raise NoHeadlessRun(
                f"no headless session {name} is running" if name else "no headless session is running"
            )
        if len(alive) > 1:
            names = ", ".join(run.name for run in alive)
            raise NoHeadlessRun(
                "several headless sessions are running", hint=f"Give one of them with --run: {names}."
            )
        return alive[0]

    def in_pane(self, pane: PaneId) -> HeadlessRun | None:
        return next((run for run in self.all.values() if run.pane == pane), None)

    async def send_message(self, run: HeadlessRun, message: str, notice: str | None = None) -> None:
        """Send the user's message, after a notice of Chorus itself if there is one."""
        texts = [text for text in (notice, message) if text is not None]
        content = message if notice is None else [{"type": "text", "text": text} for text in texts]
        await self.write(run, {"type": "user", "message": {"role": "user", "content": content}})

    async def write(self, run: HeadlessRun, line: dict[str, Any]) -> None:
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while True:
            try:
                await asyncio.to_thread(_write, run.pipe, json.dumps(line).encode() + b"\n")
            except NoHeadlessRun:
                # A session that is still starting does not read yet.
                if run.started or not run.pipe.exists() or time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.01)
            else:
                run.started = True
                return

    async def end(self, run: HeadlessRun) -> None:
        """Close the client's input: it finishes its turn and exits."""
        await asyncio.to_thread(_write, run.pipe, END)


def _write(pipe: Path, line: bytes) -> None:
    """Write one whole line: only the watcher writes here, one line at a time."""
    try:
        # Non-blocking: a pipe without a reader belongs to a client that has ended.
        descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        raise NoHeadlessRun(f"the session behind {pipe.name} has ended") from error
    os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "wb") as file:
        file.write(line)
