"""A repository with recorded actions, and commands run in it as the user types them."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from chorus.history.recorder import Recorder
from chorus.wire.home import find_home
from chorus.wire.watcher_process import stop
from tests.history.agent_at_work import Agent
from tests.repos import UserRepo

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True, slots=True)
class Typed:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Shell:
    repo: UserRepo

    def __call__(self, *words: str, cwd: Path | None = None, **variables: str) -> Typed:
        done = subprocess.run(
            [sys.executable, "-m", "chorus", *words],
            cwd=cwd or self.repo.path,
            env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return Typed(done.returncode, done.stdout, done.stderr)


def on_a_terminal(repo: UserRepo, keys: bytes, *words: str, **variables: str) -> tuple[int, bytes]:
    """Run a command with a terminal for input and output; return its exit code and all output."""
    mine, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "chorus", *words],
        cwd=repo.path,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(mine, keys)
    shown = b""
    # Reading fails once the process has closed the terminal.
    with suppress(OSError):
        while chunk := os.read(mine, 65536):
            shown += chunk
    os.close(mine)
    return process.wait(timeout=60), shown.replace(b"\r\n", b"\n")


@pytest.fixture
def chorus(repo: UserRepo) -> Iterator[Shell]:
    yield Shell(repo)
    stop(find_home(repo.path))


@pytest.fixture
def worked(repo: UserRepo) -> UserRepo:
    """Three edits by the agent: app.py, a new file, run.sh."""
    with Recorder.open(repo.path) as recorder:
        agent = Agent(repo, recorder)
        agent.replace("app.py", b"x = 1", b"x = 9", lead_text="I raise x.")
        agent.edit("new.txt", b"hello\n")
        agent.replace("run.sh", b"hi", b"ho")
    return repo
