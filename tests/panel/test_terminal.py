"""The panel in a real tmux pane, driven by real keys."""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.imitation import SOCKETS
from tests.lab.terminal import Pane, Terminal, terminal_fixture
from tests.panel.scripted_watcher import ScriptedWatcher
from tests.panel.story import entry, prompt
from tests.waiting import wait_for

ROOT = Path(__file__).parent.parent.parent
PANEL = [sys.executable, "-P", "-m", "chorus", "panel"]


terminal = terminal_fixture(width=100, height=32)


@pytest.fixture
def serving(watcher: ScriptedWatcher) -> Iterator[ScriptedWatcher]:
    watcher.start()
    yield watcher
    watcher.stop()


def environment(**more: str) -> dict[str, str]:
    path = os.environ["PATH"]
    base = {"PATH": path, "TERM": "tmux-256color", "LANG": "C.UTF-8", "TZ": "UTC", "PYTHONPATH": str(ROOT)}
    return base | {"HOME": os.environ["HOME"]} | SOCKETS | more


def open_panel(terminal: Terminal, where: Path, *options: str, **more: str) -> Pane:
    pane = terminal.open([*PANEL, *options], cwd=where, environment=environment(**more))
    pane.wait_settled("Queue 4 open")
    return pane


def test_a_prompt_is_approved_and_an_action_reverted_by_keys(
    terminal: Terminal, serving: ScriptedWatcher, tmp_path: Path
) -> None:
    pane = open_panel(terminal, tmp_path)
    serving.add_prompt(prompt("p1"))
    pane.wait_settled("Do you want to proceed")
    pane.press("a")
    pane.wait_for("approved: Bash command +chorus approve p1")
    assert serving.requests_for("answer")[0]["fingerprint"] == "f-p1"
    serving.add_action(entry(45, turn="t3", summary="One more"))
    pane.wait_settled("45 ○")
    pane.press("r")
    pane.wait_for("Revert 45")
    pane.press("r")
    pane.wait_for("reverted 45")
    pane.press("u")
    pane.wait_for("redone 45")
    pane.press("q")
    wait_for(lambda: not serving.subscribers or None)


def test_the_editor_gets_the_terminal_and_gives_it_back(
    terminal: Terminal, serving: ScriptedWatcher, tmp_path: Path
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "parser.py").write_text("x\n" * 40)
    editor = tmp_path / "vim"
    editor.write_text('#!/bin/sh\necho "EDITING $1 ${2##*/}"\nread line\necho "$line" > edited\n')
    editor.chmod(0o755)
    pane = open_panel(terminal, tmp_path, EDITOR=str(editor))
    pane.wait_for("def token")
    pane.press("o")
    pane.wait_for(r"EDITING \+13 parser.py")
    pane.type("done")
    pane.press("Enter")
    pane.wait_for("opened src/parser.py")
    assert (tmp_path / "edited").read_text() == "done\n"
    pane.press("g")
    pane.wait_for("Turn")


def test_an_editor_that_does_not_start_is_named_with_the_way_out(
    terminal: Terminal, serving: ScriptedWatcher, tmp_path: Path
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "parser.py").write_text("x\n")
    pane = open_panel(terminal, tmp_path, EDITOR="no-such-editor")
    pane.wait_for("def token")
    pane.press("o")
    pane.wait_for(r"cannot start no-such-editor: No such file[\s\S]*set VISUAL or EDITOR")


def test_after_an_editor_that_failed_the_land_form_is_shown_again(
    terminal: Terminal, serving: ScriptedWatcher, tmp_path: Path
) -> None:
    pane = open_panel(terminal, tmp_path, GIT_EDITOR="false")
    pane.press("l")
    pane.wait_for("2 commits on main")
    pane.press("e")
    pane.wait_for(r"the editor 'false' exited with code 1; nothing was landed[\s\S]*Set core.editor")


def test_y_puts_the_commit_on_the_clipboard(
    terminal: Terminal, serving: ScriptedWatcher, tmp_path: Path
) -> None:
    pane = open_panel(terminal, tmp_path)
    terminal.tmux("set-option", "-s", "set-clipboard", "on")
    pane.press("y")
    commit = f"{44:040x}"
    pane.wait_for(f"copied {commit}")
    wait_for(lambda: commit in terminal.tmux("show-buffer", check=False) or None)


