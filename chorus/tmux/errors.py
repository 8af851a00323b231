"""What tmux may refuse, as errors a person can act on.

libtmux's list accessors answer any failure with an empty list, so nothing here relies on them: a
missing server, a missing pane and an empty answer are three different things.
"""

from chorus.errors import ChorusError, ExitCode, NotFound
from chorus.model.ids import PaneId


class TmuxNotInstalled(ChorusError):
    """There is no tmux program on this machine."""

    hint = (
        "Install tmux with your system's package manager, e.g. `apt-get install tmux` or `brew install tmux`."
    )

    def __init__(self) -> None:
        super().__init__("tmux is not installed, or not on PATH")


class TmuxRefused(ChorusError):
    """tmux answered with an error that has no class of its own here."""

    hint = "Look at the pane, then try again."


class ServerGone(NotFound):
    """No tmux server answers at this socket."""

    hint = "Start tmux, or name another server with -L NAME or -S PATH."

    def __init__(self, socket: str) -> None:
        super().__init__(f"no tmux server at {socket}")


class CannotStartServer(ChorusError):
    """A server cannot be started at this socket."""

    hint = "Name a socket in a directory that exists and is yours: -S PATH, or $TMUX_TMPDIR."


class ServerTimeout(ChorusError):
    """The server took the command and did not answer in time."""

    hint = "See whether the tmux server is stopped or overloaded, then try again."


class ConnectionLost(ChorusError):
    """The server is there, but it ended the kept connection: its session closed, or it was detached."""

    hint = "Attach again."


class PaneGone(NotFound):
    """The server is there, the pane is not."""

    hint = "See `tmux list-panes -a` for the panes there are."

    def __init__(self, pane: str) -> None:
        super().__init__(f"there is no pane {pane}")
        self.pane = PaneId(pane)


class PaneChanged(ChorusError):
    """The pane no longer is what it was when it was looked at; no key was sent."""

    exit_code = ExitCode.REFUSED
    hint = "Look at the pane, then attach to it again."


class ScreenChanged(PaneChanged):
    """Pane and program are the same, what is drawn is not."""


class PipeTaken(ChorusError):
    """Somebody else already pipes this pane; tmux has one pipe per pane."""

    exit_code = ExitCode.REFUSED
    hint = "Close the other pipe with `tmux pipe-pane -t PANE`, or let Chorus read the screen instead."

    def __init__(self, pane: str) -> None:
        super().__init__(f"pane {pane} is already piped to another program")


def translate_refusal(message: str, *, socket: str) -> ChorusError:
    """tmux's own words as one of the errors above."""
    if message.startswith(("no server running", "error connecting to", "lost server", "server exited")):
        return ServerGone(socket)
    if message.startswith("error creating"):
        return CannotStartServer(f"tmux: {message}")
    if message.startswith("can't find pane"):
        return PaneGone(message.partition(": ")[2])
    return TmuxRefused(f"tmux: {message}")
