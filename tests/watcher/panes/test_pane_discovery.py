"""A client with hooks, started by hand in a pane that was not named, is answered there."""

from pathlib import Path
from typing import Any

import pytest

from chorus.agents.claude_code.hooks.program import (
    HOOK_PROGRAM,
    find_chorus_program,
    find_plugin_directory,
    render_settings,
)
from chorus.wire.client import connect
from chorus.wire.home import Home
from chorus.wire.watcher_process import connect_or_start, stop
from tests.client_double.conftest import ClientDouble
from tests.lab.client import say
from tests.lab.terminal import Pane, Terminal, terminal_fixture
from tests.waiting import wait_for
from tests.watcher.asking_client import end, stand_in_pane, write

terminal = terminal_fixture(width=100, height=36)
SECONDS = 60.0


def start_hooked(client_double: ClientDouble, terminal: Terminal, home: Home) -> Pane:
    """A watcher that was given no pane, and a client with hooks in its settings."""
    client_double.scripts = {
        "go": [[write("one.txt")], [write("two.txt")], end()],
        "more": [[write("three.txt")], end()],
    }
    with connect_or_start(home):
        pass
    hooks = render_settings(None, hook=find_plugin_directory() / HOOK_PROGRAM, chorus=find_chorus_program())
    return stand_in_pane(client_double, terminal, "--settings", hooks)


def ask(home: Home, do: str, **arguments: Any) -> Any:
    with connect(home) as watcher:
        return watcher.request(do, arguments)


def next_prompt(home: Home, about: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        return next((p for p in ask(home, "prompts") if about in p["body"]), None)

    return wait_for(look, what=f"a prompt about {about}", seconds=SECONDS)


def approve(home: Home, prompt: dict[str, Any]) -> dict[str, Any]:
    answer = {"prompt": prompt["id"], "fingerprint": prompt["fingerprint"], "decision": "allow"}
    return dict(ask(home, "answer", **answer))


def test_a_session_known_from_hooks_is_answered_in_its_pane_while_it_runs_there(
    client_double: ClientDouble, terminal: Terminal, home: Home
) -> None:
    pane = start_hooked(client_double, terminal, home)
    say(pane, "go")
    assert approve(home, next_prompt(home, "one.txt"))["how"] == "keys"
    next_prompt(home, "two.txt")
    stop(home)
    with connect_or_start(home):
        pass  # the next watcher finds the pane where the session says it is
    assert approve(home, next_prompt(home, "two.txt"))["how"] == "keys"
    pane.wait_for("All done", seconds=SECONDS)
    assert {"hook", "pane"} <= set(ask(home, "status")["sessions"][0]["sources"])
    assert not (home.root / "panes.json").exists()  # nobody named it

    # Another client in the same pane, without hooks: nobody has asked Chorus to look at it.
    words = ["env", *(f"{name}={value}" for name, value in client_double.environment().items())]
    words += client_double.command("--permission-mode", "default")
    terminal.tmux("respawn-pane", "-k", "-t", pane.id, *words)
    pane.wait_for(r"─{10}\n❯\s", seconds=SECONDS)
    say(pane, "more")
    pane.wait_settled("Esc to cancel")
    wait_for(lambda: _states(home) == {"gone"}, what="the session is gone", seconds=SECONDS)
    assert ask(home, "prompts") == []


def test_a_pane_is_watched_once_by_whatever_path_its_server_was_named(
    client_double: ClientDouble, terminal: Terminal, home: Home, short_directory: Path
) -> None:
    link = short_directory / "link"  # as /tmp on macOS; the client's hooks name the socket without it
    link.symlink_to(terminal.socket().parent)
    pane = start_hooked(client_double, terminal, home)
    ask(home, "watch", socket=str(link / terminal.name), pane=pane.id)
    say(pane, "go")
    approve(home, next_prompt(home, "one.txt"))
    next_prompt(home, "two.txt")
    wait_for(lambda: {"hook", "pane"} <= set(_sources(home)), what="the hooks report", seconds=SECONDS)
    with pytest.raises(
        AssertionError, match="another prompt did not happen"
    ):  # a second watch of the pane would list it again
        wait_for(lambda: len(ask(home, "prompts")) > 1, what="another prompt", seconds=1, every=0.1)


def _sources(home: Home) -> list[str]:
    return [source for session in ask(home, "status")["sessions"] for source in session["sources"]]


def _states(home: Home) -> set[str]:
    return {session["state"] for session in ask(home, "status")["sessions"]}
