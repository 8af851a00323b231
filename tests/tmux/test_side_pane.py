from collections.abc import Callable
from pathlib import Path

from chorus.model.ids import PaneId
from chorus.tmux.launch import close_side_panes, find_side_panes, open_side_pane
from chorus.tmux.panes import read_pane, read_panes
from chorus.tmux.tmux_server import Tmux
from tests.lab.terminal import Pane
from tests.waiting import wait_for

SLEEP = ["sh", "-c", "exec cat"]


def test_a_side_pane_is_opened_found_and_closed(
    open_pane: Callable[[str], Pane], connect: Callable[[Pane], Tmux], tmp_path: Path
) -> None:
    pane = open_pane("exec cat")
    tmux, session = connect(pane), PaneId(pane.id)
    assert not close_side_panes(tmux, session)
    opened = open_side_pane(tmux, session, SLEEP, environment={"WORD": "given"})
    state = read_pane(tmux, opened)
    assert state.window == read_pane(tmux, session).window
    # tmux learns the directory from the process, which has to be there first.
    wait_for(lambda: Path(read_pane(tmux, opened).path) == tmp_path, what="the pane's directory")
    assert state.width < read_pane(tmux, session).width
    assert find_side_panes(tmux, session) == [opened]
    assert close_side_panes(tmux, session)
    assert [pane.id for pane in read_panes(tmux)] == [session]


def test_a_pane_without_the_option_is_not_closed(
    open_pane: Callable[[str], Pane], connect: Callable[[Pane], Tmux]
) -> None:
    pane = open_pane("exec cat")
    tmux, session = connect(pane), PaneId(pane.id)
    tmux.run(["split-window", "-d", "-t", session, "cat"])
    assert not close_side_panes(tmux, session)
    assert len(read_panes(tmux)) == 2
