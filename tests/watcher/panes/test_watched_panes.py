"""Watched panes that are closed."""

from pathlib import Path

from chorus.agents.claude_code.adapter import AGENT
from chorus.model.ids import PaneId
from chorus.tmux.address import Address
from chorus.watcher.panes.watched_panes import WatchedPanes
from tests.lab.terminal import Terminal, terminal_fixture
from tests.watcher.asking_client import FakePaneEvents

terminal = terminal_fixture(width=80, height=10)


class FakeStream:
    """A stream that must not be read after it was closed."""

    def __init__(self) -> None:
        self.is_closed = False

    async def drain(self) -> None:
        assert not self.is_closed

    def close(self) -> None:
        self.is_closed = True


async def test_the_stream_of_a_closed_pane_is_closed(terminal: Terminal, tmp_path: Path) -> None:
    environment = {"PATH": "/usr/bin:/bin"}
    terminal.open(["cat"], cwd=tmp_path, environment=environment)  # the server stays
    pane = terminal.open(["cat"], cwd=tmp_path, environment=environment)
    stream = FakeStream()

    panes = WatchedPanes(FakePaneEvents(stream=stream), AGENT.clients)
    watched = await panes.watch(Address(terminal.socket()), PaneId(pane.id))
    panes.read_stream(watched)
    terminal.tmux("kill-pane", "-t", pane.id)
    while panes.all:
        await panes._poll(watched)
    assert stream.is_closed


async def test_a_pane_of_a_new_server_with_the_same_number_is_another_pane(
    terminal: Terminal, tmp_path: Path
) -> None:
    environment = {"PATH": "/usr/bin:/bin"}
    pane, stream = terminal.open(["cat"], cwd=tmp_path, environment=environment), FakeStream()
    panes = WatchedPanes(FakePaneEvents(stream=stream), AGENT.clients)
    address, name = Address(terminal.socket()), PaneId(pane.id)
    old = await panes.watch(address, name)
    panes.read_stream(old)
    terminal.stop()
    assert terminal.open(["cat"], cwd=tmp_path, environment=environment).id == name
    new = await panes.watch(address, name)
    assert new is not old
    assert stream.is_closed
    assert new.stream is None


async def test_a_pane_whose_server_was_replaced_is_no_longer_watched(
    terminal: Terminal, tmp_path: Path
) -> None:
    environment = {"PATH": "/usr/bin:/bin"}
    pane = terminal.open(["cat"], cwd=tmp_path, environment=environment)
    panes = WatchedPanes(FakePaneEvents(), AGENT.clients)
    watched = await panes.watch(Address(terminal.socket()), PaneId(pane.id))
    terminal.stop()
    assert terminal.open(["cat"], cwd=tmp_path, environment=environment).id == pane.id
    await panes._poll(watched)
    assert panes.all == {}
