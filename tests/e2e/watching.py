"""Sessions as people run them, each watched in one of the ways Chorus knows, and what it then says."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.scenarios import Expected, Say, Scenario, UserWrites
from tests.lab.client import INPUT_BOX, Client, say
from tests.lab.script import Text
from tests.lab.terminal import Pane, Terminal
from tests.waiting import wait_for

ROOT = Path(__file__).parent.parent.parent
# Everything is allowed: these tests are about what is recorded, not about what is asked.
ALLOW = ("--permission-mode", "bypassPermissions")


@dataclass(slots=True)
class Watching:
    """A project, a client, a terminal, and `chorus` as a person types it there."""

    client: Client
    terminal: Terminal
    pane: Pane | None = None
    run: str | None = None
    ended: int = field(default=0)

    @property
    def project(self) -> Path:
        return self.client.project

    def environment(self) -> dict[str, str]:
        programs = self.client.home / "bin"
        programs.mkdir(exist_ok=True)
        if not (programs / "claude").exists():
            (programs / "claude").symlink_to(self.client.binary)
        given = self.client.environment()
        return {**given, "PATH": f"{programs}:{given['PATH']}", "PYTHONPATH": str(ROOT)}

    def chorus(self, *words: str) -> Any:
        """Run a command; its JSON answer."""
        done = subprocess.run(
            [sys.executable, "-m", "chorus", words[0], "--json", *words[1:]],
            cwd=self.project,
            env={**self.environment(), "TMUX_TMPDIR": os.environ.get("TMUX_TMPDIR", "/tmp")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, f"chorus {words}: {done.stderr}"
        return json.loads(done.stdout)

    def log(self, *options: str) -> list[dict[str, Any]]:
        return list(self.chorus("log", *options))

    def actions(self) -> list[dict[str, Any]]:
        return [entry for entry in self.log() if entry["tool"] != "Read"]

    def start_hooked(self, *arguments: str) -> None:
        """`chorus claude` in a pane."""
        command = [sys.executable, "-m", "chorus", "claude", "--no-panel", "--", *ALLOW, *arguments]
        self.pane = self.terminal.open(command, cwd=self.project, environment=self.environment())
        self.pane.wait_for(INPUT_BOX)

    def start_adopted(self, *arguments: str) -> None:
        """The client by itself, then `chorus attach`."""
        self.pane = self.client.interactive(self.terminal, *ALLOW, *arguments)
        self.chorus("attach", "-L", self.terminal.name)

    def start_headless(self) -> None:
        """Nothing yet: the first message starts the run."""

    def say(self, step: Say) -> None:
        self.client.stub.scripts[step.message] = step.script
        if self.pane is None:
            self._say_headless(step.message)
        else:
            say(self.pane, step.message)
        last = step.script[-1][-1]
        assert isinstance(last, Text), "every script ends with a text"
        self.wait_for_answer(last.text)

    def _say_headless(self, message: str) -> None:
        if self.run is None:
            started = self.chorus("run", message, "-L", self.terminal.name, "--", *ALLOW)
            self.run = started["run"]
            return
        subprocess.run(
            [sys.executable, "-m", "chorus", "send", message],
            cwd=self.project,
            env=self.environment(),
            check=True,
        )

    def wait_for_answer(self, text: str) -> None:
        """Until the model was asked again after the last tool, and its closing words are out."""
        if self.pane is not None:
            self.pane.wait_for("● " + re.escape(text))
            self.pane.wait_for(INPUT_BOX)
            return
        wait_for(lambda: self._turns_ended() > self.ended, what="the end of the turn")
        self.ended += 1

    def _turns_ended(self) -> int:
        """How many turns of the headless run have ended, by what stands in its pane."""
        panes = self.terminal.tmux("list-panes", "-a", "-F", "#{pane_id}").split()
        text = "".join(
            self.terminal.tmux("capture-pane", "-p", "-J", "-S", "-", "-t", pane) for pane in panes
        )
        return text.count('"type":"result"')


def play(watching: Watching, scenario: Scenario) -> None:
    for step in scenario.steps:
        match step:
            case Say():
                watching.say(step)
            case UserWrites(path, text):
                watching.log()  # the person writes when the agent is done, and takes a moment
                (watching.project / path).write_text(text)


def expect_recorded(watching: Watching, expected: Sequence[Expected], *, skip: int) -> None:
    """After so many others the log holds exactly these, each with exactly its change on the lane."""
    wanted = [(one.tool, one.status) for one in expected]
    found: list[dict[str, Any]] = []

    def recorded() -> bool:
        found[:] = watching.actions()[skip:]
        return [(entry["tool"], entry["status"]) for entry in found] == wanted

    try:
        wait_for(recorded)
    except AssertionError:
        seen = [(entry["tool"], entry["status"], entry["paths"]) for entry in found]
        raise AssertionError(f"the log holds {seen}, not {wanted}") from None
    for entry, one in zip(found, expected, strict=True):
        expect_change(watching.project, entry, one)


def run_git(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], cwd=project, capture_output=True, text=True)


def expect_change(project: Path, entry: dict[str, Any], wanted: Expected) -> None:
    assert sorted(entry["paths"]) == sorted(wanted.after) or wanted.status == "failed"
    for path, text in wanted.after.items():
        shown = run_git(project, "show", f"{entry['commit']}:{path}")
        assert (shown.stdout if shown.returncode == 0 else None) == text, entry
    if wanted.after:
        options = ("--no-commit-id", "--root", "-r", "--name-only")
        names = run_git(project, "diff-tree", *options, entry["commit"]).stdout.split()
        assert sorted(names) == sorted(wanted.after)


MODES: dict[str, Callable[[Watching], None]] = {
    "hooked": Watching.start_hooked,
    "adopted": Watching.start_adopted,
    "headless": Watching.start_headless,
}
