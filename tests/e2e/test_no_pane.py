"""A client in no tmux pane: a plain terminal, a background session, an editor's stream. Hooks report it."""

import contextlib
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil
import pytest

from chorus.errors import ExitCode
from chorus.wire.home import find_home
from chorus.wire.watcher_process import connect_or_start, stop
from tests.e2e.asked_session import SECONDS, answer_prompt, command, next_prompt, no_prompt
from tests.e2e.scenarios import bash, in_directory, write
from tests.e2e.watched_session import WatchedSession
from tests.lab.client import Client
from tests.lab.script import Step, Text
from tests.lab.terminal import Terminal
from tests.waiting import wait_for

pytestmark = pytest.mark.client

DEFAULT = ("--permission-mode", "default")


@pytest.fixture
def watched(client: Client, terminal: Terminal) -> Iterator[WatchedSession]:
    watched = WatchedSession(client, terminal)
    assert command(watched, "hooks", "install")[0] == ExitCode.OK
    connect_or_start(find_home(client.project)).close()
    yield watched
    stop(find_home(client.project))


def prepare(watched: WatchedSession, message: str) -> None:
    """Two files: the first is approved, the second denied."""
    turns: list[list[Step]] = [
        [write("one.txt", "one\n")],
        [write("two.txt", "two\n")],
        [bash("touch three")],
        [Text("Done.")],
    ]
    watched.client.model_server.scripts[message] = [
        [in_directory(step, watched.project) for step in turn] for turn in turns
    ]


def answer_all(watched: WatchedSession) -> None:
    """Answer the three prompts through the hook, and check what came of it."""
    one = next_prompt(watched)
    assert (one["tool"], one["pane"]) == ("Write", None)
    assert answer_prompt(watched, "approve", one)["how"] == "hook"
    two = next_prompt(watched, but=one["id"])
    assert answer_prompt(watched, "deny", two, "--message", "not two")["how"] == "hook"
    three = next_prompt(watched, but=two["id"])
    assert answer_prompt(watched, "approve", three)["how"] == "hook"
    no_prompt(watched)

    def recorded() -> bool:
        found = [(entry["tool"], entry["status"], entry["paths"]) for entry in watched.actions()]
        return found == [
            ("Write", "committed", ["one.txt"]),
            ("Write", "denied", ["two.txt"]),
            ("Bash", "committed", ["three"]),
        ]

    wait_for(recorded, what="all is recorded", seconds=SECONDS, every=0.1)
    assert (watched.project / "one.txt").read_text() == "one\n"
    assert not (watched.project / "two.txt").exists()


# The terminal of standard input becomes that of the program.
IN_TERMINAL = "import os, sys; os.login_tty(0); os.execv(sys.argv[1], sys.argv[1:])"


@contextmanager
def plain_terminal(watched: WatchedSession, *arguments: str) -> Iterator[int]:
    """The client in a terminal that is no pane; gives its other end."""
    here, there = pty.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("4H", 40, 120, 0, 0))
    client = subprocess.Popen(
        [sys.executable, "-c", IN_TERMINAL, *watched.client.command(*arguments)],
        cwd=watched.project, env=watched.client.environment(), stdin=there, stdout=there, stderr=there,
    )  # fmt: skip
    os.close(there)
    try:
        yield here
    finally:
        client.kill()
        client.wait()
        os.close(here)


class Reader:
    """Reads a terminal all the time, as one that shows it does."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._shown = b""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._descriptor, 65536)
            except OSError:
                return
            self._shown += data

    def wait_for(self, pattern: bytes) -> None:
        wait_for(
            lambda: re.search(pattern, self._shown), what=f"{pattern!r} is shown", seconds=SECONDS, every=0.05
        )


def test_a_client_in_a_plain_terminal_is_recorded_and_asked(watched: WatchedSession) -> None:
    prepare(watched, "go")
    with plain_terminal(watched, *DEFAULT) as terminal:
        reader = Reader(terminal)
        reader.wait_for("❯".encode())
        os.write(terminal, b"go")
        reader.wait_for(rb"go")
        os.write(terminal, b"\r")
        answer_all(watched)


def test_a_background_session_is_recorded_and_asked(watched: WatchedSession) -> None:
    # By itself the client lets a background session write in a work tree of its own only.
    settings = watched.client.home / ".claude" / "settings.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"worktree": {"bgIsolation": "none"}}))
    prepare(watched, "go")
    run_client(watched, "--bg", *DEFAULT, "go")
    try:
        next_prompt(watched)
        # The client lists that it waits a moment after it asks.
        listed = wait_for(
            lambda: listed_waiting(watched), what="the session in the list", seconds=SECONDS, every=0.1
        )
        assert (listed["kind"], listed["waitingFor"]) == ("background", "permission prompt")
        assert "Write" in command(watched, "inbox", "--plain")[1]
        answer_all(watched)
        check_doctor(watched, listed["sessionId"])
        run_client(watched, "stop", listed["id"])
    finally:
        end_service(watched)


def listed_waiting(watched: WatchedSession) -> dict[str, Any] | None:
    """The only session that the client lists, once it says for what it waits."""
    (listed,) = json.loads(run_client(watched, "agents", "--json"))
    return listed if "waitingFor" in listed else None


def run_client(watched: WatchedSession, *arguments: str) -> str:
    done = subprocess.run(
        watched.client.command(*arguments), cwd=watched.project, env=watched.client.environment(),
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=SECONDS, check=True,
    )  # fmt: skip
    return done.stdout


def end_service(watched: WatchedSession) -> None:
    """End what serves background sessions: it stays, and is known by its home."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("HOME") == str(watched.client.home) and "claude" in process.name():
                process.kill()


def check_doctor(watched: WatchedSession, session: str) -> None:
    stdout = command(watched, "doctor", "--json")[1]
    sessions = next(check for check in json.loads(stdout)["checks"] if check["name"] == "sessions")
    assert f"No tmux pane for {session[:8]}: Chorus sees only the prompts that the hook" in sessions["detail"]


def test_a_client_in_an_editor_is_recorded_and_asked(watched: WatchedSession) -> None:
    prepare(watched, "go")
    options = ("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
    with watched.client.start(*options, "--permission-prompt-tool", "stdio", *DEFAULT) as client:
        assert client.stdin is not None
        message = {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "go"}]}}
        client.stdin.write(json.dumps(message) + "\n")
        client.stdin.flush()
        answer_all(watched)
        client.stdin.close()
        client.wait()
