"""One pane of ours beside a session: opened, found again, closed.

Receives the pane of the session; opens a program on its right and marks that pane, so that it is found
again whatever runs in it. The user's focus stays where it is. Panes without the mark are never closed.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from chorus.model.ids import PaneId
from chorus.tmux.commands import Tmux
from chorus.tmux.launch import Place, open_pane
from chorus.tmux.panes import read_pane

MARK = "@chorus_panel"
# Two fifths for the panel: the session keeps the larger part.
SHARE = "40%"


def find_beside(tmux: Tmux, pane: PaneId) -> list[PaneId]:
    """Our panes in the window of `pane`."""
    listed = tmux.run(["list-panes", "-t", pane, "-F", f"#{{{MARK}}} #{{pane_id}}"])
    return [PaneId(line.partition(" ")[2]) for line in listed if line.startswith("1 ")]


def open_beside(
    tmux: Tmux, pane: PaneId, command: Sequence[str], *, environment: Mapping[str, str] | None = None
) -> PaneId:
    """Run the command on the right of `pane`, in that pane's directory."""
    cwd = Path(read_pane(tmux, pane).path)
    opened = open_pane(tmux, Place.SPLIT, command, cwd=cwd, environment=environment, beside=pane)
    tmux.run(["set-option", "-p", "-t", opened, MARK, "1"], ["resize-pane", "-t", opened, "-x", SHARE])
    return opened


def close_beside(tmux: Tmux, pane: PaneId) -> bool:
    """Close our panes in the window of `pane`; False if there was none."""
    panes = find_beside(tmux, pane)
    for one in panes:
        tmux.run(["kill-pane", "-t", one])
    return bool(panes)
