from pathlib import Path

import pytest

from chorus.model.ids import PaneId
from chorus.tmux.address import Address
from chorus.tmux.panes import read_pane
from chorus.tmux.tmux_server import TmuxServer
from chorus.watcher.panes.headless_runs import HeadlessRun
from chorus.watcher.panes.pane_file import PaneFile
from chorus.watcher.panes.watched_panes import WatchedPane
from tests.lab.terminal import Terminal


def test_saved_panes_are_loaded_while_their_server_runs(tmp_path: Path) -> None:
    file = PaneFile(tmp_path / "panes.json")
    with Terminal() as terminal:
        pane = terminal.open(["cat"], cwd=tmp_path, environment={"PATH": "/bin:/usr/bin"})
        address, name = Address(terminal.socket()), PaneId(pane.id)
        watched = WatchedPane(address, name, state=read_pane(TmuxServer(address), name), since=7.0)
        file.save([watched], [HeadlessRun("run-1", tmp_path / "run-1.in", address, name)])
        (kept,) = file.load()
        assert (kept.address, kept.pane, kept.since, kept.run) == (address, name, 7.0, "run-1")
        terminal.stop()
        terminal.open(["cat"], cwd=tmp_path, environment={"PATH": "/bin:/usr/bin"})
        assert file.load() == []
    assert file.load() == []


@pytest.mark.parametrize("rubbish", [b"", b"{", b"[1]", b'[{"pane": "%0"}]'])
def test_a_damaged_pane_file_counts_as_empty(tmp_path: Path, rubbish: bytes) -> None:
    (tmp_path / "panes.json").write_bytes(rubbish)
    assert PaneFile(tmp_path / "panes.json").load() == []
