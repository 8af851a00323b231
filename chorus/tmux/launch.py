"""Run a program in a new pane: in a new session or window, in a side pane, or in a popup.

A side pane is right of another pane, or below a narrow one. It is marked with `SIDE_PANE_OPTION`, and panes
without this mark are never closed. Only a popup takes the user's focus.
"""

import os
import re
import shlex
import time
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path

from chorus.errors import ChorusError
from chorus.model.ids import PaneId
from chorus.tmux.address import Address, make_directory
from chorus.tmux.errors import CannotStartServer, ServerGone
from chorus.tmux.panes import read_pane
from chorus.tmux.tmux_server import Tmux

# The size of a detached session; tmux fits it to the first terminal that attaches.
DETACHED_SIZE = (200, 50)
SIDE_PANE_OPTION = "@chorus_panel"
# The session keeps the larger part.
SIDE_PANE_SHARE = "40%"
# If a pane is narrower, code would be hard to read in two columns, so the side pane is opened below the pane.
MIN_BESIDE_WIDTH = 120
# With fewer rows, as in a terminal of 80 x 24, a pane cannot be split into two panes that are of use. In a
# terminal of 30 rows, a pane has at most 29, because the status line takes one.
MIN_BELOW_HEIGHT = 28
WINDOW_NAME = "chorus"
# A server ends within milliseconds of its last pane; a busy machine takes longer.
END_TIMEOUT_SECONDS = 2.0
# Long enough to be read.
MESSAGE_MILLISECONDS = 8000
# Characters that tmux may interpret in the name of a session.
_NOT_IN_NAMES = re.compile(r"[^\w-]+")


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
    window: str | None = None,
    beside: PaneId | None = None,
    below: bool = False,
    size: tuple[int, int] = DETACHED_SIZE,
) -> PaneId:
    """Run the command (a list of arguments, no shell) in a new pane. The user's focus does not change.

    `name` is the name of a new session or window, `window` the name of a new session's first window.
    `beside` is the pane to split, or the pane whose session gets the new window. A new session starts a
    server if none is running.
    """
    options = ["-d", "-P", "-F", "#{pane_id}", "-c", str(cwd).replace("#", "##")]
    if placement is PanePlacement.SESSION:
        make_directory(tmux.address)
        width, height = size
        options += ["-x", str(width), "-y", str(height), *([] if window is None else ["-n", window])]
    if placement is PanePlacement.SPLIT:
        options.append("-v" if below else "-h")
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
    new_pane = [placement.value, *options, "--", *program]
    opened = _start_session(tmux, new_pane) if placement is PanePlacement.SESSION else tmux.run(new_pane)
    if not opened:  # tmux 3.2 does not say why
        raise CannotStartServer(f"tmux did not start at {tmux.address.socket}")
    return PaneId(opened[0])


def _start_session(tmux: Tmux, new_session: Sequence[str]) -> list[str]:
    """Run `new-session`. Try again if the server is shutting down."""
    deadline = time.monotonic() + END_TIMEOUT_SECONDS
    while True:
        try:
            return tmux.run(new_session)
        except ServerGone:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def attach_command(address: Address, target: str) -> list[str]:
    """The command that shows a session in this terminal. `target` is its name or one of its panes."""
    return ["tmux", "-S", os.fspath(address.socket), "attach-session", "-t", target]


def show_message(tmux: Tmux, pane: PaneId, message: str) -> None:
    """Show a message in the status line of every terminal that shows the pane's session."""
    session = read_pane(tmux, pane).session
    for client in tmux.run(["list-clients", "-t", session, "-F", "#{client_name}"]):
        tmux.run(
            ["display-message", "-c", client, "-d", str(MESSAGE_MILLISECONDS), message.replace("#", "##")]
        )


def find_side_panes(tmux: Tmux, pane: PaneId) -> list[PaneId]:
    listed = tmux.run(["list-panes", "-t", pane, "-F", f"#{{{SIDE_PANE_OPTION}}} #{{pane_id}}"])
    return [PaneId(line.partition(" ")[2]) for line in listed if line.startswith("1 ")]


def has_room_for_side_pane(tmux: Tmux, pane: PaneId) -> bool:
    state = read_pane(tmux, pane)
    return state.width >= MIN_BESIDE_WIDTH or state.height >= MIN_BELOW_HEIGHT


