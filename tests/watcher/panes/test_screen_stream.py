"""The events of a pane that another program pipes, read from its screen, wrapped or not."""

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from chorus.agents.claude_code.adapter import AGENT
from chorus.model.ids import PaneId
from chorus.tmux.address import Address
from chorus.tmux.tmux_server import TmuxServer
from chorus.watcher.panes.printed_events import PrintedEvents
from chorus.watcher.panes.screen_stream import ScreenStream
from tests.lab.terminal import Pane, Terminal, terminal_fixture
from tests.waiting import wait_for

terminal = terminal_fixture(width=80, height=12)
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "TERM": "screen-256color",
    "LANG": "C.UTF-8",
    "HOME": "/nonexistent",
}
SECONDS = 60.0


def event(number: int) -> dict[str, Any]:
    text = f"event {number}: " + "a  b 字 c   " * (number % 5 * 4)
    return {"type": "text", "uuid": f"u-{number}", "text": text, "nested": {"n": number, "list": [1, 2, 3]}}


@dataclass(slots=True)
class PrintingPane:
    """A pane that prints what is written to it, and what was read of it."""

    terminal: Terminal
    pane: Pane
    fifo: Path
    fed: list[dict[str, Any]] = field(default_factory=list)
    stream: ScreenStream = field(init=False)
    printed: int = 0

    def __post_init__(self) -> None:
        async def feed(events: list[dict[str, Any]], _history: bool) -> None:
            self.fed += events

        printed = PrintedEvents(AGENT.events, feed, since=0.0)
        tmux = TmuxServer(Address(self.terminal.socket()))
        self.stream = ScreenStream(printed, tmux, PaneId(self.pane.id), lambda: True)

    def print(self, count: int) -> None:
        """Print the next events, and wait until the pane has them all."""
        events = [event(number) for number in range(self.printed, self.printed + count)]
        self.printed += count
        lines = [json.dumps(one, ensure_ascii=False) for one in events]
        self.fifo.write_text("".join(f"{line}\n" for line in [*lines, f"mark {self.printed}"]))
        self.pane.wait_for(f"mark {self.printed}\\b", seconds=SECONDS)

    def numbers(self) -> list[int]:
        return [one["nested"]["n"] for one in self.fed]


def open_printing(terminal: Terminal, tmp_path: Path, *wrapper: str) -> PrintingPane:
    fifo = tmp_path / "printed"
    os.mkfifo(fifo)
    loop = f"stty -echo; while :; do cat '{fifo}'; done"
    pane = terminal.open([*wrapper, "sh", "-c", loop], cwd=tmp_path, environment=ENVIRONMENT)
    return PrintingPane(terminal, pane, fifo)


@pytest.fixture
def printing(terminal: Terminal, tmp_path: Path) -> PrintingPane:
    return open_printing(terminal, tmp_path)


async def test_no_event_is_lost_or_doubled_while_the_pane_scrolls_and_is_resized(
    printing: PrintingPane,
) -> None:
    for width in (20, 37, 80, 121, 37, 80):
        printing.terminal.tmux("resize-window", "-t", printing.pane.id, "-x", str(width))
        printing.print(7)
        await printing.stream.drain()
        await printing.stream.drain()
    assert printing.fed == [event(number) for number in range(printing.printed)]
    assert printing.stream.gaps == 0


async def test_output_that_scrolls_out_of_the_history_unread_is_counted_as_a_gap(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal.tmux("set-option", "-g", "history-limit", "20", ";", "new-session", "-d", "sleep 600")
    printing = open_printing(terminal, tmp_path)
    printing.print(3)
    await printing.stream.drain()
    printing.print(60)
    await printing.stream.drain()
    assert printing.stream.gaps == 1
    printing.print(2)
    await printing.stream.drain()
    kept = printing.numbers()[3:]
    assert kept == list(range(kept[0], 65))
    assert printing.stream.gaps == 1


async def test_a_cleared_pane_is_read_on_and_counted_as_a_gap(printing: PrintingPane) -> None:
    printing.print(4)
    await printing.stream.drain()
    printing.fifo.write_text("\033[H\033[2J\033[3Jcleared\n")
    printing.pane.wait_for("cleared")
    for _ in range(3):
        await printing.stream.drain()
    assert printing.stream.gaps == 1
    printing.print(3)
    await printing.stream.drain()
    assert printing.numbers() == list(range(7))
    assert printing.stream.gaps == 1


async def test_a_cleared_screen_whose_history_is_kept_is_not_a_gap(printing: PrintingPane) -> None:
    printing.print(9)
    await printing.stream.drain()
    printing.terminal.tmux("send-keys", "-R", "-t", printing.pane.id)
    printing.print(3)
    await printing.stream.drain()
    assert printing.numbers() == list(range(12))
    assert printing.stream.gaps == 0


async def test_a_pane_that_has_ended_is_read_no_more(printing: PrintingPane) -> None:
    printing.print(2)
    await printing.stream.drain()
    printing.terminal.stop()
    await printing.stream.drain()
    assert printing.numbers() == [0, 1]
    assert printing.stream.gaps == 0


@pytest.fixture
def inner(short_directory: Path) -> Iterator[Path]:
    """The socket of a second tmux, which runs in a pane of the first."""
    socket = short_directory / "inner"
    yield socket
    subprocess.run(["tmux", "-S", str(socket), "kill-server"], capture_output=True, check=False)


async def test_rows_that_a_multiplexer_in_the_pane_wrapped_are_joined(
    terminal: Terminal, tmp_path: Path, inner: Path
) -> None:
    printing = open_printing(
        terminal, tmp_path, "env", "-u", "TMUX", "tmux", "-f", "/dev/null", "-S", str(inner), "new-session"
    )
    wait_for(inner.exists, what="the inner tmux", seconds=SECONDS)
    for _ in range(6):
        printing.print(1)
        await printing.stream.drain()
    assert printing.numbers() == list(range(6))
