"""Who is compared: what each must offer, Chorus itself, and git used by hand.

A contender says how it is installed, how it joins a session, how many actions it kept apart, and what
it does when one action is to be taken back. What it cannot do it says.
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess

from chorus import __version__
from tests.compare.playing import Place, hook_after_each_call

READY_SECONDS = 60.0


class Contender:
    """Nothing attached: what all others are measured against."""

    name = "nothing attached"
    edits: int | None = None  # fewer than asked for, where one takes too long
    is_timed = True
    takes_back = True

    def install(self, tools: Path) -> None:
        """Bring it into that directory, and into nothing else."""

    def version(self) -> str:
        return ""

    def start(self, place: Place) -> None:
        """Before the session."""

    def settings(self, place: Place) -> str | None:
        return None

    def wrap(self, place: Place, command: list[str]) -> list[str]:
        return command

    def captured(self, place: Place) -> int | None:
        return None

    def take_back(self, place: Place, identifiers: Sequence[str], target: int) -> str | None:
        """Take one action back; None, or why it does not."""
        return "not offered"

    def close(self, place: Place) -> None:
        """Nothing of it runs afterwards."""


class Chorus(Contender):
    name = "Chorus"

    def version(self) -> str:
        return __version__

    def start(self, place: Place) -> None:
        self._run(place, "hooks", "install", "--user")
        self._run(place, "hooks", "wake", str(place.project / ".git"))
        deadline = time.monotonic() + READY_SECONDS
        while self._run(place, "status", check=False).returncode:
            if time.monotonic() > deadline:
                raise RuntimeError("the watcher does not answer")

    def captured(self, place: Place) -> int:
        entries = json.loads(self._run(place, "log", "--json").stdout)
        return len({entry["commit"] for entry in entries if entry["commit"]})

    def take_back(self, place: Place, identifiers: Sequence[str], target: int) -> str | None:
        done = self._run(place, "revert", identifiers[target], check=False)
        return None if done.returncode == 0 else done.stderr.strip().split("\n")[0]

    def close(self, place: Place) -> None:
        self._run(place, "stop", check=False)

    def _run(self, place: Place, *words: str, check: bool = True) -> CompletedProcess[str]:
        return place.run(sys.executable, "-m", "chorus", *words, check=check)


class GitPerEdit(Contender):
    name = "git add + commit"

    def version(self) -> str:
        return Place.here().run("git", "--version").stdout.split()[2]

    def settings(self, place: Place) -> str | None:
        return hook_after_each_call("git add -A && git commit -qm edit")

    def captured(self, place: Place) -> int:
        root = place.run("git", "rev-list", "--max-parents=0", "HEAD").stdout.strip()
        return len(place.run("git", "rev-list", f"{root}..HEAD").stdout.split())

    def take_back(self, place: Place, identifiers: Sequence[str], target: int) -> str | None:
        commits = place.run("git", "rev-list", "--reverse", "HEAD").stdout.split()[1:]
        if target >= len(commits):
            return "it has no commit"
        done = place.run("git", "revert", "--no-edit", commits[target], check=False)
        if done.returncode:
            place.run("git", "revert", "--abort", check=False)
            return done.stderr.strip().split("\n")[0]
        return None
