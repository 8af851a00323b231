from collections.abc import Callable
from pathlib import Path

import pytest

from chorus.model.ids import PaneId
from chorus.tmux.address import Address
from chorus.tmux.launch import (
    choose_session_name,
    close_side_panes,
    find_side_panes,
    has_room_for_side_pane,
    has_session,
    open_side_pane,
    show_side_pane,
)
from chorus.tmux.panes import read_pane, read_panes
from chorus.tmux.tmux_server import Tmux, TmuxServer
from tests.lab.terminal import Pane
from tests.waiting import wait_for

SLEEP = ["sh", "-c", "exec cat"]


def test_a_side_pane_is_opened_found_and_closed(
    open_pane: Callable[[str], Pane], connect: Callable[[Pane], Tmux], tmp_path: Path
) -> None:
    pane = open_pane("exec cat")
    pane.terminal.tmux("resize-window", "-t", pane.id, "-x", "140", "-y", "20")
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


def test_a_side_pane_of_a_narrow_pane_is_below_it(
    open_pane: Callable[[str], Pane], connect: Callable[[Pane], Tmux]
) -> None:
    pane = open_pane("exec cat")
    pane.terminal.tmux("resize-window", "-t", pane.id, "-x", "100", "-y", "40")
    tmux, session = connect(pane), PaneId(pane.id)
    state = read_pane(tmux, open_side_pane(tmux, session, SLEEP))
    above = read_pane(tmux, session)
    assert (state.width, state.height < above.height) == (above.width, True)


@pytest.mark.parametrize(("width", "height", "fits"), [(120, 10, True), (60, 28, True), (119, 27, False)])
def test_a_small_window_has_no_room_for_a_side_pane(
    open_pane: Callable[[str], Pane], connect: Callable[[Pane], Tmux], width: int, height: int, fits: bool
) -> None:
    pane = open_pane("exec cat")
    pane.terminal.tmux("resize-window", "-t", pane.id, "-x", str(width), "-y", str(height))
    assert has_room_for_side_pane(connect(pane), PaneId(pane.id)) is fits


def test_in_a_small_window_it_gets_a_window_of_its_own_once(
    open_pane: Callable[[str], Pane], connect: Callable[[Pane], Tmux]
) -> None:
    pane = open_pane("exec cat")
    pane.terminal.tmux("resize-window", "-t", pane.id, "-x", "80", "-y", "23")
    tmux, session = connect(pane), PaneId(pane.id)
    for _ in range(2):
        assert show_side_pane(tmux, session, SLEEP, environment={}) is None
    names = pane.terminal.tmux("list-windows", "-F", "#{window_name} #{window_active}").splitlines()
    assert names[1:] == ["chorus 0"]
    assert read_pane(tmux, session).height == 23


def test_a_new_session_gets_a_name_of_its_own(
    open_pane: Callable[[str], Pane], connect: Callable[[Pane], Tmux]
) -> None:
    pane = open_pane("exec cat")
    tmux = connect(pane)
    assert choose_session_name(tmux, "my.shop: 2") == "my-shop-2"
    assert choose_session_name(tmux, "...") == "chorus"
    pane.terminal.tmux("rename-session", "-t", pane.id, "shop")
    assert has_session(tmux, "shop")
    assert choose_session_name(tmux, "shop") == "shop-2"
    assert not has_session(tmux, "shop-2")


def test_without_a_server_every_name_is_free(tmp_path: Path) -> None:
    nobody = TmuxServer(Address(tmp_path / "socket"))
    assert choose_session_name(nobody, "shop") == "shop"
    assert not has_session(nobody, "shop")
