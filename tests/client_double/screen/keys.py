"""Decode the bytes of a terminal into keys, and record them.

A key is one character, or a name: enter, escape, tab, btab, up, down, left, right, backspace,
ctrl-c … A bracketed paste comes as its text in one piece, never as single keys.
"""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

NAMED = {
    b"\r": "enter", b"\n": "enter", b"\t": "tab", b"\x1b": "escape",
    b"\x7f": "backspace", b"\x08": "backspace",
    b"\x03": "ctrl-c", b"\x04": "ctrl-d", b"\x15": "ctrl-u", b"\x1b[Z": "btab",
    b"\x1b[A": "up", b"\x1b[B": "down", b"\x1b[C": "right", b"\x1b[D": "left",
    b"\x1bOA": "up", b"\x1bOB": "down", b"\x1bOC": "right", b"\x1bOD": "left",
}  # fmt: skip
# One key: a paste, a sequence the terminal sends, a control byte, or one character of UTF-8.
KEY = re.compile(
    rb"\x1b\[200~(?P<paste>.*?)\x1b\[201~|\x1b\[[0-9;<?]*[ -/]*[@-~]|\x1bO.|\x1b|[\x00-\x1f\x7f]"
    rb"|[\xc0-\xff][\x80-\xbf]*|.",
    re.DOTALL,
)


def decode_keys(data: bytes) -> Iterator[str]:
    for match in KEY.finditer(data):
        paste = match["paste"]
        if paste is not None:
            yield "paste:" + paste.decode(errors="replace")
        elif match[0] in NAMED:
            yield NAMED[match[0]]
        elif match[0][0] >= ord(" ") and match[0] != b"\x7f":
            yield match[0].decode(errors="replace")


class KeyRecord:
    """One line for each read: time, bytes, and the open dialog."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def add(self, data: bytes, dialog: str | None) -> None:
        if self._path is None:
            return
        line = {"time": time.time(), "bytes": data.hex(), "keys": list(decode_keys(data)), "dialog": dialog}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
