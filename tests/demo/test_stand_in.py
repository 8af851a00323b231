"""The demo's stand-in: its dialog, tools and screen agree with what the client double does."""

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from chorus.agents.claude_code.dialogs.reader import read_screen
from chorus.demo import story
from chorus.demo.script import ToolUse
from chorus.demo.stand_in.screen import Block, Dialog, State
from chorus.demo.stand_in.session import Session
from chorus.demo.stand_in.tools import Tools, structured_patch
from chorus.model.prompt import NoPrompt, Prompt
from tests.client_double import patch
from tests.lab.client import say
from tests.lab.terminal import Terminal
from tests.screens import shipped_rules

ROOT = Path(__file__).parents[2]
RULES = shipped_rules()
NUMBERED = "".join(f"{number}\n" for number in range(20, 40))


def screen(columns: int, dialog: Dialog | None) -> str:
    state = State("/p", "acceptEdits", [Block("go on", "❯"), Block("Now the tests.")], dialog=dialog)
    return "\n".join(state.render(columns, 50)) + "\n"


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_the_dialog_is_read_with_the_meaning_of_its_keys(columns: int) -> None:
    answers: list[int] = []
    dialog = Dialog(story.RUN_TESTS, "Run the tests", "python3", answers.append)

    found = read_screen(screen(columns, dialog), RULES).found

    assert isinstance(found, Prompt)
    assert (found.tool, found.question) == ("Bash", "Do you want to proceed?")
    assert [option.meaning for option in found.options][::3] == ["allow", "deny"]
    for option in found.options:
        dialog.press(option.key)
    assert answers == [0, 1, 2, 3]


def test_the_idle_screen_is_not_a_prompt() -> None:
    assert isinstance(read_screen(screen(100, None), RULES).found, NoPrompt)


def test_a_dialog_is_answered_with_enter_arrows_and_escape() -> None:
    answers: list[int] = []
    dialog = Dialog("make", "Build", "make", answers.append)
    for key in ("enter", "down", "enter", "x", "9", "up", "up", "enter", "escape"):
        dialog.press(key)
    assert answers == [0, 1, 3, 3]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (story.GREET, story.FINAL_GREET),
        ("", "a\n"),
        ("a\n", ""),
        (NUMBERED, NUMBERED.replace("23\n", "x\n").replace("37\n", "")),
    ],
)
def test_a_patch_equals_the_one_of_the_client_double(before: str, after: str) -> None:
    assert structured_patch(before, after) == patch.structured_patch(before, after)


def test_the_tools_play_the_story_and_only_an_unknown_command_asks(tmp_path: Path) -> None:
    (tmp_path / "greet.py").write_text(story.GREET)
    tools = Tools(Session(tmp_path, "acceptEdits"), threading.Event())
    asked = []
    for message in story.messages(str(tmp_path)):
        for step in (step for reply in message.replies for step in reply if isinstance(step, ToolUse)):
            if tools.must_ask(step.name, step.input):
                asked.append(step.input["command"])
            result = tools.run(step.name, step.input)
            assert not result.is_error, result.text
    assert asked == [story.RUN_TESTS]
    final = story.FINAL_GREET.replace('f"Hello, {name}."', 'f"Goodbye, {name}!"')
    assert (tmp_path / "greet.py").read_text() == final


def test_an_impossible_call_is_an_error_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\nx\n")
    tools = Tools(Session(tmp_path, "acceptEdits"), threading.Event())
    path = str(tmp_path / "a.txt")
    calls = [
        ("Edit", {"file_path": path, "old_string": "x", "new_string": "y"}),
        ("Read", {"file_path": f"{path}.gone"}),
        ("Bash", {"command": "echo no >&2; exit 3"}),
        ("Unknown", {}),
    ]
    assert all(tools.run(name, tool_input).is_error for name, tool_input in calls)
    assert (tmp_path / "a.txt").read_text() == "x\nx\n"


def test_an_interrupted_command_is_killed(tmp_path: Path) -> None:
    interrupt = threading.Event()
    threading.Timer(0.1, interrupt.set).start()
    started = time.monotonic()
    result = Tools(Session(tmp_path, "acceptEdits"), interrupt).run("Bash", {"command": "sleep 60"})
    assert result.is_error
    assert time.monotonic() - started < 30


def test_it_answers_other_messages_and_exits(terminal: Terminal, sealed_environment: Path) -> None:
    environment = {"HOME": str(sealed_environment), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    environment |= {"LANG": "C.UTF-8", "TERM": "xterm-256color"}
    command = [sys.executable, "-m", "chorus.demo.stand_in"]
    pane = terminal.open(command, cwd=sealed_environment, environment=environment)
    pane.wait_for(r"─{10}\n❯\s")
    say(pane, "something else")
    pane.wait_for("● Done")
    sessions = sealed_environment / ".claude" / "sessions"
    assert len(list(sessions.glob("*.json"))) == 1
    say(pane, "/exit")
    terminal.wait_left()
    assert list(sessions.glob("*.json")) == []
