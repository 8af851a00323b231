"""A record: one observed change of a work tree, as a value and as the message of its timeline commit."""

import re
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple, cast

from chorus.errors import ChorusError
from chorus.model.action import Status
from chorus.model.commits import commit_message as message
from chorus.model.commits.commit_message import MessageText
from chorus.model.ids import AgentId, LaneName, Oid, RepoPath, SessionId, ToolUseId, TurnId
from chorus.model.review_state import REVERT_TOOL
from chorus.store.objects.tree_object import TreeEntry

# A message lists no files if there are more than this: the trees show them, and git compares trees faster.
MAX_LISTED = 1000

NOTHING = "-"

_LINES = re.compile(r"\+(\d+) -(\d+)")


class RecordKind(Enum):
    START = "start"  # the work tree when Chorus first looked
    ACTION = "action"
    OUTSIDE = "outside"


# These are tuples: a long history has one of each per action, and it takes four times as long to create a
# frozen dataclass.


class Edit(NamedTuple):
    """One path of a change. `before` or `after` is None if the file did not exist at that time."""

    path: RepoPath
    before: TreeEntry | None
    after: TreeEntry | None


class LaneCommit(NamedTuple):
    """The lane commit of an action. `base` is None for a lane that started on an unborn branch."""

    lane: LaneName
    branch: str
    base: Oid | None
    commit: Oid


class Record(NamedTuple):
    kind: RecordKind
    summary: str
    edits: tuple[Edit, ...] = ()
    listed: bool = True  # False: `edits` is empty because there are too many
    unlisted: int | None = None  # the number of edits that are not listed; None in older formats
    head: str = NOTHING
    number: int | None = None
    action: ToolUseId | None = None
    tool: str | None = None
    status: Status = "succeeded"
    session: SessionId | None = None
    turn: TurnId | None = None
    agent: AgentId | None = None
    source: str | None = None
    time: str | None = None
    message: str | None = None  # the user's
    command: str | None = None  # what the shell was given
    reason: str | None = None
    lane_commit: LaneCommit | None = None
    reverts: tuple[str, ...] = ()
    reverts_part: tuple[str, ...] = ()  # actions that are reverted only in some hunks or paths
    contained: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    context: tuple[str, ...] = ()  # `BY LINES PATH` of each file of its context commit
    lines: tuple[int, int] | None = None  # added and removed; None: not counted, or nothing has lines
    file_lines: tuple[str, ...] = ()  # one line per file, for readers of the commit

    @property
    def paths(self) -> tuple[RepoPath, ...]:
        return tuple(edit.path for edit in self.edits)

    @property
    def files(self) -> int | None:
        """The number of changed files; None if an older format neither lists nor counts them."""
        return len(self.edits) if self.listed else self.unlisted


def is_agents(record: Record) -> bool:
    """Return True if the agent made the change; False for the user's reverts and for outside changes."""
    return record.kind is RecordKind.ACTION and record.tool != REVERT_TOOL


def render_record(record: Record) -> str:
    trailers = [
        (message.FORMAT_VERSION, message.FORMAT),
        (message.KIND, record.kind.value),
        *identity_trailers(record),
    ]
    trailers.append((message.HEAD, record.head))
    if record.lane_commit:
        trailers += lane_trailers(record.lane_commit)
    if record.command is not None:
        trailers.append((message.COMMAND, record.command))
    if record.lines is not None:
        trailers.append((message.LINES, "+{} -{}".format(*record.lines)))
    trailers += [(message.CONTAINED, value) for value in record.contained]
    trailers += [(message.SKIPPED, value) for value in record.skipped]
    trailers += [(message.CONTEXT, value) for value in record.context]
    if len(record.edits) > MAX_LISTED or not record.listed:
        count = len(record.edits) or record.unlisted
        trailers += [(message.EDIT, NOTHING), *([(message.FILES, str(count))] if count else [])]
    else:
        trailers += [(message.EDIT, render_edit(edit)) for edit in record.edits]
    return message.render_message(
        MessageText(record.summary, record.message, record.file_lines, tuple(trailers))
    )


def without_unlisted(record: Record) -> Record:
    """Return the record as it is written to the message: without its files if there are too many."""
    if len(record.edits) <= MAX_LISTED:
        return record
    return record._replace(edits=(), listed=False, unlisted=len(record.edits))


