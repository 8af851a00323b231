"""Start a program in a pane of its own: a new session, or a new window or split beside a pane there is."""

import os
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path

from chorus.model.ids import PaneId
from chorus.tmux.address import Address, make_directory
from chorus.tmux.commands import Tmux
from chorus.tmux.panes import read_pane

# The size of a session nobody looks at yet; tmux fits it to the first terminal that attaches.
DETACHED_SIZE = (200, 50)


class Place(Enum):
    SESSION = "new-session"
    WINDOW = "new-window"
    SPLIT = "split-window"


def open_pane(
    tmux: Tmux,
    place: Place,
    command: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    name: str | None = None,
    beside: PaneId | None = None,
) -> PaneId:
    """Run the command, given word by word (no shell), in a new pane. The user's focus stays where it is.

    `beside`: the pane whose session gets the window, or whose window is split. A server is started for
    a new session if there is none.
    """
    options = ["-d", "-P", "-F", "#{pane_id}", "-c", str(cwd).replace("#", "##")]
    if place is Place.SESSION:
        make_directory(tmux.address)
        width, height = DETACHED_SIZE
        options += ["-x", str(width), "-y", str(height)]
    if place is Place.SPLIT:
        options.append("-h")
    if name is not None and place is not Place.SPLIT:
        options += ["-s" if place is Place.SESSION else "-n", name]
    if beside is not None and place is Place.WINDOW:
        options += ["-t", read_pane(tmux, beside).session + ":"]
    if beside is not None and place is Place.SPLIT:
        options += ["-t", beside]
    for variable, value in (environment or {}).items():
        options += ["-e", f"{variable}={value}"]
    # One word alone would be read by a shell.
    words = ["env", *command] if len(command) == 1 else list(command)
    return PaneId(tmux.run([place.value, *options, "--", *words])[0])


def attach_command(address: Address, pane: PaneId) -> list[str]:
    """The program to become (`os.execvp`) to show that pane's session in this terminal."""
    return ["tmux", "-S", os.fspath(address.socket), "attach-session", "-t", pane]
