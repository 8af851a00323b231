"""The hooks in the real client: events arrive in time, replies reach the model, nothing shows."""

import json
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chorus.agents.claude_code.hooks.program import (
    HOOK_PROGRAM,
    find_plugin_directory,
    render_hook_groups,
    render_settings,
)
from chorus.agents.claude_code.settings.files import install_hooks, uninstall_hooks
from chorus.agents.hook_event import HookEvent
from chorus.agents.hook_spool import HeldHook, Spool
from chorus.tmux.address import Address
from tests.lab.client import Client, say
from tests.lab.client_behavior import ClientBehavior
from tests.lab.script import Text, ToolUse
from tests.lab.terminal import Terminal, wait_until

pytestmark = pytest.mark.client

HOOK = find_plugin_directory() / HOOK_PROGRAM
ONE_EDIT = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"]
SETTINGS = render_settings(None, hook=HOOK, chorus=None)


class FakeWatcher(threading.Thread):
    """Takes every event, records the content of app.py at that moment, and releases the hook."""

    def __init__(self, project: Path) -> None:
        super().__init__(daemon=True)
        self.project = project
        self.spool = Spool(project / ".git" / "chorus" / "spool")
        self.spool.open()
        self.seen: list[tuple[HookEvent, str]] = []
        self.answers: dict[str, dict[str, Any]] = {}
        self.hold = False
        self.held: list[HeldHook] = []
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.001):
            for event in self.spool.take():
                self.seen.append((event, (self.project / "app.py").read_text()))
                name = event.value["hook_event_name"]
                if self.hold and name == "PermissionRequest":
                    self.held.append(self.spool.hold(event))
                self.spool.release(event, self.answers.pop(name, None))
                self.spool.forget(event)

    def names(self) -> list[str]:
        return [event.value["hook_event_name"] for event, _ in self.seen]

    def content_at(self, name: str) -> str:
        return next(content for event, content in self.seen if event.value["hook_event_name"] == name)


@pytest.fixture
def watcher(project: Path) -> Iterator[FakeWatcher]:
    watcher = FakeWatcher(project)
    watcher.start()
    yield watcher
    watcher.done.set()
    watcher.join()
    for held in watcher.held:
        held.close()
    watcher.spool.close(asleep=True)


def edit_of_app(project: Path) -> ToolUse:
    return ToolUse("Edit", {"file_path": str(project / "app.py"), "old_string": "old", "new_string": "new"})


def test_the_hooks_run_before_and_after_the_edit(client: Client, project: Path, watcher: FakeWatcher) -> None:
    read = ToolUse("Read", {"file_path": str(project / "app.py")})
    client.model_server.scripts["rename"] = [[read, edit_of_app(project)], [Text("Renamed.")]]

    run = client.headless("rename it", "--permission-mode", "acceptEdits", "--settings", SETTINGS)

    assert run.code == 0, run.stderr
    wait_until(lambda: "SessionEnd" in watcher.names(), what="the end of the session")
    assert watcher.names() == [*ONE_EDIT, "SessionEnd"]
    assert watcher.content_at("PreToolUse") == "def old():\n    pass\n"
    assert watcher.content_at("PostToolUse") == "def new():\n    pass\n"


def test_a_hook_reply_reaches_the_model(client: Client, project: Path, watcher: FakeWatcher) -> None:
    client.model_server.scripts["rename"] = [[edit_of_app(project)], [Text("Renamed.")]]
    for event in ("UserPromptSubmit", "PostToolUse"):
        output = {"hookEventName": event, "additionalContext": f"reverted: {event}"}
        watcher.answers[event] = {"hookSpecificOutput": output}
    watcher.spool.expect_answers(True)

    client.headless("rename it", "--permission-mode", "acceptEdits", "--settings", SETTINGS)

    first, second = client.model_server.messages()
    assert any("reverted: UserPromptSubmit" in text for text in first.texts())
    assert any("reverted: PostToolUse" in text for text in second.texts())


def test_they_leave_no_trace_on_the_screen(
    client: Client, project: Path, watcher: FakeWatcher, terminal: Terminal
) -> None:
    client.model_server.scripts["rename"] = [[edit_of_app(project)], [Text("All renamed.")]]
    pane = client.interactive(terminal, "--permission-mode", "acceptEdits", "--settings", SETTINGS)
    say(pane, "rename it")

    pane.wait_for("All renamed.")
    screen = pane.wait_gone("esc to interrupt")

    assert "hook" not in screen.replace("\n", "").replace(str(project), "").lower()
    event, _ = next(entry for entry in watcher.seen if entry[0].value["hook_event_name"] == "PreToolUse")
    assert event.pane == pane.id
    assert event.tmux_socket is not None
    assert Address(Path(event.tmux_socket)) == Address(terminal.socket())
    assert event.client_pid == int(terminal.tmux("display-message", "-p", "-t", pane.id, "#{pane_pid}"))


