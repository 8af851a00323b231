"""Run a program in a new pane: in a new session, a new window, or beside an existing pane.

A side pane is marked with a tmux option, so that it is found again whatever runs in it; panes without the
mark are never closed. The user's focus does not change.
"""

import os
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path

from chorus.model.ids import PaneId
from chorus.tmux.address import Address, make_directory
from chorus.tmux.panes import read_pane
from chorus.tmux.tmux_server import Tmux

# The size of a detached session; tmux fits it to the first terminal that attaches.
DETACHED_SIZE = (200, 50)
SIDE_PANE_OPTION = "@chorus_panel"
# The session keeps the larger part.
SIDE_PANE_WIDTH = "40%"


class PanePlacement(Enum):
    SESSION = "new-session"
    WINDOW = "new-window"
    SPLIT = "split-window"


def open_pane(
    tmux: Tmux,
    placement: PanePlacement,
    command: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    name: str | None = None,
    beside: PaneId | None = None,
) -> PaneId:
    """Run the command (a list of arguments, no shell) in a new pane. The user's focus does not change.

    `beside`: the pane whose session gets the window, or whose window is split. A server is started for
    a new session if there is none.
    """
    options = ["-d", "-P", "-F", "#{pane_id}", "-c", str(cwd).replace("#", "##")]
    if placement is PanePlacement.SESSION:
        make_directory(tmux.address)
        width, height = DETACHED_SIZE
        options += ["-x", str(width), "-y", str(height)]
    if placement is PanePlacement.SPLIT:
        options.append("-h")
    if name is not None and placement is not PanePlacement.SPLIT:
        options += ["-s" if placement is PanePlacement.SESSION else "-n", name]
    if beside is not None and placement is PanePlacement.WINDOW:
        options += ["-t", read_pane(tmux, beside).session + ":"]
    if beside is not None and placement is PanePlacement.SPLIT:
        options += ["-t", beside]
    for variable, value in (environment or {}).items():
        options += ["-e", f"{variable}={value}"]
    # tmux would pass a single word to a shell.
    program = ["env", *command] if len(command) == 1 else list(command)
    return PaneId(tmux.run([placement.value, *options, "--", *program])[0])


def attach_command(address: Address, pane: PaneId) -> list[str]:
    """The command that shows the session of the pane in this terminal."""
    return ["tmux", "-S", os.fspath(address.socket), "attach-session", "-t", pane]


def find_side_panes(tmux: Tmux, pane: PaneId) -> list[PaneId]:
    """The side panes in the window of `pane`."""
    listed = tmux.run(["list-panes", "-t", pane, "-F", f"#{{{SIDE_PANE_OPTION}}} #{{pane_id}}"])
    return [PaneId(line.partition(" ")[2]) for line in listed if line.startswith("1 ")]


def open_side_pane(
    tmux: Tmux, pane: PaneId, command: Sequence[str], *, environment: Mapping[str, str] | None = None
) -> PaneId:
    """Run the command on the right of `pane`, in that pane's directory."""
    cwd = Path(read_pane(tmux, pane).path)
    opened = open_pane(tmux, PanePlacement.SPLIT, command, cwd=cwd, environment=environment, beside=pane)
    tmux.run(
        ["set-option", "-p", "-t", opened, SIDE_PANE_OPTION, "1"],
        ["resize-pane", "-t", opened, "-x", SIDE_PANE_WIDTH],
    )
    return opened


def close_side_panes(tmux: Tmux, pane: PaneId) -> bool:
    """Close the side panes in the window of `pane`; False if there was none."""
    panes = find_side_panes(tmux, pane)
    for one in panes:
        tmux.run(["kill-pane", "-t", one])
    return bool(panes)
