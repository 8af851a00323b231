"""A headless client whose events name no directory and no time, in a pane that was watched before."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from chorus.commands.status import render
from chorus.errors import ChorusError
from chorus.wire.client import connect
from chorus.wire.home import Home
from chorus.wire.watcher_process import connect_or_start, stop
from tests.client_double.conftest import ClientDouble
from tests.lab.terminal import Pane, Terminal, terminal_fixture
from tests.waiting import wait_for

terminal = terminal_fixture(width=60, height=36)
SECONDS = 60.0
SESSION = "6d0f1a52-older"
CLIENT = f"""#!{sys.executable}
import json, pathlib, sys, time

def say(**event):
    print(json.dumps(event), flush=True)

def write(name, text):
    call = f"toolu_{{name}}"
    say(type="tool_use", id=call, toolName="Write", toolInput={{"file_path": name, "content": text}})
    pathlib.Path(name).write_text(text)
    say(type="tool_result", toolUseId=call, isError=False, content="File written successfully")

say(type="session_start", session_id="{SESSION}")
write("first.txt", "one\\n")
write("second.txt", "two\\n")
while not pathlib.Path("gate").exists():
    time.sleep(0.02)
write("third.txt", "three\\n")
say(type="result", sessionId="{SESSION}", result={{"stopReason": "end_turn"}})
"""
EARLIER = [
    {"type": "session_start", "session_id": "earlier"},
    {"type": "tool_use", "id": "toolu_0", "toolName": "Write", "toolInput": {"file_path": "app.py"}},
    {"type": "tool_result", "toolUseId": "toolu_0", "isError": False, "content": "done"},
]


EDITS = [("committed", [f"sub/{name}.txt"]) for name in ("first", "second", "third")]


@pytest.fixture
def pane(client_double: ClientDouble, terminal: Terminal, tmp_path: Path, home: Home) -> Pane:
    """A watched shell in the repository that shows the events of an earlier client."""
    program = tmp_path / "claude"
    program.write_text(CLIENT)
    program.chmod(0o755)
    (client_double.project / "sub").mkdir()
    shown = tmp_path / "shown"
    shown.write_text("".join(json.dumps(event) + "\n" for event in EARLIER))
    environment = client_double.environment()
    shell = ["bash", "--norc", "-c", f"cat {shown}; exec bash --norc -i"]
    pane = terminal.open(shell, cwd=client_double.project, environment=environment)
    pane.wait_for(r"done\"\}\s+\S*[$#]", seconds=SECONDS)
    return pane


def watch(home: Home, terminal: Terminal, pane: Pane) -> None:
    with connect_or_start(home) as watcher:
        watcher.ask("watch", socket=str(terminal.socket()), pane=pane.id)


def start_client(pane: Pane, tmp_path: Path) -> None:
    pane.type(f"(cd sub && exec {tmp_path}/claude -p go --output-format stream-json)\n")


def recorded(home: Home, project: Path) -> list[tuple[str, list[str]]]:
    with connect(home) as watcher:
        entries = watcher.ask("log", cwd=str(project), here=True, outside=True)
    return [(entry["status"], entry["paths"]) for entry in entries if entry["paths"]]


def expect_third_edit(home: Home, project: Path) -> None:
    """Let the client go on, and wait until all three edits are recorded."""
    (project / "sub" / "gate").touch()
    wait_for(lambda: EDITS[2] in recorded(home, project), what="the third edit", seconds=SECONDS)
    assert [one for one in recorded(home, project) if one[1] != ["sub/gate"]] == EDITS


def sessions(home: Home) -> dict[str, tuple[str, str | None, str | None]]:
    with connect(home) as watcher:
        found = watcher.ask("status")["sessions"]
    return {session["id"]: (session["state"], session["cwd"], session["pane"]) for session in found}


def test_edits_are_committed_in_the_directory_of_the_client_from_its_first_moment(
    pane: Pane, home: Home, client_double: ClientDouble, terminal: Terminal, tmp_path: Path
) -> None:
    sub = client_double.project / "sub"
    watch(home, terminal, pane)
    start_client(pane, tmp_path)
    wait_for(lambda: recorded(home, client_double.project) == EDITS[:2], what="two edits", seconds=SECONDS)
    with connect(home) as watcher:
        (source,) = [one["source"] for one in watcher.ask("status")["sessions"] if one["id"] == SESSION]
    assert source == "pipe"
    state, cwd, place = sessions(home)[SESSION]
    assert (state != "gone", cwd, place) == (True, str(sub), pane.id)
    (sub / "gate").touch()
    wait_for(lambda: sessions(home)[SESSION][0] == "gone", what="it ended", seconds=SECONDS)
    assert [one for one in recorded(home, client_double.project) if one[1] != ["sub/gate"]] == EDITS


def test_a_pane_piped_elsewhere_is_read_from_its_screen_and_status_says_so(
    pane: Pane, home: Home, client_double: ClientDouble, terminal: Terminal, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs"
    terminal.tmux("pipe-pane", "-t", pane.id, f"cat > {theirs}")
    watch(home, terminal, pane)
    start_client(pane, tmp_path)
    wait_for(lambda: recorded(home, client_double.project) == EDITS[:2], what="two edits", seconds=SECONDS)
    with connect(home) as watcher:
        status = watcher.ask("status")
    assert {one["id"]: one["from_screen"] for one in status["sessions"]} == {SESSION: True, "earlier": False}
    assert {one["id"]: one["source"] for one in status["sessions"]} == {
        SESSION: "screen",
        "earlier": "transcript",
    }
    text = "\n".join(render(status, ended=False))
    assert f"in pane {pane.id} (read from the screen, because another program pipes this pane)" in text
    expect_third_edit(home, client_double.project)
    wait_for(lambda: "stopReason" in theirs.read_text(), what="their pipe goes on", seconds=SECONDS)


def test_a_pipe_that_another_program_takes_later_loses_nothing(
    pane: Pane, home: Home, client_double: ClientDouble, terminal: Terminal, tmp_path: Path
) -> None:
    watch(home, terminal, pane)
    start_client(pane, tmp_path)
    wait_for(lambda: recorded(home, client_double.project) == EDITS[:2], what="two edits", seconds=SECONDS)
    theirs = tmp_path / "theirs"
    terminal.tmux("pipe-pane", "-t", pane.id, f"cat > {theirs}")
    expect_third_edit(home, client_double.project)
    wait_for(lambda: "stopReason" in theirs.read_text(), what="their pipe goes on", seconds=SECONDS)


def test_a_stopped_tmux_server_delays_nobody(
    pane: Pane, home: Home, client_double: ClientDouble, terminal: Terminal, tmp_path: Path
) -> None:
    server = int(terminal.tmux("display-message", "-p", "#{pid}"))
    watch(home, terminal, pane)
    start_client(pane, tmp_path)
    wait_for(lambda: SESSION in sessions(home), what="the session", seconds=SECONDS)
    os.kill(server, signal.SIGSTOP)
    try:
        (client_double.project / "sub" / "gate").touch()
        wait_for(lambda: "does not reply" in home.log.read_text(), what="a timeout", seconds=SECONDS)
        with connect(home) as watcher:
            assert watcher.ask("status")["watcher"]
            with pytest.raises(ChorusError, match="does not reply") as caught:
                watcher.ask("watch", socket=str(terminal.socket()), pane=pane.id)
        assert "stopped" in str(caught.value.hint)
        assert stop(home)
    finally:
        os.kill(server, signal.SIGCONT)
