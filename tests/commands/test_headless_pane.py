"""The pane of a headless session: in the tmux session of the current pane, if the server is the same."""

from pathlib import Path

import pytest

from chorus.commands import run
from chorus.model.ids import PaneId
from chorus.tmux.address import Address
from chorus.tmux.launch import PanePlacement
from chorus.tmux.tmux_server import TmuxServer


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        (True, (PanePlacement.WINDOW, "%3")),
        (False, (PanePlacement.SESSION, None)),
    ],
)
def test_a_pane_of_another_server_is_not_used(
    inside: bool,
    expected: tuple[PanePlacement, str | None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[tuple[PanePlacement, str | None]] = []

    def open_pane(
        tmux: TmuxServer, placement: PanePlacement, command: list[str], *, beside: PaneId | None, **_: object
    ) -> PaneId:
        opened.append((placement, beside))
        return PaneId("%9")

    monkeypatch.setattr(run, "open_pane", open_pane)
    monkeypatch.setenv("TMUX", f"{tmp_path / 'current'},1,0")
    monkeypatch.setenv("TMUX_PANE", "%3")
    server = TmuxServer(Address(tmp_path / ("current" if inside else "other")))
    assert run.open_headless_pane(server, ["true"], "run-1") == "%9"
    assert opened == [expected]
