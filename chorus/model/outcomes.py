"""What the pairing step says happened. Values only.

Per tool_use id: at most one `CallOpened`, then exactly one `ActionClosed`. What is learned later (a
denial listed at the end of the turn, a result that was late, words from a second source) comes as
`StatusCorrected`, `LeadTextAdded` or `OwnerCorrected`, which name the id and what is new. Those that
every call and every turn has are tuples, which are made faster.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from chorus.model.action import Action, Call, Status
from chorus.model.ids import AgentId, SessionId, ToolUseId, TurnId

LinkKind = Literal["resume", "fork", "clear", "compact"]


@dataclass(frozen=True, slots=True)
class SessionDiscovered:
    """A session shows itself for the first time. Given again when its directory becomes known later."""

    session: SessionId
    cwd: str | None


@dataclass(frozen=True, slots=True)
class SessionLinked:
    """`session` goes on where `parent` left off. They are the same when the client kept the id."""

    session: SessionId
    parent: SessionId
    kind: LinkKind


@dataclass(frozen=True, slots=True)
class SessionEnded:
    session: SessionId
    reason: str | None


class TurnStarted(NamedTuple):
    """A new turn. `message` is None where the source does not show it."""

    session: SessionId | None
    turn: TurnId
    message: str | None


class TurnEnded(NamedTuple):
    session: SessionId | None
    turn: TurnId | None


class SessionIdle(NamedTuple):
    """The client waits for the next message. Told late, and of a turn that was broken off as well."""

    session: SessionId


class CallOpened(NamedTuple):
    call: Call


class ActionClosed(NamedTuple):
    action: Action


@dataclass(frozen=True, slots=True)
class StatusCorrected:
    """The status given with `ActionClosed` was wrong: more is known now."""

    id: ToolUseId
    status: Status
    was: Status
    session: SessionId | None = None


@dataclass(frozen=True, slots=True)
class LeadTextAdded:
    """A source that came later tells what the assistant said before a closed action."""

    id: ToolUseId
    lead_text: str
    session: SessionId | None = None


@dataclass(frozen=True, slots=True)
class OwnerCorrected:
    """A source that came later tells whose a closed action was. All three are as known now."""

    id: ToolUseId
    session: SessionId | None
    turn: TurnId | None
    agent: AgentId | None


@dataclass(frozen=True, slots=True)
class PromptOpened:
    """The client waits for an answer.

    `request` is the id a control_response must name; None when the question came by a hook or as text.
    `id` is the call it is about; None where it cannot be told.
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
    """A prompt is over: answered here or elsewhere, or withdrawn."""

    session: SessionId | None
    id: ToolUseId | None
    request: str | None
    decision: Literal["allow", "deny", "cancelled"]


@dataclass(frozen=True, slots=True)
class BackgroundTaskEnded:
    """A task that outlived its call (background Bash, background sub-agent) is over.

    Its file changes had no tool event of their own. `id` is the call that started it.
    """

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