def test_a_hung_or_missing_watcher_shows_nothing_and_loses_nothing(
    client: Client, project: Path, terminal: Terminal
) -> None:
    client.model_server.scripts["rename"] = [[edit_of_app(project)], [Text("All renamed.")]]
    spool = Spool(project / ".git" / "chorus" / "spool")
    spool.open()  # and nobody looks
    pane = client.interactive(terminal, "--permission-mode", "acceptEdits", "--settings", SETTINGS)
    say(pane, "rename it")

    pane.wait_for("All renamed.")
    screen = pane.wait_gone("esc to interrupt")

    assert "hook" not in screen.replace("\n", "").replace(str(project), "").lower()
    names: list[str] = []

    def recorded() -> bool:
        names.extend(event.value["hook_event_name"] for event in spool.take())
        return "Stop" in names

    wait_until(recorded, what="the events on disk")
    assert names == ONE_EDIT
    spool.close(asleep=True)


def ask_for_edit(client: Client, project: Path, terminal: Terminal) -> Any:
    client.model_server.scripts["rename"] = [[edit_of_app(project)], [Text("The end.")]]
    pane = client.interactive(terminal, "--permission-mode", "default", "--settings", SETTINGS)
    say(pane, "rename it")
    pane.wait_settled("Do you want to make this edit")
    return pane


def test_a_prompt_is_answered_through_its_hook(
    client: Client, project: Path, watcher: FakeWatcher, terminal: Terminal
) -> None:
    watcher.hold = True
    pane = ask_for_edit(client, project, terminal)
    wait_until(lambda: bool(watcher.held), what="the hook waits")
    decision = {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}

    watcher.held[0].answer({"hookSpecificOutput": decision})

    pane.wait_for("The end.")
    assert "def new()" in (project / "app.py").read_text()


def test_a_prompt_answered_at_the_terminal_needs_no_hook(
    client: Client, project: Path, watcher: FakeWatcher, terminal: Terminal
) -> None:
    watcher.hold = True
    pane = ask_for_edit(client, project, terminal)
    wait_until(lambda: bool(watcher.held), what="the hook waits")

    pane.press("1")

    pane.wait_for("The end.")
    screen = pane.wait_gone("esc to interrupt")
    assert "def new()" in (project / "app.py").read_text()
    watcher.held.pop().close()
    assert "hook" not in screen.replace("\n", "").replace(str(project), "").lower()


def test_the_plugin_is_valid_and_runs(client: Client, project: Path, watcher: FakeWatcher) -> None:
    client.model_server.scripts["rename"] = [[edit_of_app(project)], [Text("Renamed.")]]
    validate = client.command("plugin", "validate", "--strict", str(find_plugin_directory()))
    done = subprocess.run(validate, env=client.environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout

    client.headless(
        "rename it", "--permission-mode", "acceptEdits", "--plugin-dir", str(find_plugin_directory())
    )

    assert watcher.names()[:4] == ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"]


def test_hooks_given_twice_run_once(
    client: Client, project: Path, watcher: FakeWatcher, tmp_path: Path
) -> None:
    """`chorus claude` in a repository with installed hooks."""
    client.model_server.scripts["rename"] = [[edit_of_app(project)], [Text("Renamed.")]]
    install_hooks(
        project / ".claude/settings.local.json", render_hook_groups(HOOK, None), backups=tmp_path / "backups"
    )

    client.headless("rename it", "--permission-mode", "acceptEdits", "--settings", SETTINGS)

    assert watcher.names().count("PreToolUse") == 1


def touch_again(path: Path) -> None:
    """Such a client watches the settings file from its first seconds, and reads it when it is stable."""
    if path.exists() and time.time() - path.stat().st_mtime > 5:
        path.touch()


def test_hooks_installed_in_a_running_session_are_used_and_removed_again(
    client: Client, watcher: FakeWatcher, terminal: Terminal, tmp_path: Path, behavior: ClientBehavior
) -> None:
    path, backups = client.project / ".claude" / "settings.local.json", tmp_path / "backups"
    if not behavior.sees_new_settings_directory:
        path.parent.mkdir()
    pane = client.interactive(terminal, "--permission-mode", "acceptEdits")
    said = 0

    def say_one() -> None:
        nonlocal said
        said += 1
        client.model_server.scripts[f"question {said}."] = [[Text(f"Answer {said}.")]]
        say(pane, f"question {said}.")
        pane.wait_settled(f"Answer {said}\\.")

    def received() -> bool:
        before = len(watcher.seen)
        if not behavior.sees_early_settings:
            touch_again(path)
        say_one()
        return len(watcher.seen) > before

    install_hooks(path, render_hook_groups(HOOK, None), backups=backups)
    wait_until(received, what="the session uses the hooks")
    uninstall_hooks(path, backups=backups)
    wait_until(lambda: not received(), what="the session has dropped the hooks")
    assert not path.parent.exists()
    assert json.loads(SETTINGS)["hooks"].keys() == render_hook_groups(HOOK, None).keys()
