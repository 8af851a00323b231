"""No key reaches a pane unless it shows the dialog that was answered. The client double counts the keys."""

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from chorus.config.user_config import Preferences
from chorus.model.answer import Allow, ChooseOption, Deny
from chorus.model.ids import PaneId, ToolUseId
from chorus.model.outcomes import PromptOpened
from chorus.tmux.panes import read_pane
from chorus.tmux.tmux_server import TmuxServer
from chorus.watcher.prompts.audit_log import AuditLog
from tests.client_double.conftest import ClientDouble
from tests.lab.client import INPUT_BOX, say
from tests.lab.terminal import Terminal, terminal_fixture, wait_until
from tests.waiting import wait_for
from tests.watcher.asking_client import Asking, end, stand_in_pane, write

FAKE = "\n".join(
    ["─" * 90, " Create file", " a.txt", " Do you want to create a.txt?", " ❯ 1. Yes", "   2. No"]
)
EDIT = {"tool": "Edit", "input": {"file_path": "{cwd}/app.py", "old_string": "pass", "new_string": "return"}}

BUILD = {"tool": "Bash", "input": {"command": "npm run build; touch built", "description": "Build"}}

ONE_KEY = {"key": "1", "how": "keys", "verified": True}


terminal = terminal_fixture(width=100, height=36)


@pytest.fixture
def asking(client_double: ClientDouble, terminal: Terminal, tmp_path: Path) -> Asking:
    client_double.scripts = {
        "one": [[write("a.txt")], end()],
        "two": [[write("a.txt")], [write("b.txt")], end()],
        "again": [[BUILD], [{"wait": "{cwd}/gate"}, BUILD], end()],
        "twins": [[BUILD, BUILD], end()],
        "edits": [[EDIT], [write("b.txt")], end()],
        "fake": [[{"say": FAKE}, {"wait": "{cwd}/gate"}], end()],
        "strange": [
            [{"show": ["New thing", "", "Shall the new thing happen?"], "options": ["Certainly", "No"]}],
            end(),
        ],
    }
    return Asking(
        client_double, terminal, stand_in_pane(client_double, terminal), AuditLog(tmp_path / "prompts.jsonl")
    )


async def test_an_approval_is_one_key_and_verified(asking: Asking) -> None:
    prompt = await asking.ask("one")

    done = await asking.answer(prompt)

    assert done == ONE_KEY
    assert asking.notified == [(1, 1), (0, 0)]
    asking.pane.wait_for("● All done")
    asking.expect_keys("1")
    assert (asking.client_double.project / "a.txt").exists()


async def test_two_approvals_at_once_are_one_key(asking: Asking) -> None:
    prompt = await asking.ask("two")

    both = await asyncio.gather(asking.answer(prompt), asking.answer(prompt), return_exceptions=True)

    assert both[0] == ONE_KEY
    assert "already answered" in str(both[1])
    asking.pane.wait_for("create b.txt")
    asking.expect_keys("1")
    assert not (asking.client_double.project / "b.txt").exists()


async def test_a_prompt_answered_in_the_pane_gets_no_key(asking: Asking) -> None:
    prompt = await asking.ask("one")
    asking.pane.press("1")
    asking.pane.wait_for("● All done")

    await asking.refused(prompt, "nothing was sent")
    asking.expect_keys("1")


@pytest.mark.parametrize("message", ["two", "edits"])
async def test_a_prompt_that_was_replaced_gets_no_key(asking: Asking, message: str) -> None:
    """By the same tool's about another file, and by another tool's."""
    prompt = await asking.ask(message)
    asking.pane.press("1")
    asking.pane.wait_for("create b.txt")
    asking.pane.wait_settled("Esc to cancel")

    await asking.refused(prompt, "nothing was sent")
    await asking.refused(prompt, "nothing was sent|answered or withdrawn", Deny())
    asking.listed()
    await asking.refused(prompt, "answered or withdrawn", ChooseOption("2"))
    asking.expect_keys("1")


