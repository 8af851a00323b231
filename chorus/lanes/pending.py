"""The one step that a crash can leave half done: the timeline has the record, its lane not yet the commit.

Receives the lane move before the timeline is written, gives it back after a crash. The file stays; its
first byte says whether it counts. Never decides whether the move is still to be made: the timeline does.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from chorus.core.ids import Oid
from chorus.git.lockfile import translated

DUE = b"+"
DONE = b"-"


@dataclass(frozen=True, slots=True)
class LaneMove:
    """`ref` goes from `expected` (None: it is not there) to `commit`."""

    ref: str
    commit: Oid
    expected: Oid | None


class Pending:
    def __init__(self, place: Path) -> None:
        self._place = place
        self._file: int | None = None

    def write(self, move: LaneMove) -> None:
        line = json.dumps([move.ref, move.commit, move.expected]).encode() + b"\n"
        with translated(os.fspath(self._place)):
            if self._file is None:
                self._file = os.open(self._place, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            os.pwrite(self._file, DUE + line, 0)

    def read(self) -> LaneMove | None:
        """None too where the crash came while this was written: the timeline has no record then."""
        try:
            with self._place.open("rb") as file:
                line = file.readline()
            if not line.startswith(DUE):
                return None
            ref, commit, expected = json.loads(line[1:])
        except (FileNotFoundError, ValueError):
            return None
        return LaneMove(ref, Oid(commit), Oid(expected) if expected else None)

    def clear(self) -> None:
        if self._file is None:
            self._file = os.open(self._place, os.O_WRONLY | os.O_CLOEXEC)
        os.pwrite(self._file, DONE, 0)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None
