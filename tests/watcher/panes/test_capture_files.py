"""A headless client outside tmux, followed through a file that another program writes."""

import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from chorus.commands.status import render
from chorus.model.api.json_api import PromptJson, SessionJson
from chorus.system.processes.processes import read_start
from chorus.wire.client import connect
from chorus.wire.home import Home
from chorus.wire.watcher_process import connect_or_start
from tests.agents.terminal.tmux_rows import capture
from tests.waiting import wait_for

SESSION = {"session_id": "s-capture"}
SECONDS = 60.0


class Writer:
    """A client that writes files, and the program that captures what it prints."""

    def __init__(self, project: Path, path: Path, wrap: Callable[[list[str]], str]) -> None:
        self.project, self.path, self._wrap = project, path, wrap
        self.lines: list[str] = []
        path.touch()
        self.say(type="system", subtype="init", cwd=str(project))

    def say(self, **event: Any) -> None:
        self.lines.append(json.dumps({**event, **SESSION, "uuid": str(uuid.uuid4())}))

    def append(self) -> None:
        with self.path.open("a") as file:
            file.write(self._wrap(self.lines))
        self.lines.clear()

    def replace(self) -> None:
        self.path.write_text(self._wrap(self.lines))

    def call(self, name: str) -> None:
        call = {"file_path": str(self.project / name), "content": f"{name} with  blanks {'and more ' * 9}\n"}
        block = {"type": "tool_use", "id": f"toolu_{name}", "name": "Write", "input": call}
        self.say(type="assistant", message={"id": name, "role": "assistant", "content": [block]})

    def ask(self, name: str) -> None:
        request = {"subtype": "can_use_tool", "tool_name": "Write", "tool_use_id": f"toolu_{name}"}
        asked = {**request, "input": {"file_path": str(self.project / name), "content": "text"}}
        self.say(type="control_request", request_id=f"r-{name}", request=asked)

    def finish(self, name: str) -> None:
        (self.project / name).write_text(f"{name} with  blanks {'and more ' * 9}\n")
        result = {"type": "tool_result", "tool_use_id": f"toolu_{name}", "content": "File written"}
        self.say(type="user", message={"role": "user", "content": [result]})


def unwrapped(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def at_width(width: int) -> Callable[[list[str]], str]:
    return lambda lines: capture(lines, width)


def attach(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "chorus", "attach", *words]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60, check=False)


def recorded(home: Home, project: Path) -> list[tuple[str, list[str]]]:
    with connect(home) as watcher:
        entries = watcher.ask("log", cwd=str(project), here=True)
    return [(entry["status"], entry["paths"]) for entry in entries if entry["paths"]]


def session(home: Home) -> SessionJson:
    with connect(home) as watcher:
        (found,) = watcher.ask("status")["sessions"]
    return found


def wait_called(home: Home) -> None:
    """Wait until the watcher knows of the call: it has read the file by then."""
    wait_for(lambda: session(home)["state"] == "working", what="the call", seconds=SECONDS)


@pytest.mark.parametrize("wrap", [unwrapped, at_width(37), at_width(80)])
def test_the_calls_of_a_growing_file_are_committed(
    home: Home, project: Path, tmp_path: Path, wrap: Callable[[list[str]], str]
) -> None:
    client = Writer(project, tmp_path / "log", wrap)
    client.call("before.txt")
    client.finish("before.txt")
    client.append()
    done = attach(project, "--capture", str(client.path))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{client.path}: 3 events so far, s-capture\n"
    for name in ("one.txt", "two.txt"):
        client.call(name)
        client.append()
        wait_called(home)
        client.finish(name)
        client.say(type="result", subtype="success", is_error=False, result="Done.")
        client.append()
        wait_for(lambda: session(home)["state"] == "idle", what=name, seconds=SECONDS)
    assert recorded(home, project) == [("committed", ["one.txt"]), ("committed", ["two.txt"])]
    found = session(home)
    assert (found["source"], found["capture"], found["gaps"]) == ("capture file", str(client.path), 0)
    with connect(home) as watcher:
        shown = "\n".join(render(watcher.ask("status"), ended=False))
    assert f"from {client.path}" in shown
    assert "read from capture file" in shown


def test_a_dump_that_is_written_again_and_again_is_read_once_and_gaps_are_counted(
    home: Home, project: Path, tmp_path: Path
) -> None:
    client = Writer(project, tmp_path / "dump", at_width(52))
    client.replace()
    assert attach(project, "--capture", str(client.path), "--width", "52").returncode == 0
    for name in ("one.txt", "two.txt"):
        client.call(name)
        client.replace()
        wait_called(home)
        client.finish(name)
        client.say(type="result", subtype="success", is_error=False, result="Done.")
        client.replace()
        wait_for(lambda: session(home)["state"] == "idle", what=name, seconds=SECONDS)
    assert recorded(home, project) == [("committed", ["one.txt"]), ("committed", ["two.txt"])]
    assert session(home)["gaps"] == 0

    later = Writer(project, client.path, at_width(52))
    later.replace()
    wait_for(lambda: session(home)["gaps"] == 1, what="the gap", seconds=SECONDS)
    with connect(home) as watcher:
        shown = "\n".join(render(watcher.ask("status"), ended=False))
    assert "output was cleared or scrolled away before it was read: 1 time" in shown

    client.path.unlink()
    wait_for(lambda: session(home)["state"] == "gone", what="the end", seconds=SECONDS)


