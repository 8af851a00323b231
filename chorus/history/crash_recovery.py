"""Finish writes that a crash left half done.

Before a record is written, the move of its lane branch is saved in a small file. The file is cleared once
timeline and lane have moved. If the file was not cleared, the next writer removes the locks of the dead
process. If the timeline has the record, the writer also moves the lane, unless somebody else has moved the
lane since.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chorus.history.timeline.timeline import Timeline
from chorus.history.workspace import Workspace
from chorus.model.ids import Oid
from chorus.store.lock_file import translate_write_errors

# The first byte of the file: whether the write that the file describes must still be finished.
PENDING = b"+"
DONE = b"-"


@dataclass(frozen=True, slots=True)
class LaneMove:
    """A move of a lane: `ref` goes from `expected` (None: the ref does not exist) to `commit`."""

    ref: str
    commit: Oid
    expected: Oid | None


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """A record that was being written, with the move of its lane, if any."""

    move: LaneMove | None


class CrashRecovery:
    def __init__(self, workspace: Workspace, timeline: Timeline) -> None:
        self._workspace = workspace
        self._timeline = timeline
        self._file = PendingWriteFile(workspace.repository.own_dir / "pending")
        # Something may be half done: by a process that died, or by this one when it failed.
        self.is_needed = True

    def close(self) -> None:
        self._file.close()

    @contextlib.contextmanager
    def guard(self, move: LaneMove | None = None) -> Iterator[None]:
        """Save `move` while the caller writes a record. After a crash, `recover` finishes the move."""
        self.is_needed = True
        self._file.begin(move)
        yield
        self._file.end()
        self.is_needed = False

    def recover(self) -> None:
        self._remove_index_locks()
        pending = self._file.read()
        if pending is not None:
            self._remove_ref_locks(pending.move)
            if pending.move is not None:
                self._finish_lane(pending.move)
            self._file.end()
        self.is_needed = False

    def _finish_lane(self, move: LaneMove) -> None:
        recorded = self._timeline.find_commit(move.commit)
        if recorded is not None and self._workspace.refs.read(move.ref) == move.expected:
            reason = f"finish {recorded.record.action}"
            self._workspace.refs.update(move.ref, move.commit, move.expected, reason)

    def _remove_index_locks(self) -> None:
        """Remove the locks of Chorus's own index. Other locks in its directory may be in use."""
        for lock in self._workspace.repository.own_dir.glob("index*.lock"):
            lock.unlink(missing_ok=True)

    def _remove_ref_locks(self, move: LaneMove | None) -> None:
        names = [self._timeline.ref, *([move.ref] if move else [])]
        if not self._timeline.records:
            names.append("objects/info/alternates")  # written when the timeline starts
        for name in names:
            (self._workspace.repository.common_dir / f"{name}.lock").unlink(missing_ok=True)


class PendingWriteFile:
    """The file with the pending write, rewritten in place: two system calls per record."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def begin(self, move: LaneMove | None) -> None:
        values = [move.ref, move.commit, move.expected] if move else None
        with translate_write_errors(os.fspath(self._path)):
            os.pwrite(self._open(), PENDING + json.dumps(values).encode() + b"\n", 0)

    def end(self) -> None:
        os.pwrite(self._open(), DONE, 0)

    def read(self) -> PendingWrite | None:
        """Return the unfinished write, or None. If the file is truncated, the result has no lane move."""
        try:
            with self._path.open("rb") as file:
                line = file.readline()
        except FileNotFoundError:
            return None
        if not line.startswith(PENDING):
            return None
        try:
            values = json.loads(line[1:])
        except ValueError:
            return PendingWrite(None)
        return PendingWrite(LaneMove(*values) if values else None)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> int:
        if self._descriptor is None:
            self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return self._descriptor