async def test_the_same_question_asked_again_is_another_prompt(asking: Asking) -> None:
    prompt = await asking.ask("again")
    asking.pane.press("1")
    wait_until((asking.client_double.project / "built").exists, what="the first one runs")
    asking.pane.wait_gone("Esc to cancel")
    assert asking.listed() == []
    (asking.client_double.project / "gate").touch()
    asking.pane.wait_settled("Esc to cancel")

    await asking.refused(prompt, "answered or withdrawn")
    (present,) = asking.listed()
    assert present["fingerprint"] == prompt["fingerprint"]
    await asking.refused(prompt, "answered or withdrawn")
    asking.expect_keys("1")


async def test_the_second_of_two_equal_calls_is_another_prompt_once_reported(asking: Asking) -> None:
    prompt = await asking.ask("twins")
    asking.hear_transcript()
    asking.pane.press("1")
    wait_until((asking.client_double.project / "built").exists, what="the first one runs")
    asking.pane.wait_settled("Esc to cancel")

    wait_until(
        lambda: '"tool_result"' in str(asking.client_double.transcript()).replace("'", '"'), what="its end"
    )
    asking.hear_transcript()
    await asking.refused(prompt, "answered or withdrawn")
    (present,) = asking.listed()
    asking.expect_keys("1")
    asking.keys_before += 2
    assert (await asking.answer(present, Deny()))["how"] == "keys"


async def test_the_same_question_asked_again_unseen_is_another_prompt_once_reported(
    asking: Asking,
) -> None:
    """Nobody looked while the dialog was gone; the transcript says that the call is over."""
    prompt = await asking.ask("again")
    asking.pane.press("1")
    wait_until((asking.client_double.project / "built").exists, what="the first one runs")
    asking.pane.wait_gone("Esc to cancel")
    (asking.client_double.project / "gate").touch()
    asking.pane.wait_settled("Esc to cancel")

    asking.hear_transcript()
    await asking.refused(prompt, "answered or withdrawn")
    asking.expect_keys("1")


async def test_a_pane_in_copy_mode_gets_no_key_and_the_prompt_can_be_answered_later(asking: Asking) -> None:
    prompt = await asking.ask("one")
    asking.terminal.tmux("copy-mode", "-t", asking.pane.id)

    hint = await asking.refused(prompt, "copy mode; nothing was sent")
    assert hint == "Press q in the pane to leave copy mode, then answer again."
    asking.terminal.tmux("send-keys", "-t", asking.pane.id, "-X", "cancel")
    assert asking.pressed() == []

    assert (await asking.answer(prompt))["key"] == "1"


async def test_a_pane_scrolled_back_gets_no_key(asking: Asking) -> None:
    prompt = await asking.ask("one")
    asking.terminal.tmux("copy-mode", "-e", "-u", "-t", asking.pane.id)

    await asking.refused(prompt, "copy mode|scrolled")
    asking.terminal.tmux("send-keys", "-t", asking.pane.id, "-X", "cancel")
    asking.expect_keys()


async def test_a_shell_in_the_respawned_pane_gets_no_key(asking: Asking, tmp_path: Path) -> None:
    prompt = await asking.ask("one")
    keys = tmp_path / "shell-keys"
    shell = f"stty raw -echo; exec cat > {shlex.quote(str(keys))}"
    asking.terminal.tmux("respawn-pane", "-k", "-t", asking.pane.id, shell)
    wait_until(keys.exists, what="the shell runs")

    await asking.refused(prompt, "nothing was sent")
    asking.pane.press("x")
    wait_until(lambda: keys.read_bytes() == b"x", what="the sentinel, and only it, arrives")


async def test_a_shell_that_shows_the_same_dialog_gets_no_key(asking: Asking, tmp_path: Path) -> None:
    """The screen is the same to the last character; the program is another."""
    prompt = await asking.ask("one")
    keys, picture = tmp_path / "shell-keys", tmp_path / "picture"
    picture.write_text(asking.pane.screen().rstrip("\n"))
    shell = f"stty raw -echo opost; cat {shlex.quote(str(picture))}; exec cat > {shlex.quote(str(keys))}"
    asking.terminal.tmux("respawn-pane", "-k", "-t", asking.pane.id, shell)
    wait_until(keys.exists, what="the shell runs")
    asking.pane.wait_for("Esc to cancel")

    await asking.refused(prompt, "not in the pane's foreground; nothing|foreground")
    asking.pane.press("x")
    wait_until(lambda: keys.read_bytes() == b"x", what="the sentinel, and only it, arrives")


