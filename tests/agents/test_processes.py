import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus.agents.claude_code.processes import find_client, is_client, read_client
from chorus.model.ids import SessionId
from chorus.system.processes.processes import Process, read_process
from chorus.system.this_system import IS_LINUX
from tests.waiting import wait_for


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Process]:
    """A process that looks like the client from outside: its name, its directory, its home."""
    binary = tmp_path / "claude"
    shutil.copy("/bin/sleep", binary)
    work = tmp_path / "my.proj"
    work.mkdir()
    child = subprocess.Popen([binary, "60"], cwd=work, env={"HOME": str(tmp_path)})
    yield wait_for(lambda: _executed(child.pid))
    child.kill()
    child.wait()


def _executed(pid: int) -> Process | None:
    process = read_process(pid)
    # Its name is set a moment before its arguments and its environment.
    return process if process and process.name == "claude" and process.arguments else None


def config_of(tmp_path: Path) -> Path:
    (tmp_path / ".claude/sessions").mkdir(parents=True, exist_ok=True)
    (tmp_path / ".claude/projects").mkdir(exist_ok=True)
    return tmp_path / ".claude"


def test_the_session_is_read_from_the_clients_session_file(tmp_path: Path, client: Process) -> None:
    note = {"sessionId": "s-1", "cwd": "/somewhere/else", "procStart": client.started, "version": "2.1.191"}
    (config_of(tmp_path) / f"sessions/{client.pid}.json").write_text(json.dumps(note))
    found = read_client(client)
    assert found is not None
    assert (found.session, found.cwd, found.headless) == ("s-1", "/somewhere/else", False)
    assert found.transcript == tmp_path / ".claude/projects/-somewhere-else/s-1.jsonl"
    assert found.version == "2.1.191"


def test_a_running_client_is_found_by_its_session(
    tmp_path: Path, client: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    sessions = config_of(tmp_path) / "sessions"
    assert find_client(SessionId("s-1")) is None
    note = {"sessionId": "s-1", "procStart": client.started}
    (sessions / f"{client.pid}.json").write_text(json.dumps(note))
    (sessions / "other.json").write_text(json.dumps(note))
    (sessions / f"{2**22 + 1}.json").write_text(json.dumps(note))  # left by one that was killed
    assert find_client(SessionId("s-1")) == client
    assert find_client(SessionId("s-2")) is None


def test_a_session_file_of_an_earlier_process_with_the_same_id_is_ignored(
    tmp_path: Path, client: Process
) -> None:
    note = {"sessionId": "s-1", "procStart": "1"}
    file = config_of(tmp_path) / f"sessions/{client.pid}.json"
    file.write_text(json.dumps(note))
    if not IS_LINUX:  # the client's form of the start is not known there; the time of the file tells
        os.utime(file, (1, 1))
    found = read_client(client)
    assert found is not None
    assert found.session is None


@pytest.mark.parametrize("rubbish", ["", "[]", "{", '{"sessionId": 3}'])
def test_an_invalid_session_file_is_ignored(tmp_path: Path, client: Process, rubbish: str) -> None:
    (config_of(tmp_path) / f"sessions/{client.pid}.json").write_text(rubbish)
    found = read_client(client)
    assert found is not None
    assert (found.session, found.transcript) == (None, None)


def test_without_a_session_file_the_newest_transcript_since_the_start_is_used(
    tmp_path: Path, client: Process
) -> None:
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(tmp_path / "my.proj"))
    directory = config_of(tmp_path) / "projects" / slug
    directory.mkdir()
    (directory / "old.jsonl").touch()
    os.utime(directory / "old.jsonl", (1, 1))
    before = read_client(client)
    assert before is not None
    assert before.session is None
    (directory / "new.jsonl").touch()
    found = read_client(client)
    assert found is not None
    assert found.session == "new"


def test_a_process_that_is_gone_is_none(client: Process) -> None:
    gone = Process(2**22 - 1, "1", "claude", ("claude",), 1, 1)
    assert read_client(gone) is None


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("claude", ("claude",), True),
        ("claude", ("/opt/bin/claude", "-p", "hi"), True),
        ("node", ("node", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"), True),
        ("MainThread", ("/home/me/.local/bin/claude",), True),
        ("2.1.326", ("/Users/me/.local/share/claude/versions/2.1.326", "--resume"), True),
        ("bash", ("bash",), False),
        ("vim", ("vim", "claude"), False),
        ("node", ("node", "server.js"), False),
        ("", (), False),
    ],
)
def test_a_client_is_recognized_by_its_name(name: str, arguments: tuple[str, ...], expected: bool) -> None:
    assert is_client(Process(1, "1", name, arguments, 1, 1)) is expected
