"""The file in which watched panes are saved for a restarted watcher.

A pane is loaded only if its server still runs, because a new server numbers its panes from %0 again.
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
from chorus.watcher.panes.headless_runs import HeadlessRun
from chorus.watcher.panes.watched_panes import WatchedPane
from chorus.watcher.state.files import save_json


@dataclass(frozen=True, slots=True)
class SavedPane:
    socket: str
    pane: str
    server_pid: int
    server_started: int
    since: float
    run: str | None = None
    pipe: str | None = None
    ending: bool = False
    servers: tuple[str, ...] = ()

    @property
    def address(self) -> Address:
        return Address(Path(self.socket))

    def exists(self) -> bool:
        try:
            now = read_pane(TmuxServer(self.address), PaneId(self.pane)).identity
        except ChorusError:
            return False
        return (now.server_pid, now.server_started) == (self.server_pid, self.server_started)


@dataclass(frozen=True, slots=True)
class PaneFile:
    path: Path

    def load(self) -> list[SavedPane]:
        """Return the saved panes that still exist. A damaged file counts as empty."""
        found: list[SavedPane] = []
        with suppress(FileNotFoundError, ValueError, TypeError):
            found = [SavedPane(**value) for value in json.loads(self.path.read_bytes())]
        return [pane for pane in found if pane.exists()]

    def save(self, panes: Iterable[WatchedPane], runs: Iterable[HeadlessRun]) -> None:
        by_pane = {(run.server, run.pane): run for run in runs}
        saved = [_saved(pane, by_pane.get(pane.key)) for pane in panes if pane.state is not None]
        save_json(self.path, [asdict(pane) for pane in saved])


def _saved(pane: WatchedPane, run: HeadlessRun | None) -> SavedPane:
    assert pane.state is not None
    server = pane.state.identity
    return SavedPane(
        str(pane.address.socket),
        pane.id,
        server.server_pid,
        server.server_started,
        pane.since,
        run.name if run else None,
        str(run.pipe) if run else None,
        run.ending if run else False,
        tuple(sorted(run.servers)) if run else (),
    )