def test_a_file_is_followed_by_the_next_watcher_unless_the_user_stopped_this_one(
    home: Home, project: Path, tmp_path: Path
) -> None:
    client = Writer(project, tmp_path / "log", unwrapped)
    client.append()
    assert attach(project, "--capture", str(client.path)).returncode == 0
    with connect(home) as watcher:
        pid = watcher.ask("hello")["pid"]
    os.kill(pid, signal.SIGKILL)
    client.call("one.txt")
    client.append()
    with connect_or_start(home):
        wait_called(home)
    client.finish("one.txt")
    client.append()
    wait_for(lambda: recorded(home, project) == [("committed", ["one.txt"])], what="it", seconds=SECONDS)
    subprocess.run([sys.executable, "-m", "chorus", "stop"], cwd=project, check=True, capture_output=True)
    assert not (home.root / "captures.json").exists()


def test_a_session_ends_with_its_client_and_is_back_with_the_next(
    home: Home, project: Path, tmp_path: Path
) -> None:
    client = Writer(project, tmp_path / "log", unwrapped)
    client.append()
    with registered_client():
        assert attach(project, "--capture", str(client.path)).returncode == 0
        client.call("one.txt")
        client.append()
        wait_called(home)
    wait_for(lambda: session(home)["state"] == "gone", what="the end of a killed client", seconds=SECONDS)
    with registered_client() as resumed:
        client.say(type="system", subtype="init", cwd=str(project))
        client.append()
        wait_called(home)
        resumed.kill()
        resumed.wait()
        # Written a moment after the end of the client, by the program that captures its output.
        client.say(type="result", subtype="success", is_error=False, result="Done.")
        client.append()
        answers = [("failed", None), ("done", "Done.")]
        wait_for(lambda: turns(home) == answers, what="the result", seconds=SECONDS)
    wait_for(lambda: session(home)["state"] == "gone", what="the end", seconds=SECONDS)
    assert turns(home) == answers


def test_a_session_ends_when_script_closes_its_file(home: Home, project: Path, tmp_path: Path) -> None:
    client = Writer(project, tmp_path / "log", unwrapped)
    client.append()
    assert attach(project, "--capture", str(client.path)).returncode == 0
    client.say(type="result", subtype="success", is_error=False, result="Done.")
    client.append()
    wait_for(lambda: session(home)["state"] == "idle", what="the result", seconds=SECONDS)
    with connect(home) as watcher:
        shown = "\n".join(render(watcher.ask("status"), ended=False))
    assert f"read from capture file, last event {session(home)['last']}" in shown
    # Nobody knows this client: it may go on.
    with client.path.open("a") as file:
        file.write('\nScript done on 2026-11-18 17:30:00+00:00 [COMMAND_EXIT_CODE="0"]\n')
    wait_for(lambda: session(home)["state"] == "gone", what="the end", seconds=SECONDS)
    client.call("one.txt")  # `script --append`
    client.append()
    wait_called(home)


def turns(home: Home) -> list[tuple[str, str | None]]:
    with connect(home) as watcher:
        return [(turn["state"], turn["answer"]) for turn in watcher.ask("turns")]


@contextmanager
def registered_client() -> Iterator[subprocess.Popen[bytes]]:
    """A process that the user's configuration names as the client of the session."""
    process = subprocess.Popen(["sleep", "600"])
    sessions = Path(os.environ["HOME"]) / ".claude" / "sessions"
    sessions.mkdir(parents=True, exist_ok=True)
    note = {"sessionId": SESSION["session_id"], "procStart": read_start(process.pid)}
    (sessions / f"{process.pid}.json").write_text(json.dumps(note))
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_file_that_is_not_a_capture_is_refused(home: Home, project: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    missing = attach(project, "--capture", str(tmp_path / "none"))
    assert (missing.returncode, "file not found" in missing.stderr) == (3, True)
    for path in (tmp_path, tmp_path / "pipe"):
        refused = attach(project, "--capture", str(path))
        assert (refused.returncode, "is not a regular file" in refused.stderr) == (4, True)
    for words in (["--width", "80"], ["%1", "--capture", "x"], ["--hooks", "--capture", "x"]):
        assert attach(project, *words).returncode == 2


def pending(home: Home) -> list[PromptJson]:
    with connect(home) as watcher:
        found: list[PromptJson] = watcher.ask("prompts")
    return found


def wait_pending(home: Home, count: int) -> list[PromptJson]:
    wait_for(lambda: len(pending(home)) == count, what=f"{count} prompts", seconds=SECONDS)
    return pending(home)


def approve(project: Path, prompt: PromptJson) -> tuple[int, str]:
    command = [sys.executable, "-m", "chorus", "approve", prompt["id"]]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("wrap", [unwrapped, at_width(37)])
def test_prompts_are_shown_and_answered_where_the_client_runs(
    home: Home, project: Path, tmp_path: Path, wrap: Callable[[list[str]], str]
) -> None:
    client = Writer(project, tmp_path / "log", wrap)
    client.call("before.txt")
    client.ask("before.txt")  # is pending when the file begins to be followed
    client.append()
    assert attach(project, "--capture", str(client.path)).returncode == 0
    (first,) = wait_pending(home, 1)
    assert (first["tool"], first["session"], first["pane"]) == ("Write", "s-capture", None)
    assert first["options"] == []
    assert str(client.path) in first["question"]
    code, error = approve(project, first)
    assert (code, "Chorus can only read this client's output" in error) == (6, True), error
    assert pending(home) == [first]
    client.finish("before.txt")
    client.append()
    wait_pending(home, 0)

    client.say(type="permission_request", prompt="Allow Claude to execute 'rm -rf build'?")
    client.append()
    (second,) = wait_pending(home, 1)
    assert "rm -rf build" in f"{second['title']} {second['body']} {second['question']}"
    client.call("after.txt")  # the user has answered
    client.append()
    wait_pending(home, 0)

    client.ask("after.txt")
    client.append()
    wait_pending(home, 1)
    client.path.unlink()
    wait_pending(home, 0)
