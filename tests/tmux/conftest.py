"""A tmux server of the test's own, reached both ways: one process per call, and over one kept connection."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chorus.tmux.address import Address
from chorus.tmux.control_connection import ControlConnection
from chorus.tmux.tmux_server import Tmux, TmuxServer
from tests.lab.terminal import Pane, Terminal, terminal_fixture

Open = Callable[..., Pane]


terminal = terminal_fixture(width=60, height=8)


@pytest.fixture
def address(terminal: Terminal) -> Address:
    return Address(terminal.socket())


@pytest.fixture
def open_pane(terminal: Terminal, tmp_path: Path) -> Open:
    """Run a shell script in a pane of its own."""

    def run(script: str) -> Pane:
        return terminal.open(["sh", "-c", script], cwd=tmp_path, environment={"PATH": "/usr/bin:/bin"})

    return run


@pytest.fixture(params=["one-shot", "control"])
def connect(request: pytest.FixtureRequest, address: Address) -> Iterator[Callable[[Pane], Tmux]]:
    """Every way to reach the server, so that each test holds for all of them."""
    opened: list[ControlConnection] = []

    def reach(pane: Pane) -> Tmux:
        if request.param == "one-shot":
            return TmuxServer(address)
        opened.append(ControlConnection(address, target=pane.id))
        return opened[-1]

    yield reach
    for control in opened:
        control.close()
