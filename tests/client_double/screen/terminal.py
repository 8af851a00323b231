"""The terminal: raw keys in, changed rows out, restored at the end.

The newest client draws on the alternate screen and takes mouse reports; so does this.
"""

import fcntl
import os
import select
import signal
import struct
import sys
import termios
import tty
from contextlib import suppress
from types import FrameType
from typing import Self

ENTER = (
    "\x1b[?2004h\x1b[?1004h\x1b]0;✳ Claude Code\x07\x1b[?1049h\x1b[2J\x1b[H"
    "\x1b[?1000h\x1b[?1002h\x1b[?1003h\x1b[?1006h\x1b[?25l"
)
LEAVE = (
    "\x1b[?1006l\x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b[?1004l\x1b[?1049l\x1b[?2004l\x1b[0m\x1b]0;\x07\x1b[?25h"
)
# A lone escape is a key; the rest of a sequence follows it at once.
ESCAPE_SECONDS = 0.02
READ_BYTES = 65536


class Terminal:
    def __init__(self) -> None:
        self._input = sys.stdin.fileno()
        self._output = sys.stdout.fileno()
        self._before = termios.tcgetattr(self._input)
        self._drawn: list[str] = []
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        self._stale = True
        self.columns, self.rows = 80, 24

    def __enter__(self) -> Self:
        tty.setraw(self._input)
        signal.signal(signal.SIGWINCH, self._resized)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._ended)
        self._write(ENTER)
        return self

    def __exit__(self, *_: object) -> None:
        self._write(LEAVE)
        termios.tcsetattr(self._input, termios.TCSADRAIN, self._before)

    def wake(self) -> None:
        """Make a waiting `read` return. Any thread may call it."""
        # A full pipe wakes it as well.
        with suppress(BlockingIOError):
            os.write(self._wake, b"!")

    def read(self, seconds: float | None) -> bytes | None:
        """The next bytes typed; empty when woken or after the timeout; None if the terminal is gone."""
        ready, _, _ = select.select([self._input, self._woken], [], [], seconds)
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

    def draw(self, rows: list[str]) -> None:
        """Bring the screen to these rows, writing only those that changed."""
        rows = [*rows[: self.rows], *[""] * (self.rows - len(rows))]
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
            data = data[os.write(self._output, data) :]

    def measure(self) -> None:
        """Update the size; after a change everything is drawn again."""
        if not self._stale:
            return
        self._stale, self._drawn = False, []
        size = fcntl.ioctl(self._output, termios.TIOCGWINSZ, b"\0" * 8)
        rows, columns, _, _ = struct.unpack("HHHH", size)
        self.rows, self.columns = rows or 24, columns or 80
        self._write("\x1b[2J")

    def _resized(self, number: int, frame: FrameType | None) -> None:
        # Only marked here: the screen may be half written at this moment.
        self._stale = True
        self.wake()

    def _ended(self, number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)
