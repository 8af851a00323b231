"""Headless sessions that Chorus started: their named pipes, and what is sent through them."""

import asyncio
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chorus.errors import NotFound
from chorus.model.ids import PaneId, SessionId
from chorus.watcher.panes.feeder import END

# What starts a headless session is a Python program: half a second here, more on a busy machine.
BEGIN_SECONDS = 20.0


class NoSuchRun(NotFound):
    hint = "`chorus status` lists the sessions; start one with `chorus run MESSAGE`."


@dataclass(slots=True)
class Run:
    name: str
    pipe: Path
    pane: PaneId
    session: SessionId | None = None
    begun: bool = False  # something was sent: from then on, a pipe nobody reads is a dead session's


@dataclass(slots=True)
class Runs:
    all: dict[str, Run] = field(default_factory=dict)

    def add(self, name: str, pipe: Path, pane: PaneId) -> Run:
        self.all[name] = run = Run(name, pipe, pane)
        return run

    def find(self, name: str | None) -> Run:
        """The run of that name, session or pane; without one, the only run there is."""
        alive = [run for run in self.all.values() if run.pipe.exists()]
        if name is not None:
            alive = [run for run in alive if name in (run.name, run.session, run.pane)]
        if not alive:
            raise NoSuchRun(f"no headless session {name} runs" if name else "no headless session runs")
        if len(alive) > 1:
            names = ", ".join(run.name for run in alive)
            raise NoSuchRun("several headless sessions run", hint=f"Say which one: {names}.")
        return alive[0]

    def at(self, pane: PaneId) -> Run | None:
        return next((run for run in self.all.values() if run.pane == pane), None)

    async def say(self, run: Run, message: str, note: str | None = None) -> None:
        """The user's message, after what Chorus itself has to say."""
        texts = [text for text in (note, message) if text is not None]
        content = message if note is None else [{"type": "text", "text": text} for text in texts]
        await self.write(run, {"type": "user", "message": {"role": "user", "content": content}})

    async def write(self, run: Run, line: dict[str, Any]) -> None:
        deadline = time.monotonic() + BEGIN_SECONDS
        while True:
            try:
                await asyncio.to_thread(_write, run.pipe, json.dumps(line).encode() + b"\n")
            except NoSuchRun:
                # A session that is only starting does not read yet.
                if run.begun or not run.pipe.exists() or time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.01)
            else:
                run.begun = True
                return

    async def end(self, run: Run) -> None:
        """Close the client's input: it finishes what it does, and leaves."""
        await asyncio.to_thread(_write, run.pipe, END)


def _write(pipe: Path, line: bytes) -> None:
    """One line, whole: only the agent writes here, one line at a time."""
    try:
        # Not waiting to open: a pipe nobody reads belongs to a client that is gone.
        descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        raise NoSuchRun(f"the session behind {pipe.name} has ended") from error
    os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "wb") as file:
        file.write(line)