def test_the_pane_can_be_resized_while_it_draws(
    terminal: Terminal, serving: ScriptedWatcher, tmp_path: Path
) -> None:
    pane = open_panel(terminal, tmp_path)
    for n, (width, height) in enumerate([(40, 12), (200, 50), (41, 13), (100, 30), (60, 40)] * 3):
        serving.add_action(entry(100 + n, turn="t9", message="More work"))
        terminal.tmux("resize-window", "-t", pane.id, "-x", str(width), "-y", str(height))
    pane.wait_for("114 ○")


@pytest.mark.parametrize(
    ("options", "more"),
    [
        (["--ascii"], {}),
        ([], {"LANG": "C"}),
        ([], {"NO_COLOR": "1"}),
        ([], {"TERM": "screen"}),
        (["--theme", "light"], {}),
    ],
)
def test_the_panel_opens_in_any_terminal(
    terminal: Terminal, serving: ScriptedWatcher, tmp_path: Path, options: list[str], more: dict[str, str]
) -> None:
    pane = open_panel(terminal, tmp_path, *options, **more)
    if options == ["--ascii"] or more.get("LANG") == "C":
        assert pane.screen().isascii()
    coloured = terminal.tmux("capture-pane", "-p", "-e", "-t", pane.id)
    if "NO_COLOR" in more:
        assert "38;" not in coloured
        assert "\x1b[3" not in coloured.replace("\x1b[39m", "")
    pane.press("q")


def test_the_panel_fills_its_pane_and_ignores_the_size_in_the_environment(
    terminal: Terminal, serving: ScriptedWatcher, tmp_path: Path
) -> None:
    pane = open_panel(terminal, tmp_path, COLUMNS="60", LINES="20")
    assert "help" in pane.screen().splitlines()[31]


def test_one_key_opens_the_panel_beside_the_session_and_closes_it(
    terminal: Terminal, serving: ScriptedWatcher, tmp_path: Path
) -> None:
    session = terminal.open(["sh", "-c", "echo SESSION; exec cat"], cwd=tmp_path, environment=environment())
    session.wait_for("SESSION")
    # The tmux server has another environment: the panel uses that of the shell which opened it.
    terminal.tmux("set-environment", "-g", "LC_ALL", "C")
    toggle = [*PANEL, "--toggle", "-L", terminal.name, "--pane", session.id]
    subprocess.run(toggle, check=True, env=environment(), cwd=tmp_path, capture_output=True)
    panes = terminal.tmux("list-panes", "-t", session.id, "-F", "#{pane_id} #{pane_active}").splitlines()
    assert len(panes) == 2
    assert f"{session.id} 1" in panes, "the session keeps the focus"
    beside = next(line.split()[0] for line in panes if not line.startswith(session.id))
    Pane(terminal, beside).wait_for("─ Queue 4 open")
    subprocess.run(toggle, check=True, env=environment(), cwd=tmp_path, capture_output=True)
    assert terminal.tmux("list-panes", "-t", session.id, "-F", "#{pane_id}").split() == [session.id]


def test_a_key_binding_of_tmux_needs_no_pane(
    terminal: Terminal, serving: ScriptedWatcher, tmp_path: Path
) -> None:
    """tmux runs the command of a key outside any pane."""
    session = terminal.open(["sh", "-c", "echo SESSION; exec cat"], cwd=tmp_path, environment=environment())
    session.wait_for("SESSION")
    words = ["env", *(f"{name}={value}" for name, value in environment().items()), *PANEL, "--toggle"]
    for panes in (2, 1):  # opened, then closed again
        terminal.tmux("run-shell", shlex.join(words))
        assert len(terminal.tmux("list-panes", "-t", session.id, "-F", "#{pane_id}").split()) == panes


def test_outside_tmux_toggle_says_what_it_needs(tmp_path: Path) -> None:
    done = subprocess.run(
        [*PANEL, "--toggle"], env=environment(), cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "--pane" in done.stderr


def test_outside_a_repository_the_panel_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        [*PANEL, "--plain"], env=environment(), cwd=tmp_path.parent, capture_output=True, text=True
    )
    assert done.returncode == 3
    assert "not inside a git work tree" in done.stderr
