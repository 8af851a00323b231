"""One observed change of a work tree, as a value and as the message of its timeline commit.

Receives and gives `Record`s and commit texts. A record says what changed, who caused it, and which lane
commit holds it. Never reads or writes a store.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import cast

from chorus.core import message
from chorus.core.actions import Status
from chorus.core.ids import AgentId, LaneName, Oid, RepoPath, SessionId, ToolUseId, TurnId
from chorus.core.message import Text
from chorus.errors import ChorusError
from chorus.git.trees import Entry

# Above this many files a message lists none of them: the two trees tell the same, and git shows it faster.
MAX_LISTED = 1000

NOTHING = "-"


class Kind(Enum):
    START = "start"  # everything as it was when Chorus first looked
    ACTION = "action"
    OUTSIDE = "outside"


@dataclass(frozen=True, slots=True)
class Edit:
    """One path of a change. None: there is no file."""

    path: RepoPath
    before: Entry | None
    after: Entry | None


@dataclass(frozen=True, slots=True)
class Placement:
    """Where an action stands on its lane. `base` is None for a lane that started from nothing."""

    lane: LaneName
    branch: str
    base: Oid | None
    commit: Oid


@dataclass(frozen=True, slots=True)
class Record:
    kind: Kind
    summary: str
    edits: tuple[Edit, ...] = ()
    listed: bool = True  # False: `edits` is empty because there are too many
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
    reason: str | None = None
    placement: Placement | None = None
    reverts: tuple[str, ...] = ()
    contained: tuple[str, ...] = ()
    overlaps: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)  # for people; not read back

    @property
    def paths(self) -> tuple[RepoPath, ...]:
        return tuple(edit.path for edit in self.edits)


def render_record(record: Record) -> str:
    trailers = [
        (message.FORMAT_VERSION, message.FORMAT),
        (message.KIND, record.kind.value),
        *identity(record),
    ]
    trailers.append((message.HEAD, record.head))
    if record.placement:
        trailers += placed(record.placement)
    trailers += [(message.CONTAINED, value) for value in record.contained]
    trailers += [(message.SKIPPED, value) for value in record.skipped]
    if len(record.edits) > MAX_LISTED or not record.listed:
        trailers.append((message.EDIT, NOTHING))
    else:
        trailers += [(message.EDIT, render_edit(edit)) for edit in record.edits]
    return message.render_message(Text(record.summary, record.message, record.notes, tuple(trailers)))


def identity(record: Record) -> list[tuple[str, str]]:
    """What timeline and lane say alike: which action this is, and whose."""
    said: list[tuple[str, str | None]] = [
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
        *((message.OVERLAPS, value) for value in record.overlaps),
    ]
    return [(key, value) for key, value in said if value is not None]


def placed(placement: Placement) -> list[tuple[str, str]]:
    return [
        (message.LANE, placement.lane),
        (message.BRANCH, placement.branch),
        (message.BASE, placement.base or NOTHING),
        (message.COMMIT, placement.commit),
    ]


def parse_record(commit_message: str) -> Record:
    text = message.parse_message(commit_message)
    version = text.first(message.FORMAT_VERSION)
    if version != message.FORMAT:
        raise UnknownFormat(f"the timeline is written in format {version or 'none'}, not {message.FORMAT}")
    number, listed = text.first(message.NUMBER), text.every(message.EDIT)
    return Record(
        kind=Kind(text.first(message.KIND)),
        summary=text.subject,
        edits=tuple(parse_edit(edit) for edit in listed if edit != NOTHING),
        listed=listed != (NOTHING,),
        head=text.first(message.HEAD) or NOTHING,
        number=None if number is None else int(number),
        action=cast(ToolUseId | None, text.first(message.ACTION)),
        tool=text.first(message.TOOL),
        status=cast(Status, text.first(message.STATUS) or "succeeded"),
        session=cast(SessionId | None, text.first(message.SESSION)),
        turn=cast(TurnId | None, text.first(message.TURN)),
        agent=cast(AgentId | None, text.first(message.AGENT)),
        source=text.first(message.SOURCE),
        time=text.first(message.TIME),
        message=text.quoted,
        reason=text.first(message.REASON),
        placement=parse_placement(text),
        reverts=text.every(message.REVERTS),
        contained=text.every(message.CONTAINED),
        overlaps=text.every(message.OVERLAPS),
        skipped=text.every(message.SKIPPED),
        notes=text.notes,
    )


def parse_placement(text: Text) -> Placement | None:
    lane, commit = text.first(message.LANE), text.first(message.COMMIT)
    if lane is None or commit is None:
        return None
    base = text.first(message.BASE)
    return Placement(
        lane=LaneName(lane),
        branch=text.first(message.BRANCH) or NOTHING,
        base=None if base in (None, NOTHING) else Oid(base),
        commit=Oid(commit),
    )


def render_edit(edit: Edit) -> str:
    """`100644:OID - path`: before, after (`-`: no file), path."""
    return f"{render_entry(edit.before)} {render_entry(edit.after)} {edit.path}"


def parse_edit(text: str) -> Edit:
    before, after, path = text.split(" ", 2)
    return Edit(RepoPath(path), parse_entry(before), parse_entry(after))


def render_entry(entry: Entry | None) -> str:
    return NOTHING if entry is None else f"{entry.mode:o}:{entry.oid}"


def parse_entry(text: str) -> Entry | None:
    if text == NOTHING:
        return None
    mode, _, oid = text.partition(":")
    return Entry(int(mode, 8), Oid(oid))


class UnknownFormat(ChorusError):
    """The timeline was written by another version of Chorus."""

    hint = "Use the version of Chorus that wrote it, or a newer one."
