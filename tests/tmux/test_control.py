"""The control connection receives events, affects no other client, and reports why it ended."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from chorus.model.ids import PaneId
from chorus.system.processes.processes import read_process
from chorus.tmux.address import Address
from chorus.tmux.control_connection import ControlConnection, changed_panes
from chorus.tmux.control_protocol import Block, BlockParser, ControlEvent
from chorus.tmux.errors import ConnectionLost, PaneGone, ServerGone, ServerTimeout
from chorus.tmux.panes import capture_screen, read_pane, read_panes
from tests.lab.terminal import Terminal, wait_until
from tests.tmux.conftest import Open

ROOT = Path(__file__).parents[2]
# Connects, reads nothing, and says when there is much to read.
CONNECT_AND_IDLE = """
import array, fcntl, signal, sys, termios, time
from pathlib import Path
from chorus.tmux.address import Address
from chorus.tmux.control_connection import ControlConnection

control = ControlConnection(Address(Path(sys.argv[1])), target=sys.argv[2], watch=True)
unread = array.array("i", [0])
while unread[0] < 32768:
    fcntl.ioctl(control.fileno(), termios.FIONREAD, unread)
    time.sleep(0.01)
print("full", flush=True)
signal.pause()
"""


def moved(control: ControlConnection) -> set[PaneId]:
    return changed_panes(control.events())


def test_only_a_pane_that_prints_causes_an_event(open_pane: Open, address: Address) -> None:
    pane = open_pane("stty -echo; printf ready; exec cat")
    pane.wait_for("ready")
    with ControlConnection(address, target=pane.id, watch=True) as control:
        wait_until(lambda: not control.wait(0.1) or not control.events(), what="quiet")

        pane.type("hello\n")

        assert control.wait(5)
        wait_until(lambda: moved(control) == {pane.id}, what="the pane moved")
        assert "hello" in capture_screen(control, PaneId(pane.id)).text


def test_copy_mode_causes_an_event(open_pane: Open, address: Address, terminal: Terminal) -> None:
    pane = open_pane("printf ready; exec cat")
    pane.wait_for("ready")
    with ControlConnection(address, target=pane.id, watch=True) as control:
        wait_until(lambda: not control.wait(0.1) or not control.events(), what="quiet")
        terminal.tmux("copy-mode", "-t", pane.id)

        wait_until(lambda: pane.id in moved(control), what="copy mode is heard")


def test_a_pane_that_floods_does_not_stop_the_connection(open_pane: Open, address: Address) -> None:
    pane = open_pane("exec yes")
    with ControlConnection(address, target=pane.id, watch=True) as control:
        for _ in range(20):
            wait_until(lambda: pane.id in moved(control), what="the pane is heard")
            assert read_pane(control, PaneId(pane.id)).command in ("yes", "sh")


def test_events_that_are_read_with_a_reply_are_announced(open_pane: Open, address: Address) -> None:
    pane = open_pane("stty -echo; printf ready; exec cat")
    pane.wait_for("ready")
    with ControlConnection(address, target=pane.id, watch=True) as control:
        announced: list[bool] = []
        control.on_events = lambda: announced.append(True)
        wait_until(lambda: not control.wait(0.1) or not control.events(), what="quiet")
        pane.type("hello\n")
        assert control.wait(5)

        read_panes(control)

        assert announced
        assert moved(control) == {pane.id}


def test_a_pane_that_floods_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = tmp_path / "printed"
    program = tmp_path / "tmux"
    program.write_text(
        "#!/bin/sh\n"
        "printf '%%begin 1 1 0\\n%%end 1 1 0\\n%%pause %%1\\n%%output %%1 a\\n'\n"
        "yes '%output %2 b' | head -n 3000\n"
        f": > {printed}\n"
        "exec cat\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with ControlConnection(Address(tmp_path / "socket"), target="%1") as control:
        monkeypatch.setattr(ControlConnection, "run", lambda self, *commands: [])
        wait_until(printed.exists, what="the flood")

        found = control.events()

    assert [(event.kind, event.fields[0]) for event in found] == [
        ("pause", "%1"),
        ("output", "%1"),
        ("output", "%2"),
    ]


def test_a_connection_does_not_change_window_sizes_and_leaves_no_trace(
    open_pane: Open, address: Address, terminal: Terminal
) -> None:
    pane = open_pane("cat")
    before = terminal.tmux("list-windows", "-a")
    with ControlConnection(address, target=pane.id, watch=True) as control:
        read_panes(control)
        assert terminal.tmux("list-windows", "-a") == before
        assert len(terminal.tmux("list-clients").splitlines()) == 1
    wait_until(lambda: terminal.tmux("list-clients") == "", what="our client has left")
    assert terminal.tmux("list-windows", "-a") == before


def test_a_connection_ends_with_its_process_even_if_output_is_waiting(
    open_pane: Open, address: Address, terminal: Terminal
) -> None:
    pane = open_pane("exec yes")
    holder = subprocess.Popen(
        [sys.executable, "-c", CONNECT_AND_IDLE, str(address.socket), pane.id],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"full\n"
        client = int(terminal.tmux("list-clients", "-F", "#{client_pid}"))
    finally:
        holder.kill()
        holder.communicate()
    wait_until(lambda: terminal.tmux("list-clients") == "", what="the connection has left")
    wait_until(lambda: read_process(client) is None, what="its process has ended")


def test_after_an_error_the_next_call_works(open_pane: Open, address: Address) -> None:
    pane = open_pane("cat")
    with ControlConnection(address, target=pane.id) as control:
        for _ in range(3):
            with pytest.raises(PaneGone):
                control.run(["capture-pane", "-p", "-t", "%99"], ["display-message", "-p", "never"])
            assert control.run(["display-message", "-p", "a b"], ["display-message", "-p", "c"]) == [
                "a b",
                "c",
            ]


def test_a_closed_session_and_a_dead_server_are_different_errors(
    open_pane: Open, address: Address, terminal: Terminal
) -> None:
    one, two = open_pane("cat"), open_pane("cat")
    with (
        ControlConnection(address, target=one.id) as first,
        ControlConnection(address, target=two.id) as second,
    ):
        terminal.tmux("kill-session", "-t", one.id)
        with pytest.raises(ConnectionLost):
            read_panes(first)

        terminal.stop()
        with pytest.raises(ServerGone):
            read_panes(second)
        second.events()  # what was heard before the end
        with pytest.raises(ServerGone):
            second.events()


def test_a_server_that_hangs_is_a_timeout(
    open_pane: Open, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chorus.tmux.control_connection.REPLY_TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr("chorus.tmux.silent_servers.RETRY_SECONDS", 0.0)
    pane = open_pane("cat")
    with ControlConnection(address, target=pane.id) as control:
        server = read_pane(control, PaneId(pane.id)).identity.server_pid
        os.kill(server, signal.SIGSTOP)
        try:
            with pytest.raises(ServerTimeout):
                read_panes(control)
        finally:
            os.kill(server, signal.SIGCONT)
        monkeypatch.setattr("chorus.tmux.control_connection.REPLY_TIMEOUT_SECONDS", 20.0)
        # The late reply is not taken for the reply to the next command.
        assert control.run(["display-message", "-p", "mine"]) == ["mine"]


def test_a_missing_server_is_an_error_at_once(address: Address) -> None:
    with pytest.raises(ServerGone):
        ControlConnection(address, target="%0")
    assert not address.socket.exists()  # and none is started


def test_a_missing_pane_is_an_error_at_once(open_pane: Open, address: Address) -> None:
    open_pane("cat")

    with pytest.raises(PaneGone):
        ControlConnection(address, target="%9")


def test_text_that_looks_like_the_end_of_a_block_does_not_end_it() -> None:
    parser = BlockParser()
    text = b"%begin 1 2 1\n%end 1 1 1\n%error\n%output %1 x\n%end 1 2 1\n%output %1 a\\134\\012b\n"

    found = [item for at in range(len(text)) for item in parser.feed(text[at : at + 1])]

    assert found == [
        Block(False, ("%end 1 1 1", "%error", "%output %1 x")),
        ControlEvent("output", b"%1 a\\134\\012b"),
    ]
