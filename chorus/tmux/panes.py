"""The state, identity, screen and history of a pane, each read with one tmux command."""

from dataclasses import dataclass

from chorus.model.ids import PaneId
from chorus.tmux.tmux_server import Tmux

# A character that is in no number and no id. Texts that may contain it come last, so numbers and ids are
# always read correctly.
_SEPARATOR = "␞"
_NUMBERS = (
    "pid", "start_time", "pane_pid", "pane_dead", "pane_in_mode", "scroll_position",
    "pane_width", "pane_height", "history_size", "history_limit", "pane_pipe", "alternate_on",
    "pane_synchronized",
)  # fmt: skip
_TEXTS = (
    "session_id",
    "window_id",
    "pane_id",
    "pane_tty",
    "pane_current_command",
    "pane_current_path",
    "pane_title",
)
FORMAT = _SEPARATOR.join(f"#{{{name}}}" for name in _NUMBERS + _TEXTS)


@dataclass(frozen=True, slots=True)
class PaneIdentity:
    """Identifies a pane and the program started in it.

    The id is not enough: a new server counts from %0 again, and `respawn-pane` keeps the id.
    """

    server_pid: int
    server_started: int
    pane: PaneId
    pane_pid: int


@dataclass(frozen=True, slots=True)
class PaneState:
    identity: PaneIdentity
    session: str
    window: str
    tty: str
    command: str  # the program in the foreground, as tmux names it
    path: str
    title: str
    width: int
    height: int
    dead: bool
    in_mode: bool  # copy mode, choose-tree or the like: keys go there, not to the program
    scrolled: int  # rows scrolled back in copy mode
    history_size: int
    history_limit: int
    piped: bool
    alternate: bool
    synchronized: bool  # keys go to every pane of the window

    @property
    def id(self) -> PaneId:
        return self.identity.pane


def read_panes(tmux: Tmux) -> list[PaneState]:
    """All panes of the server. Raises ServerGone if there is no server."""
    return [parse_pane(line) for line in tmux.run(["list-panes", "-a", "-F", FORMAT])]


def read_pane(tmux: Tmux, pane: PaneId) -> PaneState:
    return parse_pane(tmux.run(pane_state_command(pane))[0])


def pane_state_command(pane: PaneId) -> list[str]:
    """The command that prints the state of one pane, and fails if there is no such pane.

    `display-message -t` would print an empty line instead, and `list-panes -a` one line for every session the
    window is linked into.
    """
    return ["list-panes", "-t", pane, "-f", f"#{{==:#{{pane_id}},{pane}}}", "-F", FORMAT]


def parse_pane(line: str) -> PaneState:
    fields = line.split(_SEPARATOR, len(_NUMBERS) + len(_TEXTS) - 1)
    number = {name: int(value or 0) for name, value in zip(_NUMBERS, fields, strict=False)}
    text = dict(zip(_TEXTS, fields[len(_NUMBERS) :], strict=True))
    return PaneState(
        identity=PaneIdentity(
            number["pid"], number["start_time"], PaneId(text["pane_id"]), number["pane_pid"]
        ),
        session=text["session_id"],
        window=text["window_id"],
        tty=text["pane_tty"],
        command=text["pane_current_command"],
        path=text["pane_current_path"],
        title=text["pane_title"],
        width=number["pane_width"],
        height=number["pane_height"],
        dead=bool(number["pane_dead"]),
        in_mode=bool(number["pane_in_mode"]),
        scrolled=number["scroll_position"],
        history_size=number["history_size"],
        history_limit=number["history_limit"],
        piped=bool(number["pane_pipe"]),
        alternate=bool(number["alternate_on"]),
        synchronized=bool(number["pane_synchronized"]),
    )


@dataclass(frozen=True, slots=True)
class Screen:
    """The visible rows, top to bottom, with the state of the pane at the same moment."""

    pane: PaneState
    rows: tuple[str, ...]  # always pane.height of them; blanks at the end of a row are not kept

    @property
    def text(self) -> str:
        return "\n".join(self.rows)


def capture_screen(tmux: Tmux, pane: PaneId, *, styled: bool = False) -> Screen:
    style = ["-e"] if styled else []
    lines = tmux.run(pane_state_command(pane), ["capture-pane", "-p", *style, "-t", pane])
    state = parse_pane(lines[0])
    # `TmuxServer` drops the empty rows at the end.
    rows = (lines[1:] + [""] * state.height)[: state.height]
    return Screen(state, tuple(rows))


def read_history(tmux: Tmux, pane: PaneId) -> str:
    """All output of the pane that tmux still has. Wrapped rows are joined, and blanks are kept.

    While the alternate screen is on, the rows of the normal screen are missing.
    """
    lines = tmux.run(history_command(pane))
    return "".join(line + "\n" for line in lines)


def read_width_and_history(tmux: Tmux, pane: PaneId) -> tuple[int, bytes]:
    """Return the width of the pane and its history, read at the same moment."""
    state, *lines = tmux.run(pane_state_command(pane), history_command(pane))
    text = "".join(line + "\n" for line in lines)
    return parse_pane(state).width, text.encode("utf-8", "surrogateescape")


def history_command(pane: PaneId) -> list[str]:
    return ["capture-pane", "-p", "-J", "-S", "-", "-t", pane]
