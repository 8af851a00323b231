"""The simulator and the counting of cells, held against a real tmux."""

import shutil
import subprocess
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from chorus.agents.claude_code.terminal import Reassembler
from chorus.agents.claude_code.terminal.cells import count_cells
from tests.agents.terminal.tmux_rows import capture, is_ambiguous

LINES = [
    '{"a":"123456789012345678901234567890      1234567890"}',
    '{"b":"x' + " " * 90 + 'y"}',
    '{"c":"1234567890123日本語日本語日本語日本語日本語日本語 日本語 日本語 日本"}',
    '{"d":"é́é 日 本 語😀😀😀😀😀😀😀😀😀 😀 😀 😀 😀 😀 x  日"}',
    '{"e":"👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻👩‍💻 ✏️ done"}',
    '{"f": "' + "word " * 60 + '", "g": [1, 2, 3]}',
    "$ prompt {",
    '{"h":1}',
]
WIDTHS = [20, 21, 22, 23, 37, 80, 81]


class Server:
    """A tmux server of its own that shows files in panes of any width."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._socket = directory / "socket"

    def run(self, *arguments: str) -> str:
        command = ["tmux", "-u", "-S", str(self._socket), "-f", "/dev/null", *arguments]
        return subprocess.run(command, check=True, capture_output=True).stdout.decode("utf-8")

    def show(self, text: str, width: int, *flags: str) -> str:
        file = self._directory / "text"
        file.write_text(text, encoding="utf-8", newline="\n")
        done = f"tmux -S {self._socket} wait-for -S shown"
        self.run("new-session", "-d", "-s", "x", "-x", str(width), "-y", "10", f"cat {file}; {done}; cat")
        try:
            subprocess.run(["tmux", "-S", str(self._socket), "wait-for", "shown"], check=True, timeout=20)
            return self.run("capture-pane", "-p", *flags, "-S", "-", "-t", "x")
        finally:
            self.run("kill-session", "-t", "x")


@pytest.fixture
def server(short_directory: Path) -> Iterator[Server]:
    if shutil.which("tmux") is None:
        pytest.skip("needs tmux")
    server = Server(short_directory)
    server.run("new-session", "-d", "-s", "keep", "cat")
    server.run("set-option", "-g", "history-limit", "20000")
    try:
        yield server
    finally:
        server.run("kill-server")


def test_rows_are_those_of_a_real_pane(server: Server) -> None:
    # What versions of tmux differ about is simulated as this one has it.
    is_simulated = server.run("-V").strip() == "tmux 3.3a"
    lines = [line for line in LINES if is_simulated or count_cells(line)[1]]
    text = "".join(line + "\n" for line in lines)
    for width in WIDTHS:
        assert server.show(text, width).rstrip("\n") == capture(lines, width).rstrip("\n"), width
        kept = server.show(text, width, "-N").rstrip("\n")
        simulated = capture(lines, width, keep_blanks=True).rstrip("\n")
        # Later versions fill every row with blanks.
        assert kept == simulated if is_simulated else stripped(kept) == stripped(simulated), width
        assert server.show(text, width, "-J").rstrip("\n") == text.rstrip("\n"), width


def test_objects_are_read_from_a_real_pane(server: Server) -> None:
    text = "".join(line + "\n" for line in LINES)
    for width in (40, 80):
        reassembler = Reassembler(width=width)
        documents = reassembler.feed(server.show(text, width)) + reassembler.close()
        clear = [line for line in LINES if line.startswith("{") and not is_ambiguous(line, width)]
        given = [document.text.decode() for document in documents]
        assert set(given) <= set(clear)
        assert [line for line in clear if line.isascii()] == [line for line in given if line.isascii()]
        assert len(LINES) - 1 - len(given) == reassembler.problems["ambiguous-wrap"]


def stripped(text: str) -> list[str]:
    return [row.rstrip(" ") for row in text.split("\n")]


def test_rows_that_are_filled_with_blanks_are_read_or_ambiguous() -> None:
    for width in range(20, 90):
        rows = capture(LINES, width, keep_blanks=True).split("\n")[:-1]
        filled = "".join(row + " " * (width - count_cells(row)[0]) + "\n" for row in rows)
        reassembler = Reassembler(width=width)
        documents = reassembler.feed(filled.encode()) + reassembler.close()

        given = {document.text.decode() for document in documents}
        assert given <= set(LINES), width
        # Behind a row that is no object, a filled one may be the rest of it.
        plain = {line for line in LINES[: LINES.index("$ prompt {")] if line.isascii()}
        assert plain <= given, width


def test_a_character_has_the_width_that_tmux_gives_it(server: Server) -> None:
    """Each begins a line: how many letters still fit in its row tells how many cells it took."""
    chosen = [chr(code) for code in range(0xA1, 0x32000, 37) if is_shown(chr(code))]
    width = 20
    text = "".join(char + "abcdefghijklmnopqrstu\n" for char in chosen)
    rows = [row for row in server.show("x\n" + text, width).split("\n")[1:] if "a" in row]
    assert len(rows) == len(chosen)
    for char, row in zip(chosen, rows, strict=True):
        letters = sum(letter.isascii() for letter in row)
        assert (width - letters, True) == count_cells(char), f"U+{ord(char):04X}"


def is_shown(char: str) -> bool:
    """Whether the character takes cells of its own and every terminal agrees how many."""
    sure = count_cells(char)[1]
    return sure and unicodedata.category(char) not in ("Mn", "Me", "Zs")
