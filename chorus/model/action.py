"""One tool call, from the moment it is made to the moment its fate is known.

Plain values, shared by everything that speaks of tool calls. A `Call` is open; an `Action` is a call
whose fate is known. Nothing here reads events, and nothing here looks at a disk. Tuples: a stream makes
several for every call, and a frozen dataclass takes four times as long to make.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Literal, NamedTuple

from chorus.model.ids import AgentId, SessionId, ToolUseId, TurnId

Status = Literal["succeeded", "failed", "denied", "unfinished"]


class WriteScope(Enum):
    """What a tool can write."""

    NOTHING = "nothing"  # it only reads, asks or keeps lists of its own
    NAMED = "named"  # exactly the paths its input names
    ANYWHERE = "anywhere"  # Bash, MCP, sub-agents, and every tool this version does not know


class ReportHunk(NamedTuple):
    """One piece of a patch, as the client prints it. `lines` start with " ", "-" or "+"."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: Sequence[str]


class FileReport(NamedTuple):
    """What the client says one file was and became.

    Text, not bytes: the client reads CRLF as LF and undecodable bytes as U+FFFD, so a witness can
    tell changes apart but can never stand in for what is on disk.
    """

    path: str
    before: str | None = None  # the whole text before; None where it was absent or is not told
    created: bool = False  # the client says that there was no such file before
    after: str | None = None  # the whole text after; None where it is not told
    hunks: tuple[ReportHunk, ...] = ()


class ChangeReport(NamedTuple):
    """What the client says a call changed.

    For Bash the client reports what changed while the command ran, by the command or by another
    process: `complete` is False when it says that there were more files than it lists.
    """

    files: tuple[FileReport, ...]
    changed: tuple[str, ...] = ()  # every path named as changed, with or without details in `files`
    complete: bool = True


class Call(NamedTuple):
    """A tool call as the model made it. What really ran may differ: see `Action`."""

    id: ToolUseId
    tool: str
    input: Mapping[str, Any]
    paths: tuple[str, ...]  # as the tool names them, relative ones resolved against the session's directory
    write_scope: WriteScope
    session: SessionId | None = None
    turn: TurnId | None = None
    agent: AgentId | None = None  # the sub-agent that made the call; None for the main agent
    lead_text: str | None = None  # the assistant's sentence just before
    message: str | None = None  # the user's message of the turn
    time: str | None = None  # when, as the client tells it (ISO 8601)


class Action(NamedTuple):
    """A tool call whose fate is known."""

    id: ToolUseId
    tool: str
    input: Mapping[str, Any]  # what ran: the person or a hook may have changed the model's input
    status: Status
    session: SessionId | None
    turn: TurnId | None
    agent: AgentId | None
    paths: tuple[str, ...]
    write_scope: WriteScope
    report: ChangeReport | None
    lead_text: str | None
    message: str | None
    time: str | None
    background: bool = False  # the call is over, what it started goes on
    failure: str | None = None  # the client's own words for a call that failed, in one line
