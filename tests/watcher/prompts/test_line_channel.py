"""A request printed as a line is answered in its pane while it is the last thing shown."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chorus.agents.claude_code.adapter import AGENT
from chorus.model.api.json_api import PromptJson
from chorus.model.ids import PaneId
from chorus.system.processes.processes import read_process
from chorus.tmux.address import Address
from chorus.tmux.tmux_server import TmuxServer
from chorus.watcher.panes.watched_panes import WatchedPane
from chorus.watcher.prompts import reply_channels
from chorus.watcher.prompts.answer_keys import PromptRefused
from chorus.watcher.prompts.reply_channels import LineChannel
from chorus.wire.client import connect
from chorus.wire.home import Home
from chorus.wire.protocol import WatcherError
from tests.client_double.conftest import ClientDouble
from tests.lab.terminal import Pane, Terminal, terminal_fixture
from tests.waiting import wait_for

QUESTION = "Allow Claude to execute 'rm -rf build' in a directory whose name is long enough to wrap around?"
SECONDS = 60.0


terminal = terminal_fixture(width=70, height=36)


@pytest.fixture
def pane(client_double: ClientDouble, terminal: Terminal, home: Home) -> Pane:
    """A client that asks twice, and says how it goes on."""
    first, second = ({"show": [text], "options": ["Yes", "No"]} for text in (QUESTION, "And now?"))
    client_double.scripts = {
        "go": [[{"wait": "{cwd}/gate"}, first, {"say": "First."}, second, {"say": "Second."}]]
    }
    events = ("-p", "go", "--output-format", "stream-json", "--verbose")
    pane = terminal.open(
        client_double.command(*events), cwd=client_double.project, environment=client_double.environment()
    )
    pane.wait_for('"subtype":"init"')
    attach = [sys.executable, "-m", "chorus", "attach", "-L", terminal.name]
    subprocess.run(
        attach, cwd=client_double.project, env=client_double.environment(), check=True, capture_output=True
    )
    (client_double.project / "gate").touch()
    return pane


def waiting(home: Home, *, but: str = "") -> PromptJson:
    def look() -> PromptJson | None:
        with connect(home) as watcher:
            return next((p for p in watcher.ask("prompts") if p["id"] != but), None)

    return wait_for(look, what="a prompt", seconds=SECONDS)


def answer(home: Home, prompt: PromptJson, decision: str, **more: str) -> Any:
    with connect(home) as watcher:
        given = {"prompt": prompt["id"], "fingerprint": prompt["fingerprint"], "decision": decision}
        return watcher.request("answer", {**given, **more})


def typed(client_double: ClientDouble) -> list[str]:
    return [bytes.fromhex(read["bytes"]).decode() for read in client_double.pressed()]


def test_each_line_is_answered_with_one_key_and_enter(
    pane: Pane, home: Home, client_double: ClientDouble
) -> None:
    first = waiting(home)
    assert (first["kind"], first["question"], first["pane"]) == ("permission", QUESTION, pane.id)
    with pytest.raises(WatcherError, match="without a message"):
        answer(home, first, "deny", message="not so")
    assert answer(home, first, "allow") == {"key": "y", "how": "line", "verified": True}

    second = waiting(home, but=first["id"])
    with pytest.raises(WatcherError, match="answered or withdrawn"):
        answer(home, first, "allow")
    answer(home, second, "deny")
    wait_for(lambda: len(typed(client_double)) == 2, what="both lines", seconds=SECONDS)

    assert typed(client_double) == ["y\n", "n\n"]
    with connect(home) as watcher:
        assert watcher.ask("prompts") == []


def test_with_other_text_after_the_line_no_key_is_sent(
    pane: Pane, home: Home, client_double: ClientDouble, terminal: Terminal
) -> None:
    first = waiting(home)
    pane.type("hm")
    pane.wait_for("hm")
    with pytest.raises(WatcherError, match=r"no longer|answered or withdrawn|last thing"):
        answer(home, first, "allow")
    pane.press("Enter")
    second = waiting(home, but=first["id"])
    terminal.tmux("copy-mode", "-t", pane.id)
    with pytest.raises(WatcherError, match=r"no longer|answered or withdrawn|last thing"):
        answer(home, second, "allow")
    terminal.tmux("send-keys", "-t", pane.id, "-X", "cancel")
    pane.press("n", "Enter")
    wait_for(lambda: len(typed(client_double)) == 2, what="both lines", seconds=SECONDS)
    assert typed(client_double) == ["hm\n", "n\n"]


@pytest.mark.parametrize(("echo", "keys"), [("echo", ["y", "Enter"]), ("-echo", ["y"])])
async def test_a_client_that_shows_no_reaction_has_got_the_keys_that_the_refusal_names(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, echo: str, keys: list[str]
) -> None:
    monkeypatch.setattr(reply_channels, "ANSWER_TIMEOUT_SECONDS", 0.5)
    line = json.dumps({"type": "permission_request", "prompt": "Go?"})
    script = f"stty {echo}; printf '%s\\n' '{line}'; exec sleep 60"
    pane = terminal.open(["sh", "-c", script], cwd=tmp_path, environment={"PATH": "/usr/bin:/bin"})
    pane.wait_for("Go")
    address = Address(terminal.socket())
    client = read_process(int(terminal.tmux("display", "-p", "-t", pane.id, "#{pane_pid}")))
    watched = WatchedPane(address, PaneId(pane.id), client=client)
    channel = LineChannel(AGENT.prompts, watched, "Go?", lambda _: TmuxServer(address))
    with pytest.raises(PromptRefused, match=f"did not accept {' and '.join(keys)}$") as refused:
        await channel.send({"behavior": "allow"})
    assert refused.value.keys == keys
