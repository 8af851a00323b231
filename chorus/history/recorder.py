"""The recorder: what happens in a work tree goes on its timeline, and what an agent did on its lane.

Receives calls and actions as the client tells them, and hints where to look. Reads the disk, appends to
the timeline, moves lane branches. An action that is known is never recorded again, whoever tells of it,
also after a restart. Never changes a file of the user's, HEAD, the index, or a branch that is not a lane.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from chorus.changes.summary import spoken
from chorus.history.ascribing import Ascribing
from chorus.history.chain import Recorded
from chorus.history.journal import Journal
from chorus.history.log.entries import LogEntry
from chorus.history.log.ledger import Ledger
from chorus.history.observing import Observation, Observing
from chorus.history.records import Edit
from chorus.history.site import Site
from chorus.model.action import Action, Status
from chorus.model.ids import Oid, SessionId, ToolUseId
from chorus.store.worktree.work_tree import CAP_BYTES


class Recorder:
    def __init__(self, site: Site) -> None:
        self.site = site
        self.journal = Journal(site)
        self.timeline = self.journal.timeline
        self.lanes = self.journal.lanes
        self._ledger = Ledger(self.timeline, self.journal.notes)
        self._observing = Observing(self.journal)
        self._ascribing = Ascribing(self.journal, self._observing)

    @classmethod
    def open(cls, path: Path, cap_bytes: int = CAP_BYTES) -> Self:
        """The recorder of the work tree that holds `path`. Nothing is written until something is recorded."""
        return cls(Site.open(path, cap_bytes))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.journal.close()
        self.site.close()

    def entries(self) -> list[LogEntry]:
        """Every call and outside change, oldest first."""
        self.journal.refresh()
        return self._ledger.entries()

    def edits(self, entry: LogEntry) -> tuple[Edit, ...]:
        """The paths of an entry, with the file before and after."""
        recorded = self.timeline.find_commit(entry.timeline) if entry.timeline else None
        return self.timeline.edits(recorded) if recorded else ()

    def current_commit(self, recorded: Recorded) -> Oid:
        """The lane commit of an action: made anew where the lane had moved meanwhile."""
        record = recorded.record
        assert record.placement is not None
        return self.journal.moved.get(record.action or "", record.placement.commit)

    def start(self) -> None:
        """Take the work tree as it is for the beginning, unless there is a timeline already."""
        with self.journal.writing():
            pass

    def look(
        self,
        hints: Iterable[str] | None,
        spare: Collection[str] = (),
        *,
        waits: Callable[[], bool] = lambda: True,
    ) -> bool:
        """Before a call: what is there now is not its doing. Whether that could be said.

        `waits`: whether the client stands still. Asked after the look: a client that goes on meanwhile may
        have written what was seen, and then nothing is recorded.
        """
        if not waits():
            return False
        with self.journal.writing():
            seen = self._observe(hints, spare)
            if not waits():
                return False
            if seen.edits:
                self.journal.append_outside(seen.edits, None)
            return True

    def sweep(
        self, hints: Iterable[str] | None = None, spare: Collection[str] = (), reason: str | None = None
    ) -> list[Recorded]:
        """Record what moved as outside, but for the paths to spare. Without hints, look everywhere."""
        with self.journal.writing():
            seen = self._observe(hints, spare)
            rest = [self.journal.append_outside(seen.edits, reason)] if seen.edits else []
            return [*seen.recorded, *rest]

    def record_named(
        self,
        actions: Sequence[Action],
        source: str | None = None,
        busy: Collection[str] = (),
        *,
        patient: bool = False,
    ) -> bool:
        """Record actions that write only the paths they name, oldest first.

        `busy`: paths that calls which are not over name too. `patient`: where another's change lies before
        these at such a path, record nothing and answer False: that call may be about to end.
        """
        with self.journal.writing():
            once = {action.id: action for action in reversed(actions)}
            new = [action for action in reversed(once.values()) if not self.journal.knows(action.id)]
            paths = set(self._observing.locate(busy))
            return self._ascribing.record_named(new, source, paths, patient=patient)

    def record_window(
        self,
        action: Action,
        hints: Iterable[str] | None = None,
        spare: Collection[str] = (),
        source: str | None = None,
        *,
        shared: bool = False,
    ) -> None:
        """Record what moved while this action ran as its change, but for the paths to spare.

        `shared`: others ran too, so what the client itself lists as changed counts first.
        """
        with self.journal.writing():
            if self.journal.knows(action.id):
                return
            self._ascribing.record_window(action, self._observe(hints, spare), source, shared=shared)

    def note(self, action: Action, source: str | None = None) -> None:
        """Remember a call that changed nothing: how it ended is what its status says."""
        with self.journal.writing():
            if not self.journal.knows(action.id):
                self._ascribing.note(action, source)

    def link(self, session: SessionId, parent: SessionId) -> None:
        """`session` goes on where `parent` left off: it writes to the same lane."""
        with self.journal.writing():
            if self.journal.root(session) != self.journal.root(parent):
                self.journal.append_note({"kind": "link", "session": session, "parent": parent})

    def correct(self, action: ToolUseId, status: Status) -> None:
        """A call ended otherwise than was told when it was recorded."""
        with self.journal.writing():
            self.journal.append_note({"kind": "status", "id": action, "status": status})

    def word(self, action: ToolUseId, lead_text: str) -> None:
        """What the assistant said before an action that is recorded already."""
        words = spoken(lead_text)
        with self.journal.writing():
            if words is not None and self.journal.knows(action):
                self.journal.append_note({"kind": "said", "id": action, "summary": words})

    def mark(self, kind: str, ids: Iterable[str], values: Mapping[str, Any] | None = None) -> None:
        """Remember something about actions: `kept`, `open`, `landed` (with `commits`), …"""
        with self.journal.writing():
            self.journal.append_note({"kind": kind, "ids": list(ids), **(values or {})})

    def _observe(self, hints: Iterable[str] | None, spare: Collection[str]) -> Observation:
        locate = self._observing.locate
        return self._observing.observe(None if hints is None else locate(hints), set(locate(spare)))
