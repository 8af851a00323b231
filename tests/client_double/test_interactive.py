"""The client double in a real pane: typing, prompts, answers, exit."""

import json
import shlex
from pathlib import Path

import psutil
import pytest

from tests.client_double.conftest import ClientDouble
from tests.client_double.dialog_calls import APP, CALLS
from tests.lab.client import say
from tests.lab.terminal import Pane, Terminal, wait_until

EDIT = {"tool": "Edit", "input": CALLS["edit"][1]}
EDIT_ASKED = r"Do you want to make this edit[\s\S]*Esc to cancel"
DONE = r"✻ \w+ for \d+s"


@pytest.fixture
def pane(client_double: ClientDouble, terminal: Terminal) -> Pane:
    client_double.scripts = {
        "rename": [[{"say": "Renaming."}, EDIT], [{"say": "All renamed."}]],
        "both": [
            [EDIT, {"tool": "Write", "input": CALLS["create"][1]}],
            [{"say": "Both done."}],
        ],
        "think": [[{"say": "Let me think."}, {"wait": "{cwd}/gate"}, {"say": "Thought."}]],
        "later": [[{"wait": "{cwd}/gate"}, EDIT], [{"say": "Edited."}]],
        "run it": [[{"tool": "Bash", "input": CALLS["touch"][1]}], [{"say": "Ran it."}]],
    }
    return client_double.interactive(terminal, "--permission-mode", "default")


def test_a_digit_allows_the_edit_and_the_file_changes(pane: Pane, client_double: ClientDouble) -> None:
    say(pane, "rename it")
    pane.wait_settled(EDIT_ASKED)
    assert (client_double.project / "app.py").read_text() == APP
    assert status(client_double) == "waiting"

    pane.press("1")
    pane.wait_for("● All renamed.")

    assert "def new():" in (client_double.project / "app.py").read_text()
    wait_until(lambda: status(client_double) == "idle", what="it says that it is idle")


def status(client_double: ClientDouble) -> str:
    (note,) = (client_double.home / ".claude" / "sessions").glob("*.json")
    return str(json.loads(note.read_text())["status"])


@pytest.mark.parametrize("key", ["3", "Escape"])
def test_a_refusal_ends_the_turn_and_changes_nothing(
    pane: Pane, client_double: ClientDouble, key: str
) -> None:
    say(pane, "rename it")
    pane.wait_settled(EDIT_ASKED)

    pane.press(key)
    screen = pane.wait_for(DONE)

    assert "User rejected update to app.py" in screen
    assert "All renamed" not in screen
    assert (client_double.project / "app.py").read_text() == APP


def test_keys_that_mean_nothing_leave_the_dialog_up(pane: Pane, client_double: ClientDouble) -> None:
    say(pane, "rename it")
    before = pane.wait_settled(EDIT_ASKED)

    pane.press("y", "n", "4", "C-c")
    pane.terminal.tmux("set-buffer", "1")
    pane.terminal.tmux("paste-buffer", "-p", "-t", pane.id)
    wait_until(
        lambda: len(client_double.pressed()) >= 3 and "paste" in str(client_double.pressed()),
        what="keys arrive",
    )

    assert pane.wait_settled(EDIT_ASKED) == before
    assert (client_double.project / "app.py").read_text() == APP


def test_yes_for_the_session_allows_the_second_edit(pane: Pane, client_double: ClientDouble) -> None:
    say(pane, "do both")
    pane.wait_settled(EDIT_ASKED)

    pane.press("BTab")
    screen = pane.wait_for(r"● Both done\.[\s\S]*accept edits on")

    assert "Wrote 2 lines to new.txt" in screen
    assert (client_double.project / "new.txt").exists()


def test_a_refusal_of_the_first_refuses_the_second(pane: Pane, client_double: ClientDouble) -> None:
    say(pane, "do both")
    pane.wait_settled(EDIT_ASKED)

    pane.press("3")
    screen = pane.wait_for(DONE)

    assert "User rejected write to new.txt" in screen
    assert not (client_double.project / "new.txt").exists()


