"""Parse the output of tmux's control mode: replies to commands, and events.

The parser takes bytes in pieces of any size.
"""

import re
from dataclasses import dataclass

_BEGIN = re.compile(rb"%begin (\d+ \d+ \d+)")
_EVENT = re.compile(rb"%([a-z-]+)(?: (.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """The reply to one command: the lines it printed, or its error."""

    failed: bool
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ControlEvent:
    """An event, such as `output`, `exit` or `window-close`, with the rest of its line."""

    kind: str
    rest: bytes

    @property
    def fields(self) -> list[str]:
        return self.rest.decode("utf-8", "replace").split(" ")


class BlockParser:
    def __init__(self) -> None:
        self._tail = b""
        self._open: bytes | None = None  # the numbers of the current block
        self._lines: list[str] = []

    def feed(self, chunk: bytes) -> list[Block | ControlEvent]:
        *whole, self._tail = (self._tail + chunk).split(b"\n")
        found = [self._take(line) for line in whole]
        return [item for item in found if item is not None]

    def _take(self, line: bytes) -> Block | ControlEvent | None:
        if self._open is None:
            return self._take_outside(line)
        # The numbers distinguish the end of a block from a similar line that a pane shows.
        if line in (b"%end " + self._open, b"%error " + self._open):
            block = Block(line.startswith(b"%error"), tuple(self._lines))
            self._open, self._lines = None, []
            return block
        self._lines.append(line.decode("utf-8", "surrogateescape"))
        return None

    def _take_outside(self, line: bytes) -> ControlEvent | None:
        begin = _BEGIN.fullmatch(line)
        if begin:
            self._open = begin[1]
            return None
        event = _EVENT.fullmatch(line.rstrip(b"\r"))
        return ControlEvent(event[1].decode(), event[2] or b"") if event else None
