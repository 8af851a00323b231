"""The interface of a compared tool, Chorus itself, and a git commit after each call.

A contender defines how it is installed, how it is attached to a session, how many actions it recorded
separately, and how it reverts one action, or why it cannot.
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess

from chorus import __version__
from tests.compare.session import Sandbox, hook_after_each_call

READY_SECONDS = 60.0


class Contender:
    """Nothing attached: the baseline of the others."""

    name = "nothing attached"
    edits: int | None = None  # an upper limit, for a tool that is slow
    is_timed = True
    can_revert = True

    def install(self, tools: Path) -> None:
        """Install it below that directory and nowhere else."""

    def version(self) -> str:
        return ""

    def start(self, sandbox: Sandbox) -> None:
        """Prepare for the session."""

    def settings(self, sandbox: Sandbox) -> str | None:
        return None

    def wrap(self, sandbox: Sandbox, command: list[str]) -> list[str]:
        return command

    def count_recorded(self, sandbox: Sandbox) -> int | None:
        return None

    def revert(self, sandbox: Sandbox, call_ids: Sequence[str], target: int) -> str | None:
        """Revert one action. Return None, or the reason why it was not reverted."""
        return "not offered"

    def close(self, sandbox: Sandbox) -> None:
        """Stop every process of it."""


class Chorus(Contender):
    name = "Chorus"

    def version(self) -> str:
        return __version__

    def start(self, sandbox: Sandbox) -> None:
        self._run(sandbox, "hooks", "install", "--user")
        self._run(sandbox, "hooks", "wake", str(sandbox.project / ".git"))
        deadline = time.monotonic() + READY_SECONDS
        while self._run(sandbox, "status", check=False).returncode:
            if time.monotonic() > deadline:
                raise RuntimeError("the watcher does not respond")

    def count_recorded(self, sandbox: Sandbox) -> int:
        entries = json.loads(self._run(sandbox, "log", "--json").stdout)
        return len({entry["commit"] for entry in entries if entry["commit"]})

    def revert(self, sandbox: Sandbox, call_ids: Sequence[str], target: int) -> str | None:
        done = self._run(sandbox, "revert", call_ids[target], check=False)
        return None if done.returncode == 0 else done.stderr.strip().split("\n")[0]

    def close(self, sandbox: Sandbox) -> None:
        self._run(sandbox, "stop", check=False)

    def _run(self, sandbox: Sandbox, *words: str, check: bool = True) -> CompletedProcess[str]:
        return sandbox.run(sys.executable, "-m", "chorus", *words, check=check)


class GitPerEdit(Contender):
    name = "git add + commit"

    def version(self) -> str:
        return Sandbox.of_checkout().run("git", "--version").stdout.split()[2]

    def settings(self, sandbox: Sandbox) -> str | None:
        return hook_after_each_call("git add -A && git commit -qm edit")

    def count_recorded(self, sandbox: Sandbox) -> int:
        root = sandbox.run("git", "rev-list", "--max-parents=0", "HEAD").stdout.strip()
        return len(sandbox.run("git", "rev-list", f"{root}..HEAD").stdout.split())

    def revert(self, sandbox: Sandbox, call_ids: Sequence[str], target: int) -> str | None:
        commits = sandbox.run("git", "rev-list", "--reverse", "HEAD").stdout.split()[1:]
        if target >= len(commits):
            return "it has no commit"
        done = sandbox.run("git", "revert", "--no-edit", commits[target], check=False)
        if done.returncode:
            sandbox.run("git", "revert", "--abort", check=False)
            return done.stderr.strip().split("\n")[0]
        return None
