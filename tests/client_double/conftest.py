"""The client double in a scratch project, headless or in a pane of its own tmux server."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.client_double.dialog_calls import APP
from tests.imitation import SOCKETS
from tests.lab.client import Run
from tests.lab.terminal import Pane, Terminal, terminal_fixture

ROOT = Path(__file__).parents[2]
Steps = Sequence[Mapping[str, Any]]


@dataclass(slots=True)
class ClientDouble:
    home: Path
    project: Path
    scratch: Path
    scripts: dict[str, Sequence[Steps]] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def keys(self) -> Path:
        return self.scratch / "keys.jsonl"

    def environment(self) -> dict[str, str]:
        script = self.scratch / "script.json"
        script.write_text(json.dumps({"scripts": self.scripts, **self.more}))
        return {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "PYTHONPATH": str(ROOT),
            **SOCKETS,
            "CLIENT_DOUBLE_SCRIPT": str(script),
            "CLIENT_DOUBLE_KEYS": str(self.keys),
        }

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "tests.client_double", *arguments]

    def headless(self, message: str, *arguments: str) -> Run:
        command = self.command("-p", message, "--output-format", "stream-json", "--verbose", *arguments)
        done = subprocess.run(
            command, cwd=self.project, env=self.environment(), capture_output=True, text=True, timeout=60
        )
        return Run(done.returncode, done.stdout, done.stderr)

    def interactive(self, terminal: Terminal, *arguments: str) -> Pane:
        pane = terminal.open(self.command(*arguments), cwd=self.project, environment=self.environment())
        pane.wait_for(r"─{10}\n❯\s")
        return pane

    def pressed(self) -> list[dict[str, Any]]:
        """Every read of the terminal, oldest first."""
        lines = self.keys.read_text().splitlines() if self.keys.exists() else []
        return [json.loads(line) for line in lines]

    def transcript(self) -> list[dict[str, Any]]:
        """The lines of the only session; none while they are not on disk."""
        paths = list((self.home / ".claude" / "projects").glob("*/*.jsonl"))
        assert len(paths) < 2
        return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "proj"
    project.mkdir()
    (project / "app.py").write_text(APP)
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run(["git", *command], cwd=project, check=True)
    return project


@pytest.fixture
def client_double(project: Path, sealed_environment: Path, tmp_path: Path) -> ClientDouble:
    return ClientDouble(sealed_environment, project, tmp_path)


terminal = terminal_fixture(width=100, height=36)
