"""Panes: their state, their identity, and the errors for missing ones."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from chorus.model.ids import PaneId
from chorus.system.processes.processes import read_foreground, read_process
from chorus.tmux.address import Address
from chorus.tmux.control_connection import ControlConnection
from chorus.tmux.errors import PaneGone, ServerGone, TmuxNotInstalled, TmuxRefused
from chorus.tmux.panes import capture_screen, read_history, read_pane, read_panes
from chorus.tmux.tmux_server import Tmux, TmuxServer
from tests.lab.terminal import Pane, Terminal, is_tmux_3_2, wait_until
from tests.tmux.conftest import Open

Connect = Callable[[Pane], Tmux]


def test_every_pane_of_the_server_is_listed_with_its_state(open_pane: Open, connect: Connect) -> None:
    first, second = open_pane("exec sleep 99"), open_pane("exec cat")
    tmux = connect(first)
    wait_until(lambda: {p.command for p in read_panes(tmux)} == {"sleep", "cat"}, what="both run")

    one, two = read_panes(tmux)

    assert [one.id, two.id] == [first.id, second.id]
    assert (one.width, one.height, one.history_limit) == (60, 8, 2000)
    assert (one.dead, one.in_mode, one.scrolled, one.piped, one.alternate) == (False, False, 0, False, False)
    assert one.tty.startswith("/dev/")
    assert one.identity.server_pid == two.identity.server_pid
    assert read_pane(tmux, PaneId(second.id)) == two


def test_special_characters_in_title_and_path_do_not_affect_other_fields(
    terminal: Terminal, connect: Connect, tmp_path: Path
) -> None:
    odd = tmp_path / 'a b "c" $HOME #{pane_id} ␞;'
    odd.mkdir()
    pane = terminal.open(["cat"], cwd=odd, environment={"PATH": "/usr/bin:/bin"})
    tmux = connect(pane)
    terminal.tmux("select-pane", "-t", pane.id, "-T", "x ␞ y")

    state = read_pane(tmux, PaneId(pane.id))

    assert state.id == pane.id
    assert state.tty.startswith("/dev/")


def test_a_missing_server_and_a_missing_pane_are_different_errors(
    open_pane: Open, connect: Connect, address: Address
) -> None:
    with pytest.raises(ServerGone):
        read_panes(TmuxServer(address))
    tmux = connect(open_pane("cat"))

    with pytest.raises(PaneGone, match="%99"):
        read_pane(tmux, PaneId("%99"))
    with pytest.raises(PaneGone, match="%99"):
        capture_screen(tmux, PaneId("%99"))
    with pytest.raises(TmuxRefused, match="nosuch"):
        tmux.run(["nosuch"])


def test_a_killed_server_is_gone_for_an_open_connection_too(
    open_pane: Open, connect: Connect, terminal: Terminal
) -> None:
    tmux = connect(open_pane("cat"))
    terminal.stop()

    with pytest.raises(ServerGone):
        read_panes(tmux)


def test_without_tmux_the_error_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    nowhere = Address(tmp_path / "socket")

    with pytest.raises(TmuxNotInstalled) as caught:
        TmuxServer(nowhere).run(["list-panes"])
    assert "Install tmux" in str(caught.value.hint)
    with pytest.raises(TmuxNotInstalled):
        ControlConnection(nowhere, target="%0")


def test_a_respawned_pane_keeps_its_id_and_is_another_pane(
    open_pane: Open, connect: Connect, terminal: Terminal
) -> None:
    pane = open_pane("cat")
    tmux = connect(pane)
    was = read_pane(tmux, PaneId(pane.id)).identity
    assert read_pane(tmux, PaneId(pane.id)).identity == was

    terminal.tmux("respawn-pane", "-k", "-t", pane.id, "sleep 99")

    now = read_pane(tmux, PaneId(pane.id)).identity
    assert (now.pane, now.server_pid) == (was.pane, was.server_pid)
    assert now != was


def test_a_pane_of_a_later_server_with_the_same_id_is_another_pane(
    open_pane: Open, terminal: Terminal, address: Address
) -> None:
    pane = open_pane("cat")
    was = read_pane(TmuxServer(address), PaneId(pane.id)).identity
    terminal.stop()
    again = open_pane("cat")

    now = read_pane(TmuxServer(address), PaneId(again.id)).identity

    assert now.pane == was.pane
    assert dataclasses.replace(now, pane_pid=was.pane_pid) != was


def test_a_dead_pane_is_reported_as_dead(open_pane: Open, connect: Connect, terminal: Terminal) -> None:
    pane = open_pane("read line")
    terminal.tmux("set-option", "-p", "-t", pane.id, "remain-on-exit", "on")
    tmux = connect(pane)
    pane.press("Enter")

    wait_until(lambda: read_pane(tmux, PaneId(pane.id)).dead, what="the pane is dead")


def test_the_foreground_is_the_program_that_gets_the_keys(open_pane: Open, connect: Connect) -> None:
    pane = open_pane("set -m; cat; exec sleep 99")
    tmux = connect(pane)
    shell = read_pane(tmux, PaneId(pane.id)).identity.pane_pid

    def names() -> list[str]:
        return [process.name for process in read_foreground(shell)]

    wait_until(lambda: names() == ["cat"], what="cat has the terminal")
    before = read_process(shell)
    pane.press("C-d")
    wait_until(lambda: names() == ["sleep"], what="sleep has taken the shell's place")
    after = read_process(shell)

    assert before is not None
    assert after is not None
    assert (before.pid, before.started) == (after.pid, after.started)
    assert after.arguments == ("sleep", "99")


def test_a_process_that_has_ended_is_none() -> None:
    assert read_process(2**22 + 1) is None
    assert read_foreground(2**22 + 1) == []


def test_a_screen_has_all_rows_and_the_history_complete_lines(open_pane: Open, connect: Connect) -> None:
    long = "x" * 58 + "   日本 end"
    pane = open_pane(f"printf '%s\\n' first '{long}' 3 4 5 6 7 8 9 last; exec cat")
    tmux = connect(pane)
    pane.wait_for("last")

    screen = capture_screen(tmux, PaneId(pane.id))
    assert len(screen.rows) == screen.pane.height == 8
    assert screen.rows[-2:] == ("last", "")
    assert screen.pane.history_size == 4

    history = read_history(tmux, PaneId(pane.id)).splitlines()
    if is_tmux_3_2():  # it fills the last row of a line up
        history = [line.rstrip() for line in history]
    assert history[:3] == ["first", long, "3"]


def test_a_styled_screen_keeps_the_escapes(open_pane: Open, connect: Connect) -> None:
    pane = open_pane("printf '\\033[1mbold\\033[0m\\n'; exec cat")
    tmux = connect(pane)
    pane.wait_for("bold")

    assert "\033[1m" in capture_screen(tmux, PaneId(pane.id), styled=True).rows[0]
    assert capture_screen(tmux, PaneId(pane.id)).rows[0] == "bold"


def test_a_window_linked_into_two_sessions_is_read_once(
    open_pane: Open, connect: Connect, terminal: Terminal
) -> None:
    pane = open_pane("echo only; exec cat")
    other = open_pane("cat")
    tmux = connect(pane)
    pane.wait_for("only")
    window = terminal.tmux("display-message", "-p", "-t", pane.id, "#{window_id}").strip()
    session = terminal.tmux("display-message", "-p", "-t", other.id, "#{session_name}").strip()
    terminal.tmux("link-window", "-s", window, "-t", f"{session}:9")

    assert capture_screen(tmux, PaneId(pane.id)).rows[0] == "only"


def test_copy_mode_and_its_scroll_position_are_reported(
    open_pane: Open, connect: Connect, terminal: Terminal
) -> None:
    pane = open_pane("seq 50; printf ready; exec cat")
    pane.wait_for("ready")
    tmux = connect(pane)

    terminal.tmux("copy-mode", "-t", pane.id)
    terminal.tmux("send-keys", "-t", pane.id, "-X", "-N", "5", "scroll-up")

    state = read_pane(tmux, PaneId(pane.id))
    assert (state.in_mode, state.scrolled) == (True, 5)


def test_on_the_alternate_screen_the_normal_rows_are_not_read(open_pane: Open, connect: Connect) -> None:
    pane = open_pane("seq 50; printf '\\033[?1049hother'; exec cat")
    pane.wait_for("other")
    tmux = connect(pane)

    lines = read_history(tmux, PaneId(pane.id)).split()

    assert read_pane(tmux, PaneId(pane.id)).alternate
    assert lines == [*map(str, range(1, 44)), "other"]