def open_side_pane(
    tmux: Tmux, pane: PaneId, command: Sequence[str], *, environment: Mapping[str, str] | None = None
) -> PaneId:
    """Run the command in a side pane of `pane`, in that pane's directory."""
    state = read_pane(tmux, pane)
    below = state.width < MIN_BESIDE_WIDTH
    opened = open_pane(
        tmux,
        PanePlacement.SPLIT,
        command,
        cwd=Path(state.path),
        environment=environment,
        beside=pane,
        below=below,
    )
    tmux.run(
        ["set-option", "-p", "-t", opened, SIDE_PANE_OPTION, "1"],
        ["resize-pane", "-t", opened, "-y" if below else "-x", SIDE_PANE_SHARE],
    )
    return opened


def show_side_pane(
    tmux: Tmux, pane: PaneId, command: Sequence[str], *, environment: Mapping[str, str]
) -> str | None:
    """Open a side pane, or a window if `pane` is too small to be split. Return an error message or None.

    Does nothing if there is a side pane already.
    """
    try:
        if find_side_panes(tmux, pane):
            return None
        if has_room_for_side_pane(tmux, pane):
            open_side_pane(tmux, pane, command, environment=environment)
        else:
            open_side_window(tmux, pane, command, environment=environment)
    except ChorusError as error:
        return str(error)
    return None


def open_side_window(
    tmux: Tmux, pane: PaneId, command: Sequence[str], *, environment: Mapping[str, str]
) -> None:
    """Run the command in a new window of the pane's session, and show the user the window's number.

    Does nothing if this window exists already.
    """
    listed = tmux.run(["list-panes", "-s", "-t", pane, "-F", f"#{{{SIDE_PANE_OPTION}}} #{{window_name}}"])
    if f"1 {WINDOW_NAME}" in listed:
        return
    opened = open_pane(
        tmux,
        PanePlacement.WINDOW,
        command,
        cwd=Path(read_pane(tmux, pane).path),
        environment=environment,
        name=WINDOW_NAME,
        beside=pane,
    )
    tmux.run(["set-option", "-p", "-t", opened, SIDE_PANE_OPTION, "1"])
    # fmt: off
    [prefix], [there], [here] = (
        tmux.run(["show-options", "-gv", "prefix"]),
        *(tmux.run(["display-message", "-p", "-t", one, "#{window_index}"]) for one in (opened, pane)),
    )
    # fmt: on
    show_message(
        tmux,
        pane,
        f"chorus: the panel is in window {there}: {prefix} {there} shows it, {prefix} {here} returns",
    )


def open_popup(
    tmux: Tmux, pane: PaneId, command: Sequence[str], *, environment: Mapping[str, str] | None = None
) -> None:
    """Run the command in a popup over the window of `pane`, without waiting for it to exit."""
    variables = [word for name, value in (environment or {}).items() for word in ("-e", f"{name}={value}")]
    popup = ["display-popup", "-E", "-t", pane, "-w", "100%", "-h", "100%", "-d", read_pane(tmux, pane).path]
    words = ["tmux", "-S", os.fspath(tmux.address.socket), *popup, *variables, shlex.join(command)]
    # tmux answers `display-popup` only when the popup is closed.
    tmux.run(["run-shell", "-b", "-t", pane, shlex.join(words).replace("#", "##")])


def choose_session_name(tmux: Tmux, wanted: str) -> str:
    """A free name for a new session: `wanted` without special characters, and with a number if needed."""
    base = _NOT_IN_NAMES.sub("-", wanted).strip("-") or "chorus"
    try:
        taken = set(tmux.run(["list-sessions", "-F", "#{session_name}"]))
    except ServerGone:
        taken = set()
    names = (base, *(f"{base}-{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def has_session(tmux: Tmux, name: str) -> bool:
    try:
        return name in tmux.run(["list-sessions", "-F", "#{session_name}"])
    except ServerGone:
        return False


def close_side_panes(tmux: Tmux, pane: PaneId) -> bool:
    """Close the side panes in the window of `pane`. Return False if there was none."""
    panes = find_side_panes(tmux, pane)
    for one in panes:
        tmux.run(["kill-pane", "-t", one])
    return bool(panes)
