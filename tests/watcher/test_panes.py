"""The panes that are watched, as they come and go."""

from pathlib import Path

from chorus.model.ids import PaneId
from chorus.tmux.address import Address
from chorus.watcher.panes.panes import Panes, WatchedPane
from tests.lab.terminal import Terminal, terminal_fixture
from tests.watcher.asking import nobody

terminal = terminal_fixture(width=80, height=10)


class Ear:
    """A stream that is listened to until it is closed."""

    def __init__(self) -> None:
        self.is_closed = False

    async def drain(self) -> None:
        assert not self.is_closed

    def close(self) -> None:
        self.is_closed = True


async def test_the_stream_of_a_pane_that_is_gone_is_closed(terminal: Terminal, tmp_path: Path) -> None:
    environment = {"PATH": "/usr/bin:/bin"}
    terminal.open(["cat"], cwd=tmp_path, environment=environment)  # the server stays
    pane = terminal.open(["cat"], cwd=tmp_path, environment=environment)
    ear = Ear()

    def looked(_: WatchedPane) -> None:
        """Nobody looks for prompts here."""

    panes = Panes(lambda *_: None, nobody, lambda _: ear, looked)
    watched = await panes.watch(Address(terminal.socket()), PaneId(pane.id))
    panes.listen(watched)
    terminal.tmux("kill-pane", "-t", pane.id)
    while panes.all:
        await panes._look(watched)
    assert ear.is_closed
