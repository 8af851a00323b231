"""The mod's requests over the socket, against a running watcher."""

import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from chorus.system.socket_path import short_path
from chorus.wire.client import connect
from chorus.wire.home import Home, find_home
from chorus.wire.watcher_process import connect_or_start, stop
from tests.waiting import wait_for


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("chorus", timeout=20)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        with short_path(self.path) as path:
            self.sock.connect(path)


class Mod:
    """What the client's mod does, without a client."""

    def __init__(self, home: Home, project: Path) -> None:
        self.project = project
        self.connection = UnixConnection(home.socket)
        self.session = {
            "session_id": "s1",
            "transcript_path": str(project / "none.jsonl"),
            "cwd": str(project),
        }

    def post(self, path: str, body: object) -> dict[str, Any]:
        self.connection.request("POST", path, json.dumps(body))
        value = json.loads(self.connection.getresponse().read())
        assert isinstance(value, dict)
        return value

    def hook(self, event: str, **more: object) -> dict[str, Any]:
        return self.post(
            "/report", {"event": "hook", "hook": {**self.session, "hook_event_name": event, **more}}
        )

    def call(self, event: str, identity: str, name: str, **more: object) -> dict[str, Any]:
        call = {"session": self.session, "tool": "Write", "call": identity}
        tool_input = {"file_path": str(self.project / name), "content": "x\n"}
        return self.post("/report", {"event": event, **call, "input": tool_input, **more})


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    project = tmp_path / "p"
    project.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    return project


@pytest.fixture
def mod(project: Path) -> Iterator[Mod]:
    home = find_home(project)
    with connect_or_start(home):
        pass
    mod = Mod(home, project)
    yield mod
    mod.connection.close()
    stop(home)


def entries(project: Path) -> list[tuple[str | None, str, str | None]]:
    with connect(find_home(project)) as watcher:
        return [
            (entry["id"], entry["status"], entry["source"])
            for entry in watcher.ask("log", cwd=str(project))
            if entry["status"] != "outside"
        ]


def test_calls_are_recorded_from_the_mods_reports(mod: Mod, project: Path) -> None:
    assert mod.hook("SessionStart", source="startup") == {"alone": True}
    mod.hook("UserPromptSubmit", prompt="write", prompt_id="p1")
    mod.call("before", "c1", "a.txt", time=10**15)
    (project / "a.txt").write_text("x\n")
    done = mod.call("after", "c1", "a.txt", result={"type": "create", "originalFile": None})
    assert done == {"number": 1, "alone": True}
    mod.call("before", "c2", "b.txt")
    mod.call("after", "c2", "b.txt", isError=True, text="no")
    assert sorted(entries(project), key=str) == [("c1", "committed", "mod"), ("c2", "failed", "mod")]

    row = {"n": 1, "id": "c1", "text": "Write a.txt", "status": "committed", "open": True}
    assert mod.post("/open", {"cwd": str(project)}) == {"open": 1, "actions": [row]}
    assert mod.post("/open", {"cwd": "/"}) == {"open": 0, "actions": []}


def test_an_edit_that_is_reported_at_its_end_alone_is_told_from_the_users(mod: Mod, project: Path) -> None:
    path = project / "a.txt"
    mod.hook("SessionStart", source="startup")
    path.write_text("one\ntwo\nthree\n")
    with connect(find_home(project)) as watcher:
        wait_for(lambda: watcher.ask("log", cwd=str(project), outside=True), what="the file")
    mod.hook("UserPromptSubmit", prompt="edit", prompt_id="p1")
    mod.call("before", "c1", "b.txt", time=10**15)
    (project / "b.txt").write_text("x\n")
    assert mod.call("after", "c1", "b.txt", result={"type": "create", "originalFile": None})["alone"]
    path.write_text("one\ntwo\nTHREE\n")  # the user, in the moment before the edit
    for number, (old, new) in enumerate([("one", "1"), ("1", "I"), ("I", "i")], 2):
        path.write_text((before := path.read_text()).replace(old, new))
        tool_input = {"file_path": str(path), "old_string": old, "new_string": new}
        result = {"filePath": str(path), "oldString": old, "newString": new, "originalFile": before}
        done = {"tool": "Edit", "input": tool_input, "result": {**result, "replaceAll": False}}
        mod.call("after", f"c{number}", "a.txt", **done)

    def changes() -> list[tuple[str | None, int | None, int | None]]:
        with connect(find_home(project)) as watcher:
            log = watcher.ask("log", cwd=str(project), outside=True)
        return [
            (entry["id"], entry["added"], entry["removed"]) for entry in log if entry["paths"] == ["a.txt"]
        ]

    wait_for(lambda: len(changes()) >= 4, what="the edits")
    assert changes()[-4:] == [(None, 1, 1), ("c2", 1, 1), ("c3", 1, 1), ("c4", 1, 1)]


@contextmanager
def other_client(mod: Mod, session: str = "s2") -> Iterator[str]:
    """Another process that starts a session; what the watcher replied to it."""
    hook = {**mod.session, "session_id": session, "hook_event_name": "SessionStart", "source": "startup"}
    body = json.dumps({"event": "hook", "hook": hook})
    request = f"POST /report HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    program = (
        "import os, socket, sys\n"
        "os.chdir(sys.argv[1]); one = socket.socket(socket.AF_UNIX)\n"
        "one.connect('watcher.sock'); one.sendall(sys.argv[2].encode())\n"
        "print(repr(one.recv(1000)), flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(mod.connection.path.parent), request],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdout.readline()
        process.stdin.close()


