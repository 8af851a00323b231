"""Sessions with hooks that are alone: of their edits only the end is reported."""

import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chorus.wire.client import connect
from chorus.wire.home import Home, find_home
from chorus.wire.watcher_process import connect_or_start, stop
from tests.waiting import wait_for
from tests.watcher.hook_events import HookEvents


class HookedClient:
    """A client that reports by hooks; this process, or another one."""

    def __init__(self, home: Home, project: Path, pid: int, session: str = "s1") -> None:
        self.home, self.project, self.pid = home, project, pid
        self.hooks = HookEvents(home, client=pid)
        self.common = {
            "session_id": session,
            "transcript_path": str(project.parent / f"{session}.jsonl"),
            "cwd": str(project),
            "permission_mode": "acceptEdits",
        }

    def tell(self, name: str, **more: object) -> None:
        self.hooks.tell({**self.common, "hook_event_name": name, **more})

    def bash(self, event: str, call: str, **more: object) -> None:
        """Report one moment of a command."""
        self.tell(event, tool_name="Bash", tool_use_id=call, tool_input={"command": "make"}, **more)

    def edit(self, call: str, old: str, new: str) -> None:
        """Edit a file, and report only the end."""
        path = self.project / "a.txt"
        before = path.read_text()
        path.write_text(before.replace(old, new))
        tool_input = {"file_path": str(path), "old_string": old, "new_string": new}
        result = {"filePath": str(path), "oldString": old, "newString": new, "originalFile": before}
        self.tell(
            "PostToolUse", tool_name="Edit", tool_use_id=call, tool_input=tool_input, tool_response=result
        )

    @property
    def is_alone(self) -> bool:
        return (self.home.spool / f"alone.{self.pid}").exists()


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HookedClient]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    project = tmp_path / "p"
    project.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    home = find_home(project)
    with connect_or_start(home):
        pass
    client = HookedClient(home, project, os.getpid())
    client.tell("SessionStart", source="startup")
    client.tell("UserPromptSubmit", prompt="go", prompt_id="p1")
    yield client
    stop(home)


def test_a_command_a_question_or_a_sub_agent_ends_the_solitude(client: HookedClient) -> None:
    assert client.is_alone
    client.bash("PreToolUse", "c1")
    assert not client.is_alone
    client.bash("PostToolUse", "c1", tool_response={"stdout": ""})
    assert client.is_alone
    client.tell("UserPromptSubmit", prompt="go", permission_mode="default")
    assert not client.is_alone
    client.tell("UserPromptSubmit", prompt="go")
    assert client.is_alone

    agent: dict[str, Any] = {"tool_name": "Agent", "tool_use_id": "c2", "tool_input": {"prompt": "x"}}
    client.tell("PreToolUse", **agent)
    assert not client.is_alone
    client.tell("SubagentStart", agent_id="a1", agent_type="general-purpose")
    client.tell("PostToolUse", tool_response={"status": "async_launched"}, **agent)
    assert not client.is_alone
    client.tell("SubagentStop", agent_id="a1")
    assert client.is_alone


def test_a_second_session_ends_the_solitude_until_it_has_ended(client: HookedClient) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        other = HookedClient(client.home, client.project, process.pid, session="s2")
        other.tell("SessionStart", source="startup")
        assert not client.is_alone
        assert not other.is_alone
        other.tell("SessionEnd", reason="exit")
        assert client.is_alone
        process.kill()


def test_an_edit_reported_at_its_end_alone_is_told_from_the_users(client: HookedClient) -> None:
    path = client.project / "a.txt"
    path.write_text("one\ntwo\nthree\n")

    def changes() -> list[tuple[str | None, int | None, int | None]]:
        with connect(client.home) as watcher:
            log = watcher.ask("log", cwd=str(client.project), outside=True)
        return [(entry["id"], entry["added"], entry["removed"]) for entry in log]

    wait_for(changes, what="the file")
    assert client.is_alone
    path.write_text("one\ntwo\nTHREE\n")  # the user, in the moment before the edit
    for number, (old, new) in enumerate([("one", "1"), ("1", "I"), ("I", "i")], 1):
        client.edit(f"c{number}", old, new)

    assert changes()[-4:] == [(None, 1, 1), ("c1", 1, 1), ("c2", 1, 1), ("c3", 1, 1)]


def test_a_revert_stays_although_an_edit_that_was_not_reported_yet_overwrites_it(
    client: HookedClient,
) -> None:
    path = client.project / "a.txt"
    path.write_text("one\ntwo\nthree\n")
    with connect(client.home) as watcher:
        wait_for(lambda: watcher.ask("log", cwd=str(client.project), outside=True), what="the file")
    client.edit("c1", "one", "ONE")
    stale = path.read_text()

    def overwrite() -> None:
        wait_for(lambda: path.read_text() != stale, what="the revert")
        path.write_text(stale.replace("three", "THREE"))

    writer = threading.Thread(target=overwrite)
    writer.start()
    with connect(client.home) as watcher:
        watcher.ask("revert", actions=["1"], cwd=str(client.project))
    writer.join()
    assert path.read_text() == "one\ntwo\nTHREE\n"


def test_a_new_watcher_does_not_count_on_what_the_last_one_knew(client: HookedClient) -> None:
    stop(client.home)
    assert not client.is_alone
    (client.home.spool / f"alone.{client.pid}").touch()  # left by one that was killed
    with connect_or_start(client.home):
        assert not client.is_alone
