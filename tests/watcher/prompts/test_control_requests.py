"""A headless session waits for an answer while the watcher is killed and restarted."""

import os
import signal
import sys
from pathlib import Path

import pytest

from chorus.model.api.json_api import PromptJson
from chorus.model.api.requests import Decision
from chorus.wire.client import connect
from chorus.wire.handover import write_environment
from chorus.wire.home import Home
from chorus.wire.watcher_process import connect_or_start, has_watcher
from tests.client_double.conftest import ClientDouble
from tests.lab.terminal import Pane, Terminal, terminal_fixture, wait_until
from tests.waiting import wait_for
from tests.watcher.asking_client import write

terminal = terminal_fixture(width=70, height=20)
SECONDS = 60.0
WAIT = "until test -e gate; do sleep 0.02; done"
STREAMS = "--input-format stream-json --output-format stream-json"
HEADLESS = f"-p --verbose {STREAMS} --permission-prompt-tool stdio --permission-mode default"


@pytest.fixture
def pane(client_double: ClientDouble, terminal: Terminal, home: Home) -> Pane:
    """A run that writes two files and waits for a third, each when it is allowed to."""
    wait = {"tool": "Bash", "input": {"command": WAIT}}
    client_double.scripts = {"go": [[write("one.txt")], [write("two.txt")], [wait], [{"say": "All said."}]]}
    home.root.mkdir(parents=True)
    pipe = home.root / "run-1.in"
    os.mkfifo(pipe, 0o600)
    environment = str(write_environment(home, client_double.environment()))
    feeder = [sys.executable, "-P", "-m", "chorus.watcher.panes.stdin_feeder", str(pipe), environment]
    command = [*feeder, *client_double.command(*HEADLESS.split())]
    pane = terminal.open(command, cwd=client_double.project, environment=client_double.environment())
    with connect_or_start(home) as watcher:
        watcher.ask("watch", socket=str(terminal.socket()), pane=pane.id, run="run-1", pipe=str(pipe))
        watcher.ask("send", run="run-1", message="go")
    return pane


def waiting(home: Home, *, about: str) -> PromptJson:
    def look() -> PromptJson | None:
        with connect(home) as watcher:
            return next((p for p in watcher.ask("prompts") if _about(p) == about), None)

    return wait_for(look, what=f"a prompt about {about}", seconds=SECONDS)


def _about(prompt: PromptJson) -> str:
    return Path((prompt["input"] or {}).get("file_path", "gate")).name


def answer(home: Home, prompt: PromptJson, decision: Decision) -> None:
    with connect(home) as watcher:
        watcher.ask("answer", prompt=prompt["id"], fingerprint=prompt["fingerprint"], decision=decision)


def kill_watcher(home: Home) -> None:
    os.kill(int(home.lock.read_text()), signal.SIGKILL)
    wait_until(lambda: not has_watcher(home), what="the watcher is gone")
    connect_or_start(home).close()


def listed(home: Home) -> list[str]:
    with connect(home) as watcher:
        return [_about(prompt) for prompt in watcher.ask("prompts")]


def answers(home: Home) -> list[str]:
    with connect(home) as watcher:
        return [entry["answer"] for entry in watcher.ask("audit")]


def test_a_control_request_survives_the_watcher_and_is_answered_once(
    pane: Pane, home: Home, client_double: ClientDouble, terminal: Terminal
) -> None:
    before = waiting(home, about="one.txt")
    terminal.tmux("send-keys", "-R", "-t", pane.id)
    terminal.tmux("clear-history", "-t", pane.id)  # nor is it to be read there any more
    kill_watcher(home)
    again = waiting(home, about="one.txt")
    assert again["session"] == before["session"]
    assert listed(home) == ["one.txt"]
    answer(home, again, "allow")

    waiting(home, about="two.txt")
    assert (client_double.project / "one.txt").exists()
    kill_watcher(home)
    second = waiting(home, about="two.txt")
    assert listed(home) == ["two.txt"]
    answer(home, second, "deny")

    answer(home, waiting(home, about="gate"), "allow")
    kill_watcher(home)
    for _ in range(20):
        assert listed(home) == []  # though the command runs, and the pane shows that it was asked about
    (client_double.project / "gate").touch()
    wait_for(lambda: "All said." in str(client_double.transcript()), what="the end", seconds=SECONDS)
    assert answers(home) == ["allow", "deny", "allow"]
    assert not (client_double.project / "two.txt").exists()
