"""The real Claude Code client from the SDK's wheel, with its own home and environment."""

import json
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chorus.demo.model_server.server import ModelServer
from chorus.demo.real_client import client_environment, find_bundled
from chorus.demo.real_client import prepare_home as prepare
from tests.lab.terminal import Pane, Terminal

CLIENT_VARIABLE = "TEST_CLIENT"
# A whole headless run takes about a second; a busy machine may need many.
RUN_TIMEOUT_SECONDS = 60.0
# The mark of the input box below its rule, which may carry the session's name; a dialog shows the same mark
# before an option.
INPUT_BOX = r"─{10}(?: [^\n]+ ─+)?\n❯\s"
# 2.1.191 may leave a sent message in the box when a background task ends at that moment.
LEFT_OVER = rf"{INPUT_BOX}\S"


def find_client() -> Path | None:
    """The client of the SDK's wheel, or the one that TEST_CLIENT names, such as an older one."""
    named = os.environ.get(CLIENT_VARIABLE)
    if named:
        return Path(named)
    return find_bundled()


def read_version(client: Path) -> str:
    done = subprocess.run([client, "--version"], capture_output=True, text=True, check=True)
    return done.stdout.split()[0]


@dataclass(frozen=True, slots=True)
class Run:
    """A finished headless run."""

    code: int
    stdout: str
    stderr: str

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stdout.splitlines() if line.startswith("{")]


@dataclass(slots=True)
class Client:
    """How to start the client: binary, home, project and model."""

    binary: Path
    home: Path
    project: Path
    model_server: ModelServer
    extra_environment: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """The whole environment of the client; only PATH is inherited."""
        return {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            **client_environment(self.model_server.url),
            **self.extra_environment,
        }

    def command(self, *arguments: str) -> list[str]:
        return [str(self.binary), *arguments]

    def headless(self, message: str, *arguments: str, cwd: Path | None = None) -> Run:
        """Run `claude -p` to the end, with its events on stdout."""
        command = self.command("-p", message, "--output-format", "stream-json", "--verbose", *arguments)
        done = subprocess.run(
            command,
            cwd=cwd or self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_TIMEOUT_SECONDS,
        )
        return Run(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str, cwd: Path | None = None) -> subprocess.Popen[str]:
        """Start the client with open pipes, to feed, watch or kill it while it runs."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=cwd or self.project,
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def interactive(self, terminal: Terminal, *arguments: str, cwd: Path | None = None) -> Pane:
        """Start the client in a pane and wait until it accepts a message."""
        pane = terminal.open(
            self.command(*arguments), cwd=cwd or self.project, environment=self.environment()
        )
        pane.wait_for(INPUT_BOX)
        return pane


def say(pane: Pane, message: str) -> None:
    """Type a message into the input box, wait until it shows, and send it."""
    if re.search(LEFT_OVER, pane.screen()):
        pane.press("C-u")
    pane.type(message)
    # The box has a no-break space after its mark, and wraps long text.
    pane.wait_for(r"❯\s" + re.escape(message[:40]))
    pane.press("Enter")


def prepare_home(home: Path, projects: Sequence[Path], *, version: str) -> None:
    """Write a home in which this version of the client asks nothing at its start."""
    home.mkdir(parents=True, exist_ok=True)
    prepare(home, projects, lastOnboardingVersion=version)
