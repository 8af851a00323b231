"""The real client with the scripted model: what every other end-to-end test relies on."""

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from chorus.model.ids import PaneId
from chorus.tmux.address import Address
from chorus.tmux.errors import PaneChanged
from chorus.tmux.keys import press
from chorus.tmux.panes import read_pane
from chorus.tmux.tmux_server import TmuxServer
from tests.lab.client import Client, say
from tests.lab.script import Cut, Refuse, Text, Thinking, ToolUse, WaitFor
from tests.lab.terminal import Terminal, wait_until

pytestmark = pytest.mark.client


def edit_of_app(project: Path) -> ToolUse:
    return ToolUse("Edit", {"file_path": str(project / "app.py"), "old_string": "old", "new_string": "new"})


def test_a_headless_run_prints_one_event_per_line_and_edits_the_file(client: Client, project: Path) -> None:
    client.model_server.scripts["rename"] = [[Text("Renaming."), edit_of_app(project)], [Text("Renamed.")]]

    run = client.headless("rename it", "--permission-mode", "acceptEdits")

    assert run.code == 0, run.stderr
    assert [event["type"] for event in run.events()][-1] == "result"
    assert "def new()" in (project / "app.py").read_text()
    assert len(client.model_server.messages()) == 2


def test_an_edit_in_default_mode_asks_and_the_digit_of_yes_approves(
    client: Client, project: Path, terminal: Terminal
) -> None:
    client.model_server.scripts["rename"] = [
        [Text("Renaming."), edit_of_app(project)],
        [Text("All renamed.")],
    ]
    pane = client.interactive(terminal, "--permission-mode", "default")
    say(pane, "rename it")

    screen = pane.wait_settled(r"Do you want to make this edit[\s\S]*3\. No")
    assert "1. Yes" in screen
    assert "def old()" in (project / "app.py").read_text()

    pane.press("1")
    pane.wait_for("All renamed.")
    wait_until(lambda: "def new()" in (project / "app.py").read_text(), what="the edit is on disk")


def test_a_prompt_is_answered_with_the_key_of_its_option(
    client: Client, project: Path, terminal: Terminal, tmp_path: Path
) -> None:
    # tmux takes the first word of a path for the program's name, and this checkout's path may contain blanks.
    plain = tmp_path / "claude"
    plain.symlink_to(client.binary)
    client = replace(client, binary=plain)
    client.model_server.scripts["rename"] = [[edit_of_app(project)], [Text("All renamed.")]]
    pane = client.interactive(terminal, "--permission-mode", "default")
    say(pane, "rename it")
    pane.wait_settled(r"Do you want to make this edit[\s\S]*3\. No")
    tmux = TmuxServer(Address(terminal.socket()))
    seen = read_pane(tmux, PaneId(pane.id))
    shown = ["Do you want to make this edit to app.py?", "❯ 1. Yes"]
    assert seen.command == "claude"

    with pytest.raises(PaneChanged):
        press(tmux, seen, "3", showing=["Do you want to make this edit to other.py?"])
    press(tmux, seen, "1", showing=shown)

    pane.wait_for("All renamed.")
    with pytest.raises(PaneChanged):
        press(tmux, seen, "1", showing=shown)


def test_a_sub_agent_follows_its_own_script(client: Client, project: Path) -> None:
    task = {"description": "rename", "prompt": "do the renaming", "subagent_type": "general-purpose"}
    client.model_server.scripts = {
        "do the renaming": [[edit_of_app(project)], [Text("I renamed it.")]],
        "delegate": [[ToolUse("Agent", task)], [Text("Delegated.")]],
    }

    run = client.headless("delegate it", "--permission-mode", "acceptEdits")

    assert run.code == 0, run.stderr
    assert "def new()" in (project / "app.py").read_text()
    assert "I renamed it." in json.dumps(run.events())


def test_two_sessions_at_once_are_told_apart(client: Client, project: Path) -> None:
    gate = threading.Event()
    client.model_server.scripts = {
        "first": [[WaitFor(gate), edit_of_app(project)], [Text("First done.")]],
        "second": [[Text("Second done.")]],
    }
    first = client.start("-p", "the first", "--permission-mode", "acceptEdits")
    assert first.stdin is not None
    first.stdin.close()
    first.stdin = None
    wait_until(lambda: len(client.model_server.messages()) == 1, what="the first waits")

    second = client.headless("the second")
    gate.set()
    out, err = first.communicate(timeout=60)

    assert "Second done." in second.stdout
    assert "First done." in out, err
    assert len({request.session for request in client.model_server.messages()}) == 2


def test_a_request_to_an_overloaded_model_is_retried(client: Client) -> None:
    client.model_server.scripts["hello"] = [[Refuse(529), Text("Here I am.")]]

    run = client.headless("hello")

    assert "Here I am." in run.stdout
    assert "api_retry" in run.stdout


def test_thinking_and_a_dropped_connection_do_not_end_the_run(client: Client, project: Path) -> None:
    client.model_server.scripts["think"] = [[Thinking("Hmm."), Text("Well."), Cut()], [Text("never")]]

    run = client.headless("think about it")

    blocks = [
        event["message"]["content"][0]["type"] for event in run.events() if event["type"] == "assistant"
    ]
    assert run.code == 0, run.stderr
    assert "thinking" in blocks
    assert blocks[-1] == "text"
