"""What a pane is at one moment, and what makes it the same pane later."""

from dataclasses import dataclass

from chorus.model.ids import PaneId
from chorus.tmux.errors import PaneChanged
from chorus.tmux.tmux_server import Tmux

# A sign that occurs in no number and no id; the free texts come last, so one that holds it harms no other.
_MARK = "␞"
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
FORMAT = _MARK.join(f"#{{{name}}}" for name in _NUMBERS + _TEXTS)


@dataclass(frozen=True, slots=True)
class PaneIdentity:
    """The same server process, the same pane, the same program started in it.

    A new server counts panes from %0 again; `respawn-pane` keeps the id and changes the program.
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
    in_mode: bool  # copy mode, choose-tree, …: keys go there, not to the program
    scrolled: int  # rows scrolled back in copy mode
    history_size: int
    history_limit: int
    piped: bool
    alternate: bool
    synchronized: bool  # what is typed here is typed into every pane of the window

    @property
    def id(self) -> PaneId:
        return self.identity.pane


def read_panes(tmux: Tmux) -> list[PaneState]:
    """All panes of the server. Empty only if it has none; no server raises."""
    return [parse_pane(line) for line in tmux.run(["list-panes", "-a", "-F", FORMAT])]


def read_pane(tmux: Tmux, pane: PaneId) -> PaneState:
    return parse_pane(tmux.run(pane_state_command(pane))[0])


def pane_state_command(pane: PaneId) -> list[str]:
    """The command that prints one pane's state in one line.

    It fails if there is no such pane; `display-message -t` would print a line of blanks instead, and
    `list-panes -a` one line for every session the window is linked into.
    """
    return ["list-panes", "-t", pane, "-f", f"#{{==:#{{pane_id}},{pane}}}", "-F", FORMAT]


def parse_pane(line: str) -> PaneState:
    fields = line.split(_MARK, len(_NUMBERS) + len(_TEXTS) - 1)
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


def expect_same(was: PaneIdentity, now: PaneIdentity) -> None:
    """Raise unless it still is that pane, in that server, with that program."""
    if was == now:
        return
    if (was.server_pid, was.server_started) != (now.server_pid, now.server_started):
        raise PaneChanged(f"{was.pane} is a pane of another tmux server now")
    raise PaneChanged(f"{was.pane} was given another program (process {now.pane_pid})")


@dataclass(frozen=True, slots=True)
class Screen:
    """The visible rows, top to bottom, with the state of the pane at the same moment."""

    pane: PaneState
    rows: tuple[str, ...]  # always pane.height of them; blanks at the end of a row are not kept

    @property
    def text(self) -> str:
        return "\n".join(self.rows)


def read_screen(tmux: Tmux, pane: PaneId, *, styled: bool = False) -> Screen:
    """The screen and the pane's state in one step: no change can come in between."""
    style = ["-e"] if styled else []
    lines = tmux.run(pane_state_command(pane), ["capture-pane", "-p", *style, "-t", pane])
    state = parse_pane(lines[0])
    # One-shot calls lose the empty rows at the end.
    rows = (lines[1:] + [""] * state.height)[: state.height]
    return Screen(state, tuple(rows))


def read_history(tmux: Tmux, pane: PaneId) -> str:
    """Everything printed that tmux still keeps, each printed line whole: wrapped rows joined, blanks kept.

    While the alternate screen is up, the rows of the normal one below it are missing.
    """
    lines = tmux.run(history_of(pane))
    return "".join(line + "\n" for line in lines)


def history_of(pane: PaneId) -> list[str]:
    return ["capture-pane", "-p", "-J", "-S", "-", "-t", pane]
