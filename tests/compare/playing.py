"""The stand-in for the client, without a screen: it makes the edits everyone is measured by."""

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
    """The client, or what was put around it, did not come to its end."""


@dataclass(frozen=True, slots=True)
class Place:
    """A repository and a home, with room beside them."""

    project: Path
    home: Path

    @classmethod
    def here(cls) -> Self:
        """This checkout, for questions that need no repository of their own."""
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
    place: Place, calls: Sequence[Mapping[str, Any]], settings: str | None, *, pause_seconds: float = 0
) -> list[str]:
    script = place.scratch / "script.json"
    pause = [{"pause": pause_seconds}] if pause_seconds else []
    replies = [[*pause, call] for call in calls]
    script.write_text(json.dumps({"scripts": {"go": [*replies, [*pause, {"say": "Done."}]]}}))
    more = ["--settings", settings] if settings else []
    client = [sys.executable, "-m", "tests.client_double", "-p", "go", "--script", str(script)]
    return [*client, "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions", *more]


def play(place: Place, command: Sequence[str]) -> float:
    """Run the client to its end; how long it took."""
    started = time.monotonic()
    done = subprocess.run(
        command,
        cwd=place.project,
        env=place.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    took = time.monotonic() - started
    if done.returncode:
        raise SessionFailed(f"{command[:6]} ended with {done.returncode}: {done.stderr[-500:]}")
    return took


def hook_after_each_call(command: str) -> str:
    return json.dumps({"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": command}]}]}})


def disk_used(*places: Path) -> int:
    """Bytes of all files below, each once. git may tidy up at the same time."""
    total = 0
    for place in places:
        for directory, _, names in os.walk(place):
            for name in names:
                with suppress(FileNotFoundError):
                    total += Path(directory, name).lstat().st_size
    return total
