"""One entry of the log: a call or an outside change, with its review status.

Imports as little as possible, because the first screen of `chorus log` waits for these imports.
"""

from collections.abc import Callable, Sequence, Set
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from chorus.history.marks.mark_log import ActionMarks, Mark
from chorus.history.records import RecordKind
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.model.action import ActionStatus, UndoneBy
from chorus.model.ids import AgentId, LaneName, Oid, RepoPath, SessionId, TurnId
from chorus.model.review_state import is_open

if TYPE_CHECKING:
    from chorus.model.api.json_api import ContextJson, LogEntryJson, UndoneJson

# Finds the record that holds an action's change: its own record, or that of another action.
FindAction: TypeAlias = Callable[[str], TimelineCommit | None]


class Undone(NamedTuple):
    """How much of an action's change is gone from disk. `whole`: nothing is left."""

    by: UndoneBy
    whole: bool
    gone: int  # the number of lines that are gone
    changed: int  # the number of lines that the action changed in the files where some are gone


class LogEntry(NamedTuple):
    """One entry. `n` is None for outside changes; `timeline` is None for calls without a record of their own.

    A tuple, because a long log has ten thousand entries.
    """

    n: int | None
    id: str | None
    status: ActionStatus
    summary: str
    paths: tuple[RepoPath, ...]
    tool: str | None = None
    session: SessionId | None = None
    turn: TurnId | None = None
    agent: AgentId | None = None
    source: str | None = None
    time: str | None = None
    seconds: int = 0
    message: str | None = None
    lane: LaneName | None = None
    commit: Oid | None = None
    timeline: Oid | None = None
    reason: str | None = None
    reverts: tuple[str, ...] = ()
    within: str | None = None  # the action whose record also holds this one's change
    landed: tuple[Oid, ...] = ()
    skipped: tuple[str, ...] = ()
    lines: tuple[int, int] | None = None  # added, removed
    call_status: str = "succeeded"
    undone: Undone | None = None
    context: tuple[str, ...] = ()  # as in the record
    files: int | None = None  # the number of files; `paths` is empty if there are too many to list
    reverts_part: tuple[str, ...] = ()  # actions that this reverts only some hunks of
    command: str | None = None  # what the shell was given

    @property
    def open(self) -> bool:
        return is_open(self.status, self.tool, self.reverts, self.within, landed=bool(self.landed))


def find_reverted(records: Sequence[TimelineCommit]) -> set[str]:
    """The actions that are reverted now. A revert that was itself reverted does not count."""
    reverted: set[str] = set()
    for recorded in reversed(records):
        if recorded.record.action not in reverted:
            reverted.update(recorded.record.reverts)
    return reverted


def entry_of_record(recorded: TimelineCommit, marks: ActionMarks, reverted: Set[str]) -> LogEntry:
    record = recorded.record
    name = record.action or ""
    lane_commit = record.lane_commit
    return LogEntry(
        n=record.number,
        id=record.action,
        status=action_status(recorded, marks, reverted),
        summary=marks.summaries.get(name, record.summary),
        paths=record.paths,
        tool=record.tool,
        session=record.session,
        turn=record.turn,
        agent=record.agent,
        source=record.source,
        time=record.time,
        seconds=recorded.seconds,
        message=record.message,
        lane=lane_commit.lane if lane_commit else None,
        commit=marks.moved.get(name, lane_commit.commit) if lane_commit else None,
        timeline=recorded.oid,
        reason=record.reason,
        reverts=record.reverts,
        reverts_part=record.reverts_part,
        landed=marks.landed_in(name),
        skipped=record.skipped,
        lines=record.lines,
        call_status=marks.statuses.get(name, record.status),
        undone=undone_of(recorded, marks),
        context=record.context,
        files=record.files,
        command=record.command,
    )


