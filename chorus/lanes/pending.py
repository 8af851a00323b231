"""The one step that a crash can leave half done: the timeline has the record, its lane not yet the commit.

Receives the lane move before the timeline is written, gives it back after a crash. Never decides whether
it is still to be made: the timeline does.
"""

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from chorus.core.ids import Oid
from chorus.git.lockfile import translated


@dataclass(frozen=True, slots=True)
class LaneMove:
    """`ref` goes from `expected` (None: it is not there) to `commit`."""

    ref: str
    commit: Oid
    expected: Oid | None


class Pending:
    def __init__(self, place: Path) -> None:
        self._place = place

    def write(self, move: LaneMove) -> None:
        text = json.dumps([move.ref, move.commit, move.expected])
        with translated(os.fspath(self._place)):
            self._place.write_text(text, encoding="ascii")

    def read(self) -> LaneMove | None:
        """None too where the crash came while this was written: the timeline has no record then."""
        try:
            ref, commit, expected = json.loads(self._place.read_text(encoding="ascii"))
        except (FileNotFoundError, ValueError):
            return None
        return LaneMove(ref, Oid(commit), Oid(expected) if expected else None)

    def clear(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._place.unlink()
