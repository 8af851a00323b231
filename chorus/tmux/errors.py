"""The errors of tmux."""

from chorus.errors import ChorusError, ExitCode, NotFound
from chorus.model.ids import PaneId


class TmuxNotInstalled(ChorusError):
    hint = (
        "Install tmux with your system's package manager, e.g. `apt-get install tmux` or `brew install tmux`."
    )

    def __init__(self) -> None:
        super().__init__("tmux is not installed, or not on PATH")


class TmuxRefused(ChorusError):
    """tmux reported an error that has no class of its own."""

    hint = "Correct what tmux reports, then try again."


class ServerGone(NotFound):
    hint = "Start tmux, or choose another server with -L NAME or -S PATH."

    def __init__(self, socket: str) -> None:
        super().__init__(f"no tmux server at {socket}")


class CannotStartServer(ChorusError):
    """A server cannot be started on this socket."""

    hint = "Use a socket in an existing directory of your own: -S PATH, or $TMUX_TMPDIR."


class ServerTimeout(ChorusError):
    hint = "Check whether the tmux server is stopped or overloaded, then try again."

    def __init__(self, socket: str) -> None:
        super().__init__(f"the tmux server at {socket} does not reply")


class ConnectionLost(ChorusError):
    """The server runs but ended the connection: its session closed, or it was detached."""

    hint = "Run `chorus attach` again."


class PaneGone(NotFound):
    hint = "List the panes with `tmux list-panes -a`."

    def __init__(self, pane: str) -> None:
        super().__init__(f"there is no pane {pane}")
        self.pane = PaneId(pane)


class PaneChanged(ChorusError):
    """The pane, its program or its mode has changed since the pane was read. No key was sent."""

    exit_code = ExitCode.REFUSED
    hint = "Check the pane, then attach to it again."


class ScreenChanged(PaneChanged):
    """The pane has another size or no longer shows the text that was read. No key was sent."""


class PipeTaken(ChorusError):
    """Another program already pipes this pane; tmux has one pipe per pane."""

    exit_code = ExitCode.REFUSED
    hint = "Close the other pipe with `tmux pipe-pane -t PANE`, or let Chorus read the screen instead."

    def __init__(self, pane: str) -> None:
        super().__init__(f"pane {pane} is already piped to another program")


def translate_refusal(message: str, *, socket: str) -> ChorusError:
    """Turn a message of tmux into one of the errors above."""
    if message.startswith(("no server running", "error connecting to", "lost server", "server exited")):
        return ServerGone(socket)
    if message.startswith("error creating"):
        return CannotStartServer(f"tmux: {message}")
    if message.startswith("can't find pane"):
        return PaneGone(message.partition(": ")[2])
    return TmuxRefused(f"tmux: {message}")