def test_a_refusal_with_a_message_continues_the_turn(pane: Pane, client_double: ClientDouble) -> None:
    say(pane, "rename it")
    pane.wait_settled(EDIT_ASKED)

    pane.press("Down", "Down", "Tab")
    pane.type("use 42")
    pane.wait_for("❯ 3. No, use 42")
    pane.press("Enter")
    pane.wait_for("● All renamed.")

    wait_until(lambda: "use 42" in str(client_double.transcript()), what="the words are in the transcript")
    assert (client_double.project / "app.py").read_text() == APP


def test_text_typed_before_a_dialog_goes_into_the_input_box_and_delays_it(
    pane: Pane, client_double: ClientDouble
) -> None:
    say(pane, "edit it later")
    pane.wait_for("esc to interrupt")
    pane.type("1")
    pane.wait_for(r"❯\s1")
    (client_double.project / "gate").touch()
    pane.wait_for(r"Waiting for permission…[\s\S]*❯\s1")
    assert "Do you want to make this edit" not in pane.screen()

    pane.wait_settled(EDIT_ASKED)
    pane.press("1")
    pane.wait_for(r"● Edited\.[\s\S]*❯\s1")


def test_escape_while_the_model_works_ends_the_turn(pane: Pane) -> None:
    say(pane, "think hard")
    pane.wait_for("● Let me think.")

    pane.press("Escape")
    screen = pane.wait_for(DONE)

    assert "Interrupted · What should Claude do instead?" in screen
    assert "Thought." not in screen


def test_a_message_typed_while_the_model_works_is_queued(pane: Pane, client_double: ClientDouble) -> None:
    say(pane, "think hard")
    pane.wait_for("● Let me think.")
    say(pane, "run it")
    pane.wait_for("Press up to edit queued messages")

    (client_double.project / "gate").touch()

    pane.wait_for(r"● Thought\.[\s\S]*❯ run it[\s\S]*Do you want to proceed\?")


def test_every_byte_is_recorded_with_the_dialog_that_was_up(pane: Pane, client_double: ClientDouble) -> None:
    say(pane, "rename it")
    pane.wait_settled(EDIT_ASKED)
    pane.press("1")
    pane.wait_for("● All renamed.")

    at_dialogs = [(read["keys"], read["dialog"]) for read in client_double.pressed() if read["dialog"]]
    typed = b"".join(bytes.fromhex(read["bytes"]) for read in client_double.pressed())

    assert at_dialogs == [(["1"], "Edit app.py")]
    assert typed == b"rename it\r1"


def test_a_resize_redraws_the_dialog(pane: Pane) -> None:
    say(pane, "rename it")
    pane.wait_settled(EDIT_ASKED)

    pane.terminal.tmux("resize-window", "-t", pane.id, "-x", "60", "-y", "30")

    screen = pane.wait_for(r"\n─{60}\n Edit file[\s\S]*for this session[\s\S]*3\. No")
    assert "─" * 61 not in screen


def test_clear_starts_another_session_in_the_same_process(pane: Pane, client_double: ClientDouble) -> None:
    say(pane, "run it")
    pane.wait_settled("Do you want to proceed")
    pane.press("4")
    pane.wait_for(DONE)
    (note,) = (client_double.home / ".claude" / "sessions").glob("*.json")
    first = json.loads(note.read_text())["sessionId"]

    say(pane, "/clear")
    wait_until(lambda: json.loads(note.read_text())["sessionId"] != first, what="another session")
    say(pane, "think again")
    pane.wait_for("● Let me think.")

    projects = client_double.home / ".claude" / "projects"
    wait_until(lambda: len(list(projects.glob("*/*.jsonl"))) == 2, what="a second transcript")


