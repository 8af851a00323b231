"""What a crash can leave half done: refs on the move.

Receives, before a ref moves, that it will; gives it back after a crash. The first byte of the file says
whether it counts. Never decides whether a move is still to be made: the timeline does.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from chorus.model.ids import Oid
from chorus.store.lock_file import translated

DUE = b"+"
DONE = b"-"


@dataclass(frozen=True, slots=True)
class LaneMove:
    """`ref` goes from `expected` (None: it is not there) to `commit`."""

    ref: str
    commit: Oid
    expected: Oid | None


@dataclass(frozen=True, slots=True)
class Due:
    """A record was being written, with this move of its lane, if it has one."""

    move: LaneMove | None


class Pending:
    def __init__(self, place: Path) -> None:
        self._place = place
        self._file: int | None = None

    def begin(self, move: LaneMove | None) -> None:
        values = [move.ref, move.commit, move.expected] if move else None
        with translated(os.fspath(self._place)):
            os.pwrite(self._open(), DUE + json.dumps(values).encode() + b"\n", 0)

    def end(self) -> None:
        os.pwrite(self._open(), DONE, 0)

    def read(self) -> Due | None:
        """What was begun and not ended. Cut short while it was written, it says nothing of a lane."""
        try:
            with self._place.open("rb") as file:
                line = file.readline()
        except FileNotFoundError:
            return None
        if not line.startswith(DUE):
            return None
        try:
            values = json.loads(line[1:])
        except ValueError:
            return Due(None)
        return Due(LaneMove(*values) if values else None)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self) -> int:
        if self._file is None:
            self._file = os.open(self._place, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return self._file