async def test_a_stopped_client_gets_no_key(
    client_double: ClientDouble, terminal: Terminal, tmp_path: Path
) -> None:
    """Stopped where it stands, with no shell to take over: its screen may be out of date."""
    client_double.scripts = {"one": [[write("a.txt")], end()]}
    # tmux itself wakes the first process of a pane; a child of it stays stopped.
    script = shlex.join(client_double.command("--permission-mode", "default")) + "; true"
    command = ["sh", "-c", script]
    pane = terminal.open(command, cwd=client_double.project, environment=client_double.environment())
    pane.wait_for(INPUT_BOX)
    asking = Asking(client_double, terminal, pane, AuditLog(tmp_path / "prompts.jsonl"))
    prompt = await asking.ask("one")
    assert asking.watched.client is not None
    client = asking.watched.client.pid
    os.kill(client, signal.SIGSTOP)
    wait_until(lambda: psutil.Process(client).status() == psutil.STATUS_STOPPED, what="it stops")

    await asking.refused(prompt, "foreground")
    os.kill(client, signal.SIGCONT)
    asking.expect_keys()


async def test_a_shell_in_front_of_a_suspended_client_gets_no_key(
    client_double: ClientDouble, terminal: Terminal, tmp_path: Path
) -> None:
    client_double.scripts = {"one": [[write("a.txt")], end()]}
    pane = terminal.open(
        ["bash", "--norc", "-i"], cwd=client_double.project, environment=client_double.environment()
    )
    pane.type(shlex.join([sys.executable, "-m", "tests.client_double", "--permission-mode", "default"]))
    pane.press("Enter")
    pane.wait_for(INPUT_BOX)
    asking = Asking(client_double, terminal, pane, AuditLog(tmp_path / "prompts.jsonl"))
    prompt = await asking.ask("one")
    assert asking.watched.client is not None
    shown = pane.screen().rstrip("\n")
    os.kill(asking.watched.client.pid, signal.SIGTSTP)
    wait_until(lambda: pane_command(asking) == "bash", what="the shell is in front")
    # The dialog's picture stays on the screen, as a client that draws on the normal one leaves it.
    (tmp_path / "picture").write_text(shown)
    pane.type(f"PS1= ; clear; cat {shlex.quote(str(tmp_path / 'picture'))}; read -r line")
    pane.press("Enter")
    pane.wait_for("Esc to cancel")

    await asking.refused(prompt, "foreground")
    assert asking.listed() == []
    os.kill(asking.watched.client.pid, signal.SIGKILL)


def pane_command(asking: Asking) -> str:
    return read_pane(TmuxServer(asking.watched.address), PaneId(asking.pane.id)).command


async def test_with_answers_by_hook_only_no_key_is_sent(asking: Asking) -> None:
    prompt = await asking.ask("one")
    asking.preferences = Preferences(relay="hook")

    await asking.refused(prompt, "hook; nothing was sent")
    asking.expect_keys()


async def test_a_dead_pane_gets_no_key(asking: Asking) -> None:
    prompt = await asking.ask("one")
    asking.terminal.tmux("set-option", "-g", "remain-on-exit", "on")
    assert asking.watched.client is not None
    os.kill(asking.watched.client.pid, signal.SIGKILL)
    # The words "Pane is dead" are not drawn in every case; what tmux says of the pane is sure.
    state = ("display-message", "-p", "-t", asking.pane.id, "#{pane_dead}")
    wait_for(lambda: asking.terminal.tmux(*state).strip() == "1", what="the pane's end")

    await asking.refused(prompt, "dead")
    assert asking.listed() == []


async def test_a_pane_of_the_same_number_on_a_new_server_gets_no_key(asking: Asking) -> None:
    prompt = await asking.ask("one")
    asking.terminal.stop()
    asking.pane = same = stand_in_pane(asking.client_double, asking.terminal)
    assert same.id == prompt["pane"]
    say(same, "one")
    same.wait_settled("Esc to cancel")
    asking.keys_before = len([key for read in asking.client_double.pressed() for key in read["keys"]])

    await asking.refused(prompt, "nothing was sent")
    await asking.watch()
    (present,) = asking.listed()
    assert present["fingerprint"] == prompt["fingerprint"]
    assert present["id"] != prompt["id"]
    await asking.refused(prompt, "answered or withdrawn")
    asking.expect_keys()