@pytest.mark.parametrize("keys", [["C-c", "C-c"], ["/exit", "Enter"]], ids=["ctrl-c twice", "/exit"])
def test_the_terminal_is_restored_at_the_end(
    client_double: ClientDouble, terminal: Terminal, keys: list[str]
) -> None:
    command = shlex.join(client_double.command())
    # Renamed into place: otherwise the file exists before stty has written to it.
    shell = ["sh", "-c", f"stty -a > before; {command}; stty -a > later; mv later after; sleep 60"]
    pane = terminal.open(shell, cwd=client_double.project, environment=client_double.environment())
    pane.wait_for(r"─{10}\n❯\s")
    assert flag(pane, "alternate_on") == "1"
    name = flag(pane, "pane_pid")
    assert psutil.Process(int(name)).children()[0].name() == "claude"

    for key in keys:
        pane.press(key)
    pane.wait_for("claude --resume")

    wait_until((client_double.project / "after").exists, what="the shell goes on")
    assert (client_double.project / "after").read_text() == (client_double.project / "before").read_text()
    assert flag(pane, "alternate_on") == "0"
    assert flag(pane, "mouse_any_flag") == "0"
    assert not list((client_double.home / ".claude" / "sessions").iterdir())


def flag(pane: Pane, name: str) -> str:
    return pane.terminal.tmux("display-message", "-p", "-t", pane.id, f"#{{{name}}}").strip()


def test_without_a_mode_it_edits_and_runs_without_asking(
    client_double: ClientDouble, terminal: Terminal
) -> None:
    command = {"command": "sed -i s/return/yield/ app.py", "description": "Change it"}
    client_double.scripts = {"go": [[EDIT, {"tool": "Bash", "input": command}], [{"say": "All done."}]]}
    pane = client_double.interactive(terminal)

    say(pane, "go")
    screen = pane.wait_for(r"● All done\.[\s\S]*auto mode on")

    assert "Updated app.py (+2 -2)" in screen
    result = wait_for_result(client_double, "bashEditDiff")
    assert result["changedFiles"] == [str(client_double.project / "app.py")]


def wait_for_result(client_double: ClientDouble, key: str) -> dict[str, object]:
    found: list[dict[str, object]] = []

    def look() -> bool:
        results = [line.get("toolUseResult") for line in client_double.transcript()]
        found[:] = [result[key] for result in results if isinstance(result, dict) and key in result]
        return bool(found)

    wait_until(look, what=f"{key} in the transcript")
    return found[0]


def test_an_unknown_dialog_can_be_shown_and_answered(client_double: ClientDouble, terminal: Terminal) -> None:
    show = {"show": ["New thing", "", "Shall the new thing happen?"], "options": ["Certainly", "Perhaps"]}
    client_double.scripts = {"go": [[show, {"say": "Shown."}]]}
    client_double.more = {"version": "9.9.9"}
    pane = client_double.interactive(terminal)

    say(pane, "go")
    screen = pane.wait_settled("Shall the new thing happen")
    assert "v9.9.9" in screen
    assert " ❯ 1. Certainly\n   2. Perhaps" in screen
    pane.press("2")
    pane.wait_for("● Shown.")


def test_the_decision_of_a_hook_answers_the_dialog(
    client_double: ClientDouble, terminal: Terminal, tmp_path: Path
) -> None:
    decision = {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    reply = shlex.quote(json.dumps({"hookSpecificOutput": decision}))
    hook = {"type": "command", "command": f"until test -e {tmp_path}/go; do sleep 0.01; done; echo {reply}"}
    settings = {"hooks": {"PermissionRequest": [{"matcher": "Edit", "hooks": [hook]}]}}
    client_double.scripts = {"rename": [[EDIT], [{"say": "All renamed."}]]}
    pane = client_double.interactive(
        terminal, "--permission-mode", "default", "--settings", json.dumps(settings)
    )
    say(pane, "rename it")
    pane.wait_settled(EDIT_ASKED)

    (tmp_path / "go").touch()
    pane.wait_for("● All renamed.")

    assert [read for read in client_double.pressed() if read["dialog"]] == []
    assert "def new():" in (client_double.project / "app.py").read_text()


def test_killing_the_pane_leaves_no_process(pane: Pane) -> None:
    pid = int(flag(pane, "pane_pid"))
    pane.terminal.tmux("kill-pane", "-t", pane.id)

    wait_until(lambda: not psutil.pid_exists(pid), what="the process is gone")
