"""Outcomes: what happened in a session, as the events of an agent are paired.

For each call there is at most one `CallOpened`, then exactly one `ActionClosed`. What is learned later (a
denial listed at the end of the turn, a late result, text from a second source) comes as `StatusCorrected`,
`LeadTextAdded` or `OwnerCorrected`. The outcomes of every call and turn are tuples, which are made faster.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from chorus.model.action import Action, Call, Status
from chorus.model.ids import AgentId, SessionId, ToolUseId, TurnId

LinkKind = Literal["resume", "fork", "clear", "compact"]


@dataclass(frozen=True, slots=True)
class SessionDiscovered:
    """A session is seen for the first time. Comes again if its directory becomes known later."""

    session: SessionId
    cwd: str | None


@dataclass(frozen=True, slots=True)
class SessionLinked:
    """`session` continues `parent`. They are the same if the client kept the id."""

    session: SessionId
    parent: SessionId
    kind: LinkKind


@dataclass(frozen=True, slots=True)
class SessionEnded:
    session: SessionId
    reason: str | None


class TurnStarted(NamedTuple):
    """A new turn. `message` is None if the source does not show it."""

    session: SessionId | None
    turn: TurnId
    message: str | None


class TurnEnded(NamedTuple):
    session: SessionId | None
    turn: TurnId | None


class SessionIdle(NamedTuple):
    """The client waits for the next message. Comes late, but also after a turn that was interrupted."""

    session: SessionId


class CallOpened(NamedTuple):
    call: Call


class ActionClosed(NamedTuple):
    action: Action


@dataclass(frozen=True, slots=True)
class StatusCorrected:
    """The status in `ActionClosed` was wrong."""

    id: ToolUseId
    status: Status
    was: Status
    session: SessionId | None = None


@dataclass(frozen=True, slots=True)
class LeadTextAdded:
    """A later source shows the assistant's text before a closed action."""

    id: ToolUseId
    lead_text: str
    session: SessionId | None = None


@dataclass(frozen=True, slots=True)
class OwnerCorrected:
    """A later source shows who made a closed action. All three fields hold what is known now."""

    id: ToolUseId
    session: SessionId | None
    turn: TurnId | None
    agent: AgentId | None


@dataclass(frozen=True, slots=True)
class PromptOpened:
    """The client waits for an answer.

    `request` is the id that a control_response must name; None if the prompt came from a hook or as text.
    `id` is the call it is about; None if that is not known.
    """

    session: SessionId | None
    id: ToolUseId | None
    tool: str | None
    input: Mapping[str, Any]
    agent: AgentId | None
    request: str | None
    text: str | None
    suggestions: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class PromptClosed:
    """A prompt was answered, here or elsewhere, or withdrawn."""

    session: SessionId | None
    id: ToolUseId | None
    request: str | None
    decision: Literal["allow", "deny", "cancelled"]


@dataclass(frozen=True, slots=True)
class BackgroundTaskEnded:
    """A background task (Bash or sub-agent) is over. `id` is the call that started it."""

    session: SessionId | None
    id: ToolUseId | None
    task: str


Outcome = (
    SessionDiscovered
    | SessionLinked
    | SessionEnded
    | TurnStarted
    | TurnEnded
    | SessionIdle
    | CallOpened
    | ActionClosed
    | StatusCorrected
    | LeadTextAdded
    | OwnerCorrected
    | PromptOpened
    | PromptClosed
    | BackgroundTaskEnded
)
