"""A pane's bytes, all of them, and nobody else's pipe disturbed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from chorus.model.ids import PaneId
from chorus.tmux import pipe as pipe_module
from chorus.tmux.address import Address
from chorus.tmux.errors import PaneGone, PipeTaken
from chorus.tmux.panes import read_pane
from chorus.tmux.pipe import PanePipe, open_pipe
from chorus.tmux.tmux_server import Tmux, TmuxServer
from tests.lab.terminal import Pane, Terminal, wait_until
from tests.tmux.conftest import Open

Connect = Callable[[Pane], Tmux]


def gather(pipe: PanePipe, expected: bytes) -> None:
    got = bytearray()

    def whole() -> bool:
        got.extend(pipe.read())
        return bytes(got) == expected

    wait_until(whole, what=f"{len(expected)} bytes of output")


def test_output_before_and_after_opening_the_pipe_is_read_once(
    open_pane: Open, connect: Connect, tmp_path: Path
) -> None:
    odd = tmp_path / "a b 'c' #{pane_id} %H $x"
    odd.mkdir()
    pane = open_pane("stty raw -echo; printf 'before\\n'; read go; seq 20000; exec cat")
    tmux = connect(pane)
    pane.wait_for("before")

    pipe = open_pipe(tmux, PaneId(pane.id), odd / "fifo")
    pane.press("Enter")
    pane.press("C-j")

    assert pipe.before.splitlines()[0].rstrip() == "before"  # tmux 3.2 fills the row up
    gather(pipe, b"".join(b"%d\n" % n for n in range(1, 20001)))
    assert not pipe.ended
    pipe.close(tmux)
    wait_until(lambda: not read_pane(tmux, PaneId(pane.id)).piped, what="our pipe is closed")
    assert list(odd.iterdir()) == []


def test_what_the_pipe_creates_is_for_its_owner_alone(
    open_pane: Open, address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []
    wait_for_writer = pipe_module._wait_for_writer

    def look_first(fifo: Path) -> None:
        wait_until(pipe_module._connected_file(fifo).exists, what="the writer")
        modes.extend(path.stat().st_mode & 0o777 for path in tmp_path.iterdir())
        wait_for_writer(fifo)

    monkeypatch.setattr(pipe_module, "_wait_for_writer", look_first)
    pane, tmux = open_pane("cat"), TmuxServer(address)
    open_pipe(tmux, PaneId(pane.id), tmp_path / "fifo").close(tmux)
    assert modes == [0o600, 0o600]


def test_a_pipe_that_is_already_open_is_left_alone(
    open_pane: Open, connect: Connect, terminal: Terminal, tmp_path: Path
) -> None:
    pane = open_pane("cat")
    tmux = connect(pane)
    theirs = tmp_path / "theirs"
    terminal.tmux("pipe-pane", "-t", pane.id, f"exec cat > '{theirs}'")

    with pytest.raises(PipeTaken):
        open_pipe(tmux, PaneId(pane.id), tmp_path / "fifo")

    pane.type("still")
    wait_until(lambda: theirs.exists() and b"still" in theirs.read_bytes(), what="their pipe still works")
    assert not (tmp_path / "fifo").exists()


def test_a_pipe_replaced_by_another_ends_and_closing_it_keeps_the_other(
    open_pane: Open, connect: Connect, terminal: Terminal, tmp_path: Path
) -> None:
    pane = open_pane("cat")
    tmux = connect(pane)
    pipe = open_pipe(tmux, PaneId(pane.id), tmp_path / "fifo")
    theirs = tmp_path / "theirs"

    terminal.tmux("pipe-pane", "-t", pane.id, f"exec cat > '{theirs}'")

    def over() -> bool:
        pipe.read()
        return pipe.ended

    wait_until(over, what="our pipe has ended")
    pipe.close(tmux)
    assert read_pane(tmux, PaneId(pane.id)).piped
    pane.type("theirs")
    wait_until(lambda: theirs.exists() and b"theirs" in theirs.read_bytes(), what="their pipe works")


def test_a_pipe_ends_with_its_pane_and_outlives_a_respawn(
    open_pane: Open, connect: Connect, terminal: Terminal, tmp_path: Path
) -> None:
    pane = open_pane("cat")
    tmux = connect(open_pane("cat"))
    pipe = open_pipe(tmux, PaneId(pane.id), tmp_path / "fifo")
    terminal.tmux("respawn-pane", "-k", "-t", pane.id, "printf again; exec cat")
    gather(pipe, b"again")

    terminal.tmux("kill-pane", "-t", pane.id)

    def over() -> bool:
        pipe.read()
        return pipe.ended

    wait_until(over, what="the pipe has ended")
    pipe.close(tmux)
    with pytest.raises(PaneGone):
        open_pipe(tmux, PaneId(pane.id), tmp_path / "fifo")


def test_a_pipe_left_by_a_watcher_that_died_is_taken_up_again(
    open_pane: Open, connect: Connect, tmp_path: Path
) -> None:
    pane = open_pane("stty -echo; printf start; exec cat")
    pane.wait_for("start")
    tmux = connect(pane)
    dead = open_pipe(tmux, PaneId(pane.id), tmp_path / "fifo")
    os.close(dead.fileno())  # as a killed process leaves it

    pipe = open_pipe(tmux, PaneId(pane.id), tmp_path / "fifo")

    assert pipe.before.splitlines()[0].rstrip() == "start"
    pane.type("x\n")
    gather(pipe, b"x\r\n")
    pipe.close(tmux)
    wait_until(lambda: not read_pane(tmux, PaneId(pane.id)).piped, what="the pipe is closed")


def test_a_fifo_without_a_writer_is_replaced(open_pane: Open, connect: Connect, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    pane = open_pane("stty -echo; printf start; exec cat")
    pane.wait_for("start")
    tmux = connect(pane)

    pipe = open_pipe(tmux, PaneId(pane.id), tmp_path / "fifo")

    pane.type("x\n")
    gather(pipe, b"x\r\n")
    pipe.close(tmux)
