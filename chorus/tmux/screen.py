"""The text of a pane: what is visible now, or everything still in its history."""

from dataclasses import dataclass

from chorus.model.ids import PaneId
from chorus.tmux.commands import Tmux
from chorus.tmux.panes import PaneState, one_pane, parse_pane


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
    lines = tmux.run(one_pane(pane), ["capture-pane", "-p", *style, "-t", pane])
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
