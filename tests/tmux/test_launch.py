"""Programs started in panes: word for word, where they were asked for, without moving the user."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from chorus.model.ids import PaneId
from chorus.tmux.address import Address, select_address
from chorus.tmux.launch import PanePlacement, attach_command, open_pane
from chorus.tmux.panes import read_panes
from chorus.tmux.tmux_server import TmuxServer
from tests.lab.terminal import Terminal, wait_until
from tests.tmux.conftest import Open

TELL = (
    "import json, os, sys; json.dump([sys.argv[2:], os.getcwd(), os.environ['MARK']], open(sys.argv[1], 'w'))"
)
ODD = ["a b", "", "$HOME", "x;", ";", "#{pane_id}", "'\"\\", "日本", "-n", "~"]


@pytest.fixture
def open_pane_in_server(open_pane: Open) -> PaneId:
    return PaneId(open_pane("exec cat").id)


@pytest.mark.parametrize("place", PanePlacement)
def test_the_program_gets_its_arguments_directory_and_environment_unchanged(
    place: PanePlacement, terminal: Terminal, open_pane_in_server: PaneId, tmp_path: Path
) -> None:
    tmux = TmuxServer(Address(terminal.socket()))
    cwd = tmp_path / "a #{pane_id} b;"
    cwd.mkdir()
    out = tmp_path / "out"
    command = [sys.executable, "-c", TELL, str(out), *ODD]

    open_pane(tmux, place, command, cwd=cwd, environment={"MARK": "x;#{y} ;"}, beside=open_pane_in_server)

    wait_until(lambda: out.exists() and out.read_text().endswith("]"), what="the program has run")
    assert json.loads(out.read_text()) == [ODD, str(cwd), "x;#{y} ;"]


def test_a_first_session_starts_the_server(terminal: Terminal, tmp_path: Path) -> None:
    address = Address(terminal.socket())

    pane = open_pane(TmuxServer(address), PanePlacement.SESSION, ["cat"], cwd=tmp_path, name="chorus")

    assert [state.id for state in read_panes(TmuxServer(address))] == [pane]
    assert attach_command(address, pane)[-2:] == ["-t", pane]


def test_the_directory_of_the_first_server_is_created(short_directory: Path) -> None:
    address = select_address({"TMUX_TMPDIR": str(short_directory)}, name=None, path=None)

    pane = open_pane(TmuxServer(address), PanePlacement.SESSION, ["cat"], cwd=short_directory)

    assert [state.id for state in read_panes(TmuxServer(address))] == [pane]
    assert address.socket.parent.stat().st_mode & 0o777 == 0o700
    TmuxServer(address).run(["kill-server"])


def test_a_new_window_or_split_does_not_change_the_users_focus(
    terminal: Terminal, open_pane_in_server: PaneId, tmp_path: Path
) -> None:
    tmux = TmuxServer(Address(terminal.socket()))

    for place in (PanePlacement.WINDOW, PanePlacement.SPLIT):
        open_pane(tmux, place, ["sleep", "99"], cwd=tmp_path, beside=open_pane_in_server)

    assert terminal.tmux("display-message", "-p", "-t", "$0", "#{pane_id}").strip() == open_pane_in_server


def test_a_session_is_opened_while_the_server_ends(terminal: Terminal, tmp_path: Path) -> None:
    tmux = TmuxServer(Address(terminal.socket()))
    for _ in range(15):
        open_pane(tmux, PanePlacement.SESSION, ["cat"], cwd=tmp_path)
        (program,) = [state.identity.pane_pid for state in read_panes(tmux)]
        os.kill(program, signal.SIGKILL)  # the server ends with its last pane
        pane = open_pane(tmux, PanePlacement.SESSION, ["cat"], cwd=tmp_path)
        assert pane in [state.id for state in read_panes(tmux)]
        terminal.stop()
