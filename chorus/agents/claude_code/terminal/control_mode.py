"""Read the output of panes from a log of tmux control mode (`tmux -C`).

The output is unescaped but not decoded, because a UTF-8 character may be split between two messages.
"""

import re
from dataclasses import dataclass

from chorus.model.ids import PaneId

# `%output %0 text`, or with flow control `%extended-output %0 12 : text`.
_OUTPUT = re.compile(rb"%(?:output (%\d+)|extended-output (%\d+) [^:]*:) ")
_REPLY = re.compile(rb"%(begin|end|error) (\d+ \d+) ")
_OCTAL = re.compile(rb"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class PaneOutput:
    pane: PaneId
    data: bytes


class ControlMode:
    def __init__(self) -> None:
        self._line = bytearray()
        self._reply: bytes | None = None  # the number of the reply that is being skipped

    def feed(self, chunk: bytes) -> list[PaneOutput]:
        """Take the next chunk. Return the output in the lines that end in this chunk."""
        end = chunk.rfind(b"\n") + 1
        if not end:
            self._line += chunk
            return []
        lines = (bytes(self._line) + chunk[: end - 1]).split(b"\n")
        self._line = bytearray(chunk[end:])
        outputs = (self._take(line.removesuffix(b"\r")) for line in lines)
        return [output for output in outputs if output is not None]

    def _take(self, line: bytes) -> PaneOutput | None:
        bound = _REPLY.match(line)
        if self._reply is not None:
            if bound and bound[1] != b"begin" and bound[2] == self._reply:
                self._reply = None
            return None
        if bound and bound[1] == b"begin":
            self._reply = bound[2]
            return None
        found = _OUTPUT.match(line)
        if found is None:
            return None
        pane = PaneId((found[1] or found[2]).decode())
        return PaneOutput(pane, _OCTAL.sub(_unescape, line[found.end() :]))


def is_control_mode(beginning: bytes) -> bool:
    return _REPLY.match(beginning.removeprefix(b"\x1bP1000p")) is not None


def _unescape(escape: re.Match[bytes]) -> bytes:
    return bytes([int(escape[1], 8) & 0xFF])