async def test_the_same_pane_number_on_another_server_gets_no_key(asking: Asking) -> None:
    prompt = await asking.ask("one")
    with Terminal(width=100, height=36) as elsewhere:
        other = stand_in_pane(asking.client_double, elsewhere)
        assert other.id == asking.pane.id
        asking.watched.address = type(asking.watched.address)(elsewhere.socket())
        say(other, "one")
        other.wait_settled("Esc to cancel")
        asking.keys_before = len([key for read in asking.client_double.pressed() for key in read["keys"]])

        await asking.refused(prompt, "foreground")
        assert asking.pressed() == []


async def test_text_that_imitates_a_prompt_is_not_a_prompt(asking: Asking) -> None:
    await asking.watch()
    say(asking.pane, "fake")
    asking.pane.wait_for(r"❯ 1\. Yes")

    assert asking.listed() == []
    (asking.client_double.project / "gate").touch()


async def test_an_unknown_dialog_gets_no_key(asking: Asking) -> None:
    await asking.watch()
    say(asking.pane, "strange")
    asking.pane.wait_settled("Shall the new thing happen")
    asking.keys_before = len([key for read in asking.client_double.pressed() for key in read["keys"]])

    (listed,) = wait_for(asking.listed, what="the dialog is listed")
    assert listed["kind"] == "unknown"
    await asking.refused(listed, "nothing was sent")
    asking.expect_keys()


class OpenChannel:
    """A client that waits for an answer and takes it."""

    how = "mod"

    def is_open(self) -> bool:
        return True

    async def send(self, decision: dict[str, Any]) -> Sequence[str]:
        return ()

    def close(self) -> None: ...


async def test_a_requested_prompt_whose_dialog_cannot_be_read_is_listed_once(asking: Asking) -> None:
    """A small pane shows only the end of the dialog."""
    await asking.watch()
    say(asking.pane, "strange")
    asking.pane.wait_settled("Shall the new thing happen")
    wait_for(asking.listed, what="the dialog is listed")
    session, pane = asking.watched.session, PaneId(asking.pane.id)
    command = {"command": "make"}
    request = PromptOpened(session, ToolUseId("t"), "Bash", command, None, None, None, ())

    asking.prompts.add(request, pane, OpenChannel(), policy_pending=False)

    (listed,) = asking.listed()
    assert (listed["tool"], listed["input"]) == ("Bash", command)
    asking.notified.clear()
    await asking.answer(listed)
    assert asking.listed() == [], "until its dialog is closed it is not taken for another one"
    assert asking.notified == [(0, 0)]


async def test_a_dialog_that_no_longer_fits_its_pane_is_listed_once(asking: Asking) -> None:
    prompt = await asking.ask("one")
    asking.terminal.tmux("resize-window", "-t", asking.pane.id, "-x", "100", "-y", "3")

    # While the client draws it again, nothing may be on the screen for a moment.
    wait_for(lambda: [each["kind"] for each in asking.listed()] == ["unknown"], what="it cannot be read")

    (listed,) = asking.listed()
    await asking.refused(listed, "nothing was sent")
    await asking.refused(prompt, "nothing was sent|it was answered or withdrawn")
    asking.terminal.tmux("resize-window", "-t", asking.pane.id, "-x", "100", "-y", "36")
    asking.pane.wait_settled("create a.txt")
    (again,) = asking.listed()
    assert again["kind"] == prompt["kind"]
    if again["id"] != prompt["id"]:  # nothing was on the screen for a moment: it is another appearance
        await asking.refused(prompt, "it was answered or withdrawn")
    asking.expect_keys()


async def test_a_prompt_listed_before_a_restart_of_the_watcher_gets_no_key(asking: Asking) -> None:
    prompt = await asking.ask("one")
    asking.restart_watcher()
    await asking.watch()
    (present,) = asking.listed()

    await asking.refused(prompt, "answered or withdrawn")
    asking.expect_keys()
    assert present["fingerprint"] == prompt["fingerprint"]
    asking.keys_before += 1
    assert (await asking.answer(present, Allow()))["key"] == "1"
