"""Tool calls as values: a `Call` while it is open, an `Action` when it has ended.

They are named tuples because a frozen dataclass takes four times as long to create.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Literal, NamedTuple

from chorus.model.ids import AgentId, SessionId, ToolUseId, TurnId

Status = Literal["succeeded", "failed", "denied", "unfinished"]
# The status of an entry in the log. "outside" is a change that no action made.
ActionStatus = Literal[
    "committed", "reverted", "kept", "landed", "undone", "noop", "failed", "denied", "outside"
]
UndoneBy = Literal["git", "rewind", "outside"]


class WriteScope(Enum):
    """What a tool can write."""

    NOTHING = "nothing"  # it only reads, asks, or keeps lists of its own
    NAMED = "named"  # the paths that its input names, and no others
    ANYWHERE = "anywhere"  # Bash, MCP, sub-agents, and every unknown tool


class ReportHunk(NamedTuple):
    """One hunk of a patch, as the client prints it. `lines` start with " ", "-" or "+"."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: Sequence[str]


class FileReport(NamedTuple):
    """The client's report on one file: its text before and after a call.

    The client reads CRLF as LF and undecodable bytes as U+FFFD, so this text cannot replace the bytes on
    disk.
    """

    path: str
    before: str | None = None  # the whole text before; None: no file, or not reported
    created: bool = False  # there was no such file before
    after: str | None = None  # the whole text after; None: not reported
    hunks: tuple[ReportHunk, ...] = ()
    deleted: bool = False  # there is no such file after


class ChangeReport(NamedTuple):
    """The client's report of what a call changed.

    `complete` is False if more files changed than the report lists. For Bash, the report includes changes
    that other processes made while the command ran.
    """

    files: tuple[FileReport, ...]
    changed: tuple[str, ...] = ()  # every changed path, with or without details in `files`
    complete: bool = True


class Call(NamedTuple):
    """A tool call as the model made it. The input that runs may differ: see `Action`."""

    id: ToolUseId
    tool: str
    input: Mapping[str, Any]
    paths: tuple[str, ...]  # named by the input; relative ones resolved against the session's directory
    write_scope: WriteScope
    session: SessionId | None = None
    turn: TurnId | None = None
    agent: AgentId | None = None  # the sub-agent that made the call; None for the main agent
    lead_text: str | None = None  # the agent's text just before
    message: str | None = None  # the user's message of the turn
    time: str | None = None  # as the client reports it (ISO 8601)
    cwd: str | None = None  # where it ran, if the client says so


class Action(NamedTuple):
    """A finished call.

    The status `unfinished` means that the call was interrupted, or that its session ended before it returned.
    """

    id: ToolUseId
    tool: str
    input: Mapping[str, Any]  # as it ran: the user or a hook may have changed the model's input
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
    background: bool = False  # the call is over, but the command or sub-agent it started still runs
    failure: str | None = None  # the client's own text for a failed call, in one line
    cwd: str | None = None  # where it ran, if the client says so