def identity_trailers(record: Record) -> list[tuple[str, str]]:
    """Return the trailers that the timeline and lane commits of an action share."""
    trailers: list[tuple[str, str | None]] = [
        (message.ACTION, record.action),
        (message.NUMBER, None if record.number is None else str(record.number)),
        (message.TOOL, record.tool),
        (message.STATUS, None if record.status == "succeeded" else record.status),
        (message.SESSION, record.session),
        (message.TURN, record.turn),
        (message.AGENT, record.agent),
        (message.SOURCE, record.source),
        (message.TIME, record.time),
        (message.REASON, record.reason),
        *((message.REVERTS, value) for value in record.reverts),
        *((message.REVERTS_PART, value) for value in record.reverts_part),
    ]
    return [(key, value) for key, value in trailers if value is not None]


def lane_trailers(lane_commit: LaneCommit) -> list[tuple[str, str]]:
    return [
        (message.LANE, lane_commit.lane),
        (message.BRANCH, lane_commit.branch),
        (message.BASE, lane_commit.base or NOTHING),
        (message.COMMIT, lane_commit.commit),
    ]


def parse_record(commit_message: str) -> Record:
    text = message.parse_message(commit_message)
    values = dict(reversed(text.trailers))  # the first value of each key
    one = values.get

    def every(key: str) -> tuple[str, ...]:
        return text.every(key) if key in values else ()

    if one(message.FORMAT_VERSION) != message.FORMAT:
        version = one(message.FORMAT_VERSION) or "none"
        raise UnknownFormat(f"the timeline is written in format {version}, not {message.FORMAT}")
    number, listed, files = one(message.NUMBER), every(message.EDIT), one(message.FILES)
    return Record(
        kind=RecordKind(one(message.KIND)),
        summary=text.subject,
        edits=tuple(parse_edit(edit) for edit in listed if edit != NOTHING),
        listed=listed != (NOTHING,),
        unlisted=None if files is None else int(files),
        head=one(message.HEAD) or NOTHING,
        number=None if number is None else int(number),
        action=cast("ToolUseId | None", one(message.ACTION)),
        tool=one(message.TOOL),
        status=cast("Status", one(message.STATUS) or "succeeded"),
        session=cast("SessionId | None", one(message.SESSION)),
        turn=cast("TurnId | None", one(message.TURN)),
        agent=cast("AgentId | None", one(message.AGENT)),
        source=one(message.SOURCE),
        time=one(message.TIME),
        message=text.quoted,
        command=one(message.COMMAND),
        reason=one(message.REASON),
        lane_commit=parse_lane_commit(values),
        reverts=every(message.REVERTS),
        reverts_part=every(message.REVERTS_PART),
        contained=every(message.CONTAINED),
        skipped=every(message.SKIPPED),
        context=every(message.CONTEXT),
        lines=parse_lines(one(message.LINES)),
        file_lines=text.body_lines,
    )


def parse_lane_commit(values: Mapping[str, str]) -> LaneCommit | None:
    if message.LANE not in values or message.COMMIT not in values:
        return None
    base = values.get(message.BASE, NOTHING)
    return LaneCommit(
        lane=LaneName(values[message.LANE]),
        branch=values.get(message.BRANCH, NOTHING),
        base=None if base == NOTHING else Oid(base),
        commit=Oid(values[message.COMMIT]),
    )


def parse_lines(text: str | None) -> tuple[int, int] | None:
    """Parse `+3 -1`; return None for anything else."""
    found = _LINES.fullmatch(text or "")
    return (int(found[1]), int(found[2])) if found else None


def render_edit(edit: Edit) -> str:
    """Render as `BEFORE AFTER PATH`, for example `100644:OID - path`; `-` means no file."""
    return f"{render_tree_entry(edit.before)} {render_tree_entry(edit.after)} {edit.path}"


def parse_edit(text: str) -> Edit:
    before, after, path = text.split(" ", 2)
    return Edit(RepoPath(path), parse_tree_entry(before), parse_tree_entry(after))


def render_tree_entry(entry: TreeEntry | None) -> str:
    return NOTHING if entry is None else f"{entry.mode:o}:{entry.oid}"


def parse_tree_entry(text: str) -> TreeEntry | None:
    if text == NOTHING:
        return None
    mode, _, oid = text.partition(":")
    return TreeEntry(int(mode, 8), Oid(oid))


class UnknownFormat(ChorusError):
    """The timeline was written by another version of Chorus."""

    hint = "Use the version of Chorus that wrote the timeline, or a newer one."
