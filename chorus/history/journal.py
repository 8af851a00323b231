"""Timeline, lanes and notes, written together.

Receives what was observed and whose it is. Gives it a number, a place on the timeline, and, for an
action, on its lane. The order makes a crash harmless: objects, the lane move set aside, the timeline,
the lane. Whoever writes next finishes what was set aside. Never looks at the work tree.
"""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from chorus.changes.summary import summarise
from chorus.history.crash_recovery import CrashRecovery, LaneMove
from chorus.history.describing import (
    clip,
    count_changed,
    count_files,
    day_of,
    describe,
    file_lines,
    parse_time,
    record_of,
)
from chorus.history.head_moves import HeadTracker, render_head
from chorus.history.lanes import Lane, Lanes, PreparedCommit
from chorus.history.mark_log import MarkLog
from chorus.history.records import Edit, Record, RecordKind
from chorus.history.timeline import Timeline
from chorus.history.timeline_log import TimelineCommit
from chorus.history.workspace import Workspace
from chorus.model.action import Action
from chorus.model.ids import Oid, SessionId
from chorus.store.refs import RefMoved


class Journal:
    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.timeline = Timeline(workspace)
        self.notes = MarkLog(workspace.repository.own_dir / "notes.jsonl")
        self.lanes = Lanes(workspace, self.timeline)
        self._recovery = CrashRecovery(workspace, self.timeline)
        self.moved: dict[str, Oid] = {}
        self._calls: set[str] = set()
        self._parents: dict[SessionId, SessionId] = {}
        self._last_number = 0
        self._heads: HeadTracker | None = None

    @property
    def heads(self) -> HeadTracker:
        assert self._heads is not None, "writing() comes first"
        return self._heads

    def close(self) -> None:
        self._recovery.close()

    def refresh(self) -> bool:
        """Take in what other processes wrote. True if that was anything on the timeline."""
        for line in self.notes.refresh():
            self._take(line)
        return self.timeline.refresh()

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Alone, up to date, with the timeline started and nothing left half done."""
        with self.workspace.recording():
            if self.refresh() or self._recovery.is_needed:
                self._recovery.recover()
            if self._heads is None:
                last = self.timeline.records[-1].record if self.timeline.records else None
                branch = self.timeline.last_branch
                self._heads = HeadTracker(self.workspace, last.head if last else None, branch)
            if not self.timeline.records:
                self._start()
            yield

    def knows(self, action: str) -> bool:
        """Whether this action has its record or its note."""
        recorded = self.timeline.find_action(action)
        return action in self._calls or (recorded is not None and recorded.record.action == action)

    def root(self, session: SessionId | None) -> SessionId | None:
        """The session that this one continues, through every resume and fork."""
        seen: set[SessionId] = set()
        while session is not None and session in self._parents and session not in seen:
            seen.add(session)
            session = self._parents[session]
        return session

    def append_outside(
        self, edits: Sequence[Edit], reason: str | None, skipped: Sequence[str] = ()
    ) -> TimelineCommit:
        files = describe(self.workspace, edits)
        record = Record(
            kind=RecordKind.OUTSIDE,
            summary=f"outside: {reason or 'changed on disk'} ({count_files(len(edits))})",
            edits=tuple(edits),
            head=render_head(self.heads.head),
            reason=reason,
            skipped=tuple(skipped),
            lines=count_changed(files),
            notes=file_lines(files),
        )
        with self._recovery.guard():
            return self.timeline.append(record)

    def append_action(
        self,
        action: Action,
        edits: Sequence[Edit],
        *,
        source: str | None = None,
        skipped: Sequence[str] = (),
        contained: Sequence[str] = (),
        reverts: Sequence[str] = (),
        reason: str | None = None,
        lane: Lane | None = None,
    ) -> TimelineCommit:
        """Record an action on the timeline and on a lane: its session's, or the one given."""
        files = describe(self.workspace, edits)
        record = record_of(action)._replace(
            summary=summarise(action, files),
            edits=tuple(edits),
            head=render_head(self.heads.head),
            number=self._next_number(),
            session=self.root(action.session),
            source=source,
            skipped=tuple(skipped),
            contained=tuple(contained),
            reverts=tuple(reverts),
            reason=reason,
            lines=count_changed(files),
            notes=file_lines(files),
        )
        seconds = parse_time(action.time)
        lane = lane or self._choose(record, seconds)
        prepared = self.lanes.prepare(lane, record, edits, seconds)
        return self._commit(prepared, edits, seconds)

    def append_call(
        self,
        action: Action,
        status: str,
        *,
        source: str | None = None,
        skipped: Sequence[str] = (),
        within: str | None = None,
        paths: Sequence[str] = (),
        reason: str | None = None,
    ) -> None:
        """Note a call that changed nothing, or nothing that is not recorded already."""
        self._note(
            {
                "kind": "call", "n": self._next_number(), "id": action.id, "status": status, "within": within,
                "tool": action.tool, "session": self.root(action.session), "turn": action.turn,
                "agent": action.agent, "paths": list(paths), "summary": summarise(action, []),
                "message": clip(action.message), "source": source, "time": action.time,
                "skipped": list(skipped), "reason": reason, "seconds": self.workspace.now(),
            }
        )  # fmt: skip

    def append_mark(self, values: dict[str, Any]) -> None:
        """A mark (`kept`, `open`, `landed`, …), a link of sessions, a corrected status, a move of HEAD."""
        self._note({"seconds": self.workspace.now(), **values})

    def _commit(self, prepared: PreparedCommit, edits: Sequence[Edit], seconds: int | None) -> TimelineCommit:
        lane_commit = prepared.record.lane_commit
        assert lane_commit is not None
        with self._recovery.guard(LaneMove(prepared.lane.ref, lane_commit.commit, prepared.tip)):
            recorded = self.timeline.append(prepared.record, seconds=seconds)
            try:
                self.lanes.publish(prepared)
            except RefMoved:
                self._publish_again(prepared, edits, seconds)
        return recorded

    def _choose(self, record: Record, seconds: int | None) -> Lane:
        heads = self.heads
        return self.lanes.choose(record.session, heads.branch, heads.base, record.message, day_of(seconds))

    def _publish_again(self, prepared: PreparedCommit, edits: Sequence[Edit], seconds: int | None) -> None:
        """Somebody moved the branch meanwhile: the action goes on top of what is there now."""
        while True:
            again = self.lanes.prepare(prepared.lane, prepared.record, edits, seconds)
            assert again.record.lane_commit is not None
            try:
                self.lanes.publish(again)
            except RefMoved:
                continue
            commit = again.record.lane_commit.commit
            self._note({"kind": "moved", "id": prepared.record.action, "commit": commit})
            return

    def _start(self) -> None:
        with self._recovery.guard():
            tree, scan = self.workspace.scanner.baseline()
            skipped = tuple(f"{omitted.path} {omitted.why.value}" for omitted in scan.omitted)
            head = render_head(self.heads.head)
            record = Record(RecordKind.START, "start: the work tree as it is", head=head, skipped=skipped)
            self.timeline.append_tree(record, tree)

    def _next_number(self) -> int:
        return max(self._last_number, self.timeline.last_number) + 1

    def _note(self, values: dict[str, Any]) -> None:
        self._take(self.notes.append(values))

    def _take(self, line: dict[str, Any]) -> None:
        match line.get("kind"):
            case "call":
                self._calls.add(line["id"])
                self._last_number = max(self._last_number, line["n"])
            case "moved":
                self.moved[line["id"]] = Oid(line["commit"])
            case "link":
                self._parents[SessionId(line["session"])] = SessionId(line["parent"])
