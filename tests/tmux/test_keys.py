"""A key reaches exactly the intended pane, or none. A program in the pane records every byte."""

import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from chorus.errors import UsageError
from chorus.model.ids import PaneId
from chorus.text.width import cell_width
from chorus.tmux.errors import PaneChanged, PaneGone, ScreenChanged
from chorus.tmux.keys import ShownRows, press, type_text
from chorus.tmux.panes import PaneState, capture_screen, read_pane
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


LEFT = (
    " Do you want to make this edit to a,b}#{x}'s é.py?",
    " ❯ 1. Yes",
    "   2. Yes, and more (日本)",
    "   3. No",
)


def draw(pane: Pane, rows: list[str]) -> None:
    """Draw rows from the top of an empty screen; the program in the pane prints what it reads."""
    end = uuid.uuid4().hex[:8]
    pane.type("\x1b[H\x1b[2J")
    for row in rows:
        pane.type(row + "\r\n")
    pane.type(end)
    pane.wait_for(end)


def beside(rows: Sequence[str], other: Sequence[str], column: int = 60) -> list[str]:
    """Rows with a pane docked in this column."""
    widths = [column - cell_width(row) for row in rows]
    return [f"{row}{' ' * width}│{text}" for row, width, text in zip(rows, widths, other, strict=True)]


@pytest.fixture
def screen(open_pane: Open, terminal: Terminal) -> Pane:
    pane = open_pane("stty raw -echo; printf ready; exec cat")
    pane.wait_for("ready")
    terminal.tmux("resize-window", "-t", pane.id, "-x", "100", "-y", "30")
    return pane


def test_rows_are_compared_whole_or_up_to_a_column(screen: Pane, connect: Connect) -> None:
    tmux = connect(screen)
    fake = ["", " ❯ 1. No", "   2. Yes", "   3. Yes"]
    docked = beside(LEFT, fake)
    draw(screen, docked)
    seen = settled(tmux, screen)
    shown = capture_screen(tmux, PaneId(screen.id)).rows

    press(tmux, seen, "x", rows=ShownRows(shown, 61))
    # The pane may change meanwhile; what the dialog shows may not.
    draw(screen, beside(LEFT, ["another", "pane", "beside", "it"]))
    press(tmux, seen, "x", rows=ShownRows(shown[:4], 61))
    for wrong in (
        [LEFT[0], " ❯ 1. Yes", "   2. No", "   3. No"],  # other options
        [LEFT[0], " ❯ 1. Yes, and more", *LEFT[2:]],  # a longer row
        [LEFT[0], "  ❯ 1. Yes", *LEFT[2:]],  # in another column
        ["", "", "", ""],  # gone
    ):
        draw(screen, beside(wrong, LEFT))  # the pane shows the very dialog
        with pytest.raises(ScreenChanged, match="shows something else"):
            press(tmux, seen, "x", rows=ShownRows(shown[:4], 61))
    draw(screen, list(LEFT))  # without the dock, it is drawn anew
    with pytest.raises(ScreenChanged, match="shows something else"):
        press(tmux, seen, "x", rows=ShownRows(shown[:4], 61))
    press(tmux, seen, "x", rows=ShownRows(LEFT))
    with pytest.raises(ScreenChanged, match="shows something else"):
        press(tmux, seen, "x", rows=ShownRows((*LEFT[:3], "   3. N")))


def test_all_rows_of_a_tall_dialog_are_compared(screen: Pane, connect: Connect, terminal: Terminal) -> None:
    terminal.tmux("resize-window", "-t", screen.id, "-x", "200", "-y", "120")
    tmux = connect(screen)
    rows = [f"   {number} a row of a dialog" for number in range(100)]
    draw(screen, rows)
    seen = settled(tmux, screen)

    press(tmux, seen, "x", rows=ShownRows(tuple(rows)))
    draw(screen, ["   0 another row of a dialog", *rows[1:]])
    with pytest.raises(ScreenChanged):
        press(tmux, seen, "x", rows=ShownRows(tuple(rows)))


def test_rows_longer_than_a_command_of_tmux_are_compared_from_the_last(
    screen: Pane, connect: Connect, terminal: Terminal
) -> None:
    terminal.tmux("resize-window", "-t", screen.id, "-x", "300", "-y", "90")
    tmux = connect(screen)
    rows = [f"{number:02} " + "word " * 58 for number in range(80)]
    draw(screen, rows)
    seen = settled(tmux, screen)
    shown = tuple(row.rstrip() for row in rows)

    press(tmux, seen, "x", rows=ShownRows(shown))
    with pytest.raises(ScreenChanged):
        press(tmux, seen, "x", rows=ShownRows((*shown[:-1], "80 " + shown[-1][3:])))


def test_a_resized_pane_gets_no_key(screen: Pane, connect: Connect, terminal: Terminal) -> None:
    tmux = connect(screen)
    draw(screen, list(LEFT))
    seen = settled(tmux, screen)
    terminal.tmux("resize-window", "-t", screen.id, "-x", "70", "-y", "20")

    with pytest.raises(ScreenChanged, match="another size now: 70x20"):
        press(tmux, seen, "x", rows=ShownRows(LEFT))
