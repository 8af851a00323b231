"""Run a headless session of the client double, which makes the same edits for every contender."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tests.compare.edits import environment

ROOT = Path(__file__).parents[2]


class SessionFailed(RuntimeError):
    """The client, or the program wrapped around it, failed."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A temporary repository and home directory."""

    project: Path
    home: Path

    @classmethod
    def of_checkout(cls) -> Self:
        """Return this checkout, for commands that need no repository of their own."""
        return cls(ROOT, ROOT)

    @property
    def scratch(self) -> Path:
        return self.project.parent

    def environment(self) -> dict[str, str]:
        return {**environment(self.home), "PYTHONPATH": str(ROOT)}

    def run(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.project, env=self.environment(), capture_output=True, text=True, check=check
        )


def client_command(
    sandbox: Sandbox, calls: Sequence[Mapping[str, Any]], settings: str | None, *, pause_seconds: float = 0
) -> list[str]:
    script = sandbox.scratch / "script.json"
    pause = [{"pause": pause_seconds}] if pause_seconds else []
    replies = [[*pause, call] for call in calls]
    script.write_text(json.dumps({"scripts": {"go": [*replies, [*pause, {"say": "Done."}]]}}))
    more = ["--settings", settings] if settings else []
    client = [sys.executable, "-m", "tests.client_double", "-p", "go", "--script", str(script)]
    return [*client, "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions", *more]


def run_session(sandbox: Sandbox, command: Sequence[str]) -> float:
    """Run the client and return the seconds it took."""
    started = time.monotonic()
    done = subprocess.run(
        command,
        cwd=sandbox.project,
        env=sandbox.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    seconds = time.monotonic() - started
    if done.returncode:
        raise SessionFailed(f"{command[:6]} exited with {done.returncode}: {done.stderr[-500:]}")
    return seconds


def hook_after_each_call(command: str) -> str:
    return json.dumps({"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": command}]}]}})


def disk_used(*roots: Path) -> int:
    """Count the bytes of all files below these directories. git may delete some meanwhile."""
    total = 0
    for root in roots:
        for directory, _, names in os.walk(root):
            for name in names:
                with suppress(FileNotFoundError):
                    total += Path(directory, name).lstat().st_size
    return total
