"""The watched panes on disk, so that an agent that starts again goes on where it was killed.

Keeps which pane of which tmux server, since when, and the headless run it holds. Gives back only panes
of a server that still runs: a new server counts its panes from %0 again.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from chorus.errors import ChorusError
from chorus.model.ids import PaneId
from chorus.tmux.address import Address
from chorus.tmux.panes import read_pane
from chorus.tmux.tmux_server import TmuxServer
from chorus.watcher.panes.headless_runs import Run
from chorus.watcher.panes.panes import WatchedPane
from chorus.watcher.state.files import keep


@dataclass(frozen=True, slots=True)
class RememberedPane:
    socket: str
    pane: str
    server_pid: int
    server_started: int
    since: float
    run: str | None = None
    pipe: str | None = None

    @property
    def address(self) -> Address:
        return Address(Path(self.socket))

    def is_there(self) -> bool:
        try:
            now = read_pane(TmuxServer(self.address), PaneId(self.pane)).identity
        except ChorusError:
            return False
        return (now.server_pid, now.server_started) == (self.server_pid, self.server_started)


@dataclass(frozen=True, slots=True)
class PaneFile:
    path: Path

    def load(self) -> list[RememberedPane]:
        """The panes that are still there. A damaged file means: none."""
        found: list[RememberedPane] = []
        with suppress(FileNotFoundError, ValueError, TypeError):
            found = [RememberedPane(**value) for value in json.loads(self.path.read_bytes())]
        return [pane for pane in found if pane.is_there()]

    def keep(self, panes: Iterable[WatchedPane], runs: Iterable[Run]) -> None:
        by_pane = {run.pane: run for run in runs}
        remembered = [_remember(pane, by_pane.get(pane.id)) for pane in panes if pane.state is not None]
        keep(self.path, [asdict(pane) for pane in remembered])


def _remember(pane: WatchedPane, run: Run | None) -> RememberedPane:
    assert pane.state is not None
    server = pane.state.identity
    return RememberedPane(
        str(pane.address.socket),
        pane.id,
        server.server_pid,
        server.server_started,
        pane.since,
        run.name if run else None,
        str(run.pipe) if run else None,
    )