def test_a_session_is_not_alone_beside_a_command_or_another_session(mod: Mod, project: Path) -> None:
    assert mod.hook("SessionStart", source="startup")["alone"]
    mod.hook("UserPromptSubmit", prompt="write", prompt_id="p1")
    command = {"tool": "Bash", "input": {"command": "sleep 1"}}
    assert "alone" not in mod.call("before", "c1", "", **command)
    assert mod.call("after", "c1", "", result={"stdout": ""}, **command)["alone"]
    with other_client(mod) as other:
        assert '"alone"' not in other
        assert "alone" not in mod.call("after", "c2", "b.txt", isError=True, text="no")


def test_a_session_is_not_alone_while_another_client_is_in_it(mod: Mod) -> None:
    assert mod.hook("SessionStart", source="startup")["alone"]
    with other_client(mod, mod.session["session_id"]) as other:
        assert '"alone"' not in other
        assert "alone" not in mod.hook("UserPromptSubmit", prompt="write", prompt_id="p1")


def test_rubbish_ends_the_connection_and_nothing_else(mod: Mod, project: Path) -> None:
    for rubbish in (
        b"POST /report HTTP/1.1\r\nContent-Length: 3\r\n\r\n[1]",
        b"POST / HTTP\r\n" * 200,
        b"POST /report HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
    ):
        with socket.socket(socket.AF_UNIX) as raw:
            with short_path(find_home(project).socket) as path:
                raw.connect(path)
            raw.sendall(rubbish)
            raw.shutdown(socket.SHUT_WR)
            while raw.recv(1000):
                pass
    assert mod.post("/new", {}) == {}
    assert mod.post("/answer", {"request": 7}) == {}
    assert mod.post("/report", {"event": "new"}) == {}
    assert entries(project) == []


def ask(mod: Mod, identity: str = "c1") -> int:
    mod.hook("UserPromptSubmit", prompt="write", prompt_id="p1")
    mod.call("before", identity, "a.txt")
    reply = mod.hook(
        "PermissionRequest",
        tool_name="Write",
        tool_input={"file_path": str(mod.project / "a.txt"), "content": "x\n"},
        tool_use_id=identity,
    )
    return int(reply["request"])


def test_an_answer_reaches_the_poll_of_the_mod(mod: Mod, project: Path) -> None:
    number = ask(mod)
    answers: list[dict[str, Any]] = []
    poll = threading.Thread(target=lambda: answers.append(mod.post("/answer", {"request": number})))
    poll.start()
    with connect(find_home(project)) as watcher:
        (prompt,) = watcher.ask("prompts")
        named = {"prompt": prompt["id"], "fingerprint": prompt["fingerprint"]}
        sent = watcher.request("answer", {**named, "decision": "allow"})
        assert sent["how"] == "mod"
        assert watcher.request("prompts", {}) == []
    poll.join(20)
    (answer,) = answers
    assert answer["decision"]["behavior"] == "allow"
    assert mod.post("/answer", {"request": number}) == {}


def test_a_call_that_ends_withdraws_the_request(mod: Mod, project: Path) -> None:
    number = ask(mod)
    mod.call("after", "c1", "a.txt", result={})
    assert mod.post("/answer", {"request": number}) == {"again": False}
    with connect(find_home(project)) as watcher:
        assert watcher.ask("prompts") == []


def test_with_keys_alone_nothing_is_held_that_a_key_can_answer(
    mod: Mod, project: Path, tmp_path: Path
) -> None:
    config = tmp_path / "config" / "chorus" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('relay = "keys"\n')
    mod.call("before", "c1", "a.txt")
    asked = {"tool_name": "Write", "tool_input": {"file_path": str(project / "a.txt")}, "tool_use_id": "c1"}
    assert "request" in mod.hook("PermissionRequest", **asked)  # no pane, no keys
    event = {**mod.session, "hook_event_name": "PermissionRequest", **asked}
    assert "request" not in mod.post("/report", {"event": "hook", "hook": event, "pane": "%1"})


def test_the_client_is_the_process_at_the_other_end(mod: Mod, project: Path) -> None:
    mod.hook("SessionStart", source="startup")
    with connect(find_home(project)) as watcher:

        def client() -> str:
            (session,) = watcher.ask("sessions")
            return session["client"] or ""

        wait_for(lambda: client().startswith(f"{os.getpid()}:"), what="the client's process")


def test_a_revert_stays_although_an_edit_of_which_only_the_end_is_reported_overwrites_it(
    mod: Mod, project: Path
) -> None:
    mod.hook("UserPromptSubmit", prompt="Go", prompt_id="p1")
    path, home = project / "n.txt", find_home(project)
    mod.call("before", "toolu_1", "n.txt", time=int(time.time() * 1000))
    path.write_text("one\ntwo\nthree\n")
    mod.call("after", "toolu_1", "n.txt", result={"filePath": str(path), "type": "create"})
    mod.call("before", "toolu_2", "n.txt", time=int(time.time() * 1000))
    path.write_text("ONE\ntwo\nthree\n")
    mod.call("after", "toolu_2", "n.txt", result={"filePath": str(path)})
    stale = path.read_text()

    def overwrite() -> None:
        wait_for(lambda: path.read_text() != stale, what="the revert")
        path.write_text(stale.replace("three", "THREE"))

    client = threading.Thread(target=overwrite)
    client.start()
    with connect(home) as watcher:
        watcher.ask("revert", actions=["2"], cwd=str(project))
    client.join()
    assert path.read_text() == "one\ntwo\nTHREE\n"
