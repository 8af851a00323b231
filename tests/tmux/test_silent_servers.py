"""A tmux server that is stopped: every call ends with an error, and none waits for it again and again."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chorus.model.ids import PaneId
from chorus.tmux import control_connection, silent_servers, tmux_server
from chorus.tmux.address import Address
from chorus.tmux.control_connection import ControlConnection
from chorus.tmux.errors import ServerTimeout
from chorus.tmux.panes import read_pane, read_panes
from chorus.tmux.pipe import open_pipe
from chorus.tmux.tmux_server import Tmux, TmuxServer
from tests.lab.terminal import Pane
from tests.tmux.conftest import Open

Stop = Callable[[Tmux], int]


@pytest.fixture
def stop_server() -> Iterator[Stop]:
    stopped: list[int] = []

    def stop(tmux: Tmux) -> int:
        stopped.append(int(tmux.run(["display-message", "-p", "#{pid}"])[0]))
        os.kill(stopped[-1], signal.SIGSTOP)
        return stopped[-1]

    yield stop
    for server in stopped:
        os.kill(server, signal.SIGCONT)


def limit_replies(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr(tmux_server, "REPLY_TIMEOUT_SECONDS", seconds)
    monkeypatch.setattr(control_connection, "REPLY_TIMEOUT_SECONDS", seconds)


def test_a_stopped_server_is_an_error_and_is_not_waited_for_twice(
    open_pane: Open,
    connect: Callable[[Pane], Tmux],
    address: Address,
    stop_server: Stop,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pane = open_pane("cat")
    tmux = connect(pane)
    stop_server(tmux)

    limit_replies(monkeypatch, 0.2)
    with pytest.raises(ServerTimeout, match="does not reply") as caught:
        read_panes(tmux)
    assert "stopped" in str(caught.value.hint)

    limit_replies(monkeypatch, 1000.0)  # the calls that follow do not wait at all
    for again in (tmux, TmuxServer(address)):
        with pytest.raises(ServerTimeout):
            read_panes(again)
    with pytest.raises(ServerTimeout):
        ControlConnection(address, target=pane.id)


def test_a_server_that_replies_again_is_used_again(
    open_pane: Open, connect: Callable[[Pane], Tmux], stop_server: Stop, monkeypatch: pytest.MonkeyPatch
) -> None:
    pane = open_pane("cat")
    tmux = connect(pane)
    server = stop_server(tmux)
    limit_replies(monkeypatch, 0.2)
    monkeypatch.setattr(silent_servers, "RETRY_SECONDS", 0.0)
    with pytest.raises(ServerTimeout):
        read_panes(tmux)

    os.kill(server, signal.SIGCONT)
    limit_replies(monkeypatch, 20.0)
    assert read_pane(tmux, PaneId(pane.id)).id == pane.id


def test_a_pipe_is_closed_although_the_server_does_not_reply(
    open_pane: Open,
    connect: Callable[[Pane], Tmux],
    stop_server: Stop,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    pane = open_pane("cat")
    tmux = connect(pane)
    pipe = open_pipe(tmux, PaneId(pane.id), tmp_path / "fifo")
    stop_server(tmux)
    limit_replies(monkeypatch, 0.2)

    pipe.close(tmux)

    assert list(tmp_path.iterdir()) == []
