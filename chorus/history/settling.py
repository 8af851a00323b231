"""Half-done writes: set aside before refs move, cleared up by whoever writes next.

Receives the moves a record is about to make. After a crash, makes the lane's move if the timeline has its
record, and takes away the lock files the dead left. The caller holds the recording lock, so whoever left
something is dead. Never makes a move that was not set aside: a lane the user deleted stays deleted.
"""

import contextlib
from collections.abc import Iterator

from chorus.history.pending import LaneMove, Pending
from chorus.history.site import Site
from chorus.history.timeline import Timeline


class Settling:
    def __init__(self, site: Site, timeline: Timeline) -> None:
        self._site = site
        self._timeline = timeline
        self._pending = Pending(site.repository.own_dir / "pending")
        # Something may be half done: by a process that died, or by this one when it failed.
        self.is_due = True

    def close(self) -> None:
        self._pending.close()

    @contextlib.contextmanager
    def moving(self, move: LaneMove | None = None) -> Iterator[None]:
        """Set aside what is to be finished, should this process not get to the end of the block."""
        self.is_due = True
        self._pending.begin(move)
        yield
        self._pending.end()
        self.is_due = False

    def finish(self) -> None:
        self._remove_own_locks()
        due = self._pending.read()
        if due is not None:
            self._remove_ref_locks(due.move)
            if due.move is not None:
                self._finish_lane(due.move)
            self._pending.end()
        self.is_due = False

    def _finish_lane(self, move: LaneMove) -> None:
        recorded = self._timeline.find_commit(move.commit)
        if recorded is not None and self._site.refs.read(move.ref) == move.expected:
            reason = f"finish {recorded.record.action}"
            self._site.refs.update(move.ref, move.commit, move.expected, reason)

    def _remove_own_locks(self) -> None:
        """Those of the private index. Others in this directory are held by who runs, not left by who died."""
        for place in self._site.repository.own_dir.glob("index*.lock"):
            place.unlink(missing_ok=True)

    def _remove_ref_locks(self, move: LaneMove | None) -> None:
        names = [self._timeline.ref, *([move.ref] if move else [])]
        if not self._timeline.records:
            names.append("objects/info/alternates")  # written when the timeline starts
        for name in names:
            (self._site.repository.common_dir / f"{name}.lock").unlink(missing_ok=True)