def action_status(recorded: TimelineCommit, marks: ActionMarks, reverted: Set[str]) -> ActionStatus:
    if recorded.record.kind is RecordKind.OUTSIDE:
        return "outside"
    name = recorded.record.action or ""
    if name in reverted:
        return "reverted"
    if marks.landed_in(name):
        return "landed"
    undone = undone_of(recorded, marks)
    if undone is not None and undone.whole:
        return "undone"
    return "kept" if name in marks.kept else "committed"


def undone_of(recorded: TimelineCommit, marks: ActionMarks) -> Undone | None:
    """The part of an action's change that is gone; None if all of it is there."""
    parts = marks.undone.get(recorded.record.action or "")
    if not parts:
        return None
    whole = sum(part.gone == part.changed for part in parts.values()) == recorded.record.files
    last = list(parts.values())[-1]
    return Undone(last.by, whole, sum(p.gone for p in parts.values()), sum(p.changed for p in parts.values()))


STATUS_OF_CALL: dict[str, ActionStatus] = {"denied": "denied", "failed": "failed", "unfinished": "failed"}


def entry_of_call(call: Mark, marks: ActionMarks, reverted: Set[str], find_action: FindAction) -> LogEntry:
    """Return the entry of a call without a record of its own.

    If another record holds the call's change, that record decides the status.
    """
    name, within = call["id"], call.get("within")
    holder = find_action(within) if within else None
    lane_commit = holder.record.lane_commit if holder else None
    status = marks.statuses.get(name, call["status"])
    return LogEntry(
        n=call["n"],
        id=name,
        status=action_status(holder, marks, reverted) if holder else STATUS_OF_CALL.get(status, "noop"),
        summary=call["summary"] if status == "failed" else marks.summaries.get(name, call["summary"]),
        paths=tuple(RepoPath(path) for path in call["paths"]),
        tool=call["tool"],
        session=call["session"],
        turn=call["turn"],
        agent=call["agent"],
        source=call["source"],
        time=call["time"],
        seconds=call["seconds"],
        message=call["message"],
        lane=lane_commit.lane if lane_commit else None,
        commit=lane_commit.commit if lane_commit else None,
        reason=call.get("reason"),
        within=within,
        landed=marks.landed_in(name),
        skipped=tuple(call["skipped"]),
        call_status=status,
        undone=undone_of(holder, marks) if holder else None,
        files=len(call["paths"]),
        command=call.get("command"),
    )


def entry_json(entry: LogEntry, worktree: str) -> "LogEntryJson":
    added, removed = entry.lines or (None, None)
    return {
        "n": entry.n,
        "id": entry.id,
        "lane": entry.lane,
        "session": entry.session,
        "turn": entry.turn,
        "tool": entry.tool,
        "agent": entry.agent,
        "paths": list(entry.paths),
        "files": entry.files,
        "status": entry.status,
        "commit": entry.commit,
        "timeline": entry.timeline,
        "summary": entry.summary,
        "source": entry.source,
        "time": entry.time or datetime.fromtimestamp(entry.seconds, UTC).isoformat(),
        "added": added,
        "removed": removed,
        "message": entry.message,
        "landed": bool(entry.landed),
        "reverts": list(entry.reverts),
        "reverts_part": list(entry.reverts_part),
        "within": entry.within,
        "reason": entry.reason,
        "skipped": list(entry.skipped),
        "undone": undone_json(entry.undone) if entry.undone else None,
        "worktree": worktree,
        "context": [context_json(text) for text in entry.context] if entry.context else [],
        "command": entry.command,
    }


def undone_json(undone: Undone) -> "UndoneJson":
    return {"by": undone.by, "whole": undone.whole, "lines": undone.gone, "of": undone.changed}


def context_json(text: str) -> "ContextJson":
    by, lines, path = text.split(" ", 2)
    return {
        "path": path,
        "by": None if by == "-" else int(by),
        "lines": [] if lines == "-" else [int(line) for line in lines.split(",")],
    }
