"""The terminal of the stand-in: reads keys, draws changed rows, and restores everything at the end."""

import os
import re
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType
from typing import Self

# Set the title, enter the alternate screen and hide the cursor, as the client does; and undo that.
ENTER = "\x1b]0;✳ Claude Code\x07\x1b[?1049h\x1b[2J\x1b[H\x1b[?25l"
LEAVE = "\x1b[?1049l\x1b[0m\x1b]0;\x07\x1b[?25h"
# How long to wait for more after an escape byte. The rest of a sequence follows at once; alone it is a key.
ESCAPE_SECONDS = 0.02
READ_BYTES = 65536
# One key: a sequence of the terminal, a control byte, or one character of UTF-8.
KEY = re.compile(rb"\x1b\[[0-9;<?]*[ -/]*[@-~]|\x1bO.|[\x00-\x1f\x7f]|[\xc0-\xff][\x80-\xbf]*|.", re.DOTALL)
NAMES = {
    b"\r": "enter", b"\n": "enter", b"\x1b": "escape", b"\x7f": "backspace", b"\x08": "backspace",
    b"\x03": "ctrl-c", b"\x04": "ctrl-d", b"\x15": "ctrl-u",
    b"\x1b[A": "up", b"\x1b[B": "down", b"\x1bOA": "up", b"\x1bOB": "down",
}  # fmt: skip


class Terminal:
    enter, leave = ENTER, LEAVE

    def __init__(self) -> None:
        self._input = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._input)
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        self._drawn: list[str] = []
        self._size = (0, 0)

    def __enter__(self) -> Self:
        tty.setraw(self._input)
        signal.signal(signal.SIGWINCH, lambda *_: self.wake())
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _exit)
        self._write(self.enter)
        return self

    def __exit__(self, *_: object) -> None:
        self._write(self.leave)
        termios.tcsetattr(self._input, termios.TCSADRAIN, self._before)

    def wake(self) -> None:
        """Make a waiting `read` return. May be called from any thread."""
        with suppress(BlockingIOError):  # a full pipe wakes it as well
            os.write(self._wake, b"!")

    def read_keys(self, timeout_seconds: float | None) -> list[str] | None:
        """Return the keys pressed; an empty list if woken or timed out, None if the terminal is gone."""
        data = self.read(timeout_seconds)
        return None if data is None else list(_decode(data))

    def read(self, timeout_seconds: float | None) -> bytes | None:
        """Return the bytes typed; empty if woken or timed out, None if the terminal is gone."""
        ready, _, _ = select.select([self._input, self._woken], [], [], timeout_seconds)
        if self._woken in ready:
            os.read(self._woken, READ_BYTES)
        if self._input not in ready:
            return b""
        try:
            data = os.read(self._input, READ_BYTES)
        except OSError:
            return None
        if data.endswith(b"\x1b") and select.select([self._input], [], [], ESCAPE_SECONDS)[0]:
            data += os.read(self._input, READ_BYTES)
        return data or None

    def measure(self) -> tuple[int, int]:
        """Return columns and rows. Clear the screen if they have changed."""
        size = os.get_terminal_size(sys.stdout.fileno())
        if size != self._size:
            self._size, self._drawn = size, []
            self._write("\x1b[2J")
        return size.columns or 80, size.lines or 24

    def draw(self, rows: list[str]) -> None:
        """Write the rows that have changed since the last call."""
        height = self._size[1] or 24
        rows = [*rows[:height], *[""] * (height - len(rows))]
        pieces = [
            f"\x1b[{number};1H{row}\x1b[0m\x1b[K"
            for number, row in enumerate(rows, 1)
            if number > len(self._drawn) or self._drawn[number - 1] != row
        ]
        self._drawn = rows
        if pieces:
            self._write("\x1b[?2026h" + "".join(pieces) + "\x1b[?2026l")

    def _write(self, text: str) -> None:
        data = text.encode()
        while data:
            data = data[os.write(sys.stdout.fileno(), data) :]


def _decode(data: bytes) -> Iterator[str]:
    for match in KEY.finditer(data):
        key = match[0]
        if key in NAMES:
            yield NAMES[key]
        elif key[0] >= ord(" "):
            yield key.decode(errors="replace")


def _exit(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
