"""A key reaches exactly the intended pane, or none. A program in the pane records every byte."""

from collections.abc import Callable
from pathlib import Path

import pytest

from chorus.errors import UsageError
from chorus.model.ids import PaneId
from chorus.tmux.errors import PaneChanged, PaneGone
from chorus.tmux.keys import press, type_text
from chorus.tmux.panes import PaneState, read_pane
from chorus.tmux.tmux_server import Tmux
from tests.lab.terminal import Pane, Terminal, wait_until
from tests.tmux.conftest import Open

Connect = Callable[[Pane], Tmux]


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "keys"


@pytest.fixture
def pane(open_pane: Open, record: Path) -> Pane:
    """A program in raw mode that keeps every byte typed at it."""
    pane = open_pane(f"stty raw -echo; printf ready; exec cat > '{record}'")
    pane.wait_for("ready")
    wait_until(record.exists, what="the recorder runs")
    return pane


def settled(tmux: Tmux, pane: Pane) -> PaneState:
    wait_until(lambda: read_pane(tmux, PaneId(pane.id)).command == "cat", what="cat is in the foreground")
    return read_pane(tmux, PaneId(pane.id))


@pytest.mark.parametrize(
    ("key", "sent"),
    [("1", b"1"), ("y", b"y"), (";", b";"), ("$", b"$"), ('"', b'"'), ("\\", b"\\"), ("#", b"#"),
     ("~", b"~"), ("é", "é".encode()), ("Escape", b"\x1b"), ("Enter", b"\r"), ("Tab", b"\t")],
)  # fmt: skip
def test_one_key_arrives_as_that_key_alone(
    pane: Pane, connect: Connect, record: Path, key: str, sent: bytes
) -> None:
    tmux = connect(pane)

    press(tmux, settled(tmux, pane), key)

    wait_until(lambda: record.read_bytes() == sent, what=f"{sent!r} arrives")


def test_text_arrives_literally_and_without_enter(pane: Pane, connect: Connect, record: Path) -> None:
    tmux = connect(pane)
    text = "no; use \"x\" $HOME ~ #{pane_id} %d 'y' \\n — 日本 Enter;"

    type_text(tmux, settled(tmux, pane), text)

    wait_until(lambda: record.read_bytes() == text.encode(), what="the text arrives")


@pytest.mark.parametrize("key", ["", "yes", "C-c", "\n", "F1", "Escape Escape"])
def test_anything_but_a_single_key_is_refused(pane: Pane, connect: Connect, record: Path, key: str) -> None:
    tmux = connect(pane)

    with pytest.raises(UsageError):
        press(tmux, settled(tmux, pane), key)
    assert record.read_bytes() == b""


def test_a_pane_in_copy_mode_gets_no_key(
    pane: Pane, connect: Connect, record: Path, terminal: Terminal
) -> None:
    tmux = connect(pane)
    seen = settled(tmux, pane)
    terminal.tmux("copy-mode", "-t", pane.id)

    with pytest.raises(PaneChanged, match="copy mode"):
        press(tmux, seen, "1")
    assert read_pane(tmux, PaneId(pane.id)).in_mode
    assert record.read_bytes() == b""


def test_synchronized_panes_get_no_key(
    pane: Pane, connect: Connect, record: Path, terminal: Terminal, tmp_path: Path
) -> None:
    """tmux hands a key for one of them to all."""
    other = tmp_path / "other"
    terminal.tmux("split-window", "-t", pane.id, f"stty raw -echo; exec cat > '{other}'")
    terminal.tmux("set-option", "-w", "-t", pane.id, "synchronize-panes", "on")
    wait_until(other.exists, what="the other program runs")
    tmux = connect(pane)

    with pytest.raises(PaneChanged, match="synchronized"):
        press(tmux, settled(tmux, pane), "1")

    terminal.tmux("set-option", "-w", "-t", pane.id, "synchronize-panes", "off")
    press(tmux, settled(tmux, pane), "x")
    wait_until(lambda: record.read_bytes() == b"x", what="the next key, and only it")
    assert other.read_bytes() == b""


def test_a_respawned_pane_gets_no_key(
    pane: Pane, connect: Connect, terminal: Terminal, tmp_path: Path
) -> None:
    tmux = connect(pane)
    seen = settled(tmux, pane)
    other = tmp_path / "other"
    terminal.tmux("respawn-pane", "-k", "-t", pane.id, f"exec cat > '{other}'")

    with pytest.raises(PaneChanged, match="another program"):
        press(tmux, seen, "Enter")
    wait_until(other.exists, what="the other program runs")
    assert other.read_bytes() == b""


def test_a_shell_that_took_over_the_foreground_gets_no_key(open_pane: Open, connect: Connect) -> None:
    pane = open_pane("set -m; cat; exec sleep 99")
    tmux = connect(pane)
    seen = settled(tmux, pane)
    pane.press("C-d")
    wait_until(lambda: read_pane(tmux, PaneId(pane.id)).command == "sleep", what="sleep runs")

    with pytest.raises(PaneChanged, match="runs sleep now"):
        press(tmux, seen, "1")


def test_a_closed_pane_gets_no_key(pane: Pane, open_pane: Open, connect: Connect, terminal: Terminal) -> None:
    tmux = connect(open_pane("cat"))
    seen = settled(tmux, pane)
    terminal.tmux("kill-pane", "-t", pane.id)

    with pytest.raises(PaneGone):
        press(tmux, seen, "1")


ROWS = ("Do you want to make this edit to a,b}#{x}'s é.py?", "❯ 1. Yes", "3. No")


def test_a_key_is_sent_while_the_texts_are_on_the_screen_and_not_after(
    open_pane: Open, connect: Connect
) -> None:
    pane = open_pane("stty -echo; cat")
    tmux = connect(pane)
    for row in ROWS:
        pane.type(f"  {row}\n")
    pane.wait_for("3. No")
    seen = read_pane(tmux, PaneId(pane.id))

    press(tmux, seen, "1", showing=ROWS)
    for wrong in ("4. No", "Do you want to make this edit to a.b}#{x}'s ée.py?"):
        with pytest.raises(PaneChanged, match="shows something else"):
            press(tmux, seen, "2", showing=[*ROWS, wrong])

    pane.type("x\n")
    screen = pane.wait_for("1x")
    assert "2" not in screen
