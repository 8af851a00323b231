"""The log: every call and every outside change, with what became of it.

Receives records and notes, gives one `LogEntry` for each, and the JSON of it, whose keys are API. Never
changes either, and loads nothing that reads them: a first screen of the log waits for what is imported here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, TypeAlias

from chorus.history.records import RecordKind
from chorus.history.timeline_log import TimelineCommit
from chorus.model.ids import AgentId, LaneName, Oid, RepoPath, SessionId, TurnId

ActionStatus = Literal["committed", "reverted", "kept", "noop", "failed", "denied", "outside"]
# The tool of an action that takes others back, or brings them back.
REVERT = "Revert"
# The record of an action, or the one that holds its change too.
FindAction: TypeAlias = Callable[[str], TimelineCommit | None]


class LogEntry(NamedTuple):
    """One line of the log. `n` is None for outside changes, `timeline` for calls that changed nothing."""

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
    within: str | None = None  # the action whose record holds this one's change too
    landed: tuple[Oid, ...] = ()
    skipped: tuple[str, ...] = ()
    lines: tuple[int, int] | None = None  # added, removed
    call_status: str = "succeeded"
    files: int | None = None  # how many; `paths` is empty where they are too many to be listed

    @property
    def open(self) -> bool:
        """Still to be reviewed: not kept, taken back or landed. Taking back is a person's own doing."""
        if self.status != "committed" or self.landed or self.reverts or self.tool == REVERT:
            return False
        return self.within is None  # else its change is reviewed with another action's


class ActionMarks:
    """What the notes say about actions."""

    __slots__ = ("calls", "kept", "landed", "moved", "said", "statuses")

    def __init__(self) -> None:
        self.kept: set[str] = set()
        self.landed: dict[str, tuple[Oid, ...]] = {}
        self.moved: dict[str, Oid] = {}  # lane commits made anew, by action
        self.statuses: dict[str, str] = {}
        # In words, where they were not known yet when the action was recorded.
        self.said: dict[str, str] = {}
        self.calls: list[dict[str, Any]] = []


def find_reverted(records: Sequence[TimelineCommit]) -> set[str]:
    """The actions that are taken back now. A revert that is itself taken back counts no more."""
    reverted: set[str] = set()
    for recorded in reversed(records):
        if recorded.record.action not in reverted:
            reverted.update(recorded.record.reverts)
    return reverted


def fold_marks(marks: ActionMarks, lines: Iterable[Mapping[str, Any]]) -> ActionMarks:
    """The same marks, with what these lines say."""
    for line in lines:
        ids = line.get("ids", [])
        match line.get("kind"):
            case "call":
                marks.calls.append(dict(line))
            case "kept":
                marks.kept.update(ids)
            case "open":
                marks.kept.difference_update(ids)
            case "landed":
                marks.landed.update({name: tuple(line["commits"]) for name in ids})
            case "moved":
                marks.moved[line["id"]] = Oid(line["commit"])
            case "status":
                marks.statuses[line["id"]] = line["status"]
            case "said":
                marks.said[line["id"]] = line["summary"]
    return marks


def entry_of_record(recorded: TimelineCommit, marks: ActionMarks, reverted: Set[str]) -> LogEntry:
    record = recorded.record
    name = record.action or ""
    lane_commit = record.lane_commit
    return LogEntry(
        n=record.number,
        id=record.action,
        status=status_of(recorded, marks, reverted),
        summary=marks.said.get(name, record.summary),
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
        landed=marks.landed.get(name, ()),
        skipped=record.skipped,
        lines=record.lines,
        call_status=marks.statuses.get(name, record.status),
        files=record.files,
    )


def status_of(recorded: TimelineCommit, marks: ActionMarks, reverted: Set[str]) -> ActionStatus:
    if recorded.record.kind is RecordKind.OUTSIDE:
        return "outside"
    name = recorded.record.action or ""
    return "reverted" if name in reverted else "kept" if name in marks.kept else "committed"


def entry_of_call(
    call: Mapping[str, Any], marks: ActionMarks, reverted: Set[str], find_action: FindAction
) -> LogEntry:
    """A call whose change another's record holds fares as that one does."""
    within = call.get("within")
    holder = find_action(within) if within else None
    lane_commit = holder.record.lane_commit if holder else None
    status = marks.statuses.get(call["id"], call["status"])
    fates: dict[str, ActionStatus] = {"denied": "denied", "failed": "failed", "unfinished": "failed"}
    return LogEntry(
        n=call["n"],
        id=call["id"],
        status=status_of(holder, marks, reverted) if holder else fates.get(status, "noop"),
        summary=call["summary"] if status == "failed" else marks.said.get(call["id"], call["summary"]),
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
        landed=marks.landed.get(call["id"], ()),
        skipped=tuple(call["skipped"]),
        call_status=status,
        files=len(call["paths"]),
    )


def entry_json(entry: LogEntry) -> dict[str, Any]:
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
        "added": entry.lines[0] if entry.lines else None,
        "removed": entry.lines[1] if entry.lines else None,
        "message": entry.message,
        "landed": bool(entry.landed),
        "reverts": list(entry.reverts),
        "within": entry.within,
        "reason": entry.reason,
        "skipped": list(entry.skipped),
        "record": entry.timeline,
    }
