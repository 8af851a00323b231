"""Outcomes: what an agent's adapter reports about a session, after it has paired the agent's events.

A call has at most one `CallOpened`, then at most one `CallStarted`, then one `ActionClosed`. A call that a
source shows again after thousands of others may be reported a second time. `StatusCorrected`, `LeadTextAdded`
and `OwnerCorrected` report facts that are learned later.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from chorus.model.action import Action, Call, Status
from chorus.model.ids import AgentId, SessionId, ToolUseId, TurnId

LinkKind = Literal["resume", "fork", "clear", "compact"]


class SessionDiscovered(NamedTuple):
    """A session is seen for the first time. Reported again if its directory becomes known later."""

    session: SessionId
    cwd: str | None


@dataclass(frozen=True, slots=True)
class SessionLinked:
    """`session` continues `parent`. The two ids are equal if the client kept the id."""

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
    error: str | None = None  # why the turn failed; an earlier outcome may give a more exact reason


class SessionIdle(NamedTuple):
    """The client waits for the next message. The turn may have ended some time ago."""

    session: SessionId


class CallOpened(NamedTuple):
    """A new call. If `running` is False, a later `CallStarted` reports its start."""

    call: Call
    running: bool = True


class CallStarted(NamedTuple):
    """A call that `CallOpened` has reported is about to run."""

    call: Call


class ActionClosed(NamedTuple):
    action: Action
    ended: str | None = None  # when the call returned, as the client reports it (ISO 8601)


@dataclass(frozen=True, slots=True)
class StatusCorrected:
    """The status in `ActionClosed` was wrong: `status` replaces `was`."""

    id: ToolUseId
    status: Status
    was: Status
    session: SessionId | None = None


@dataclass(frozen=True, slots=True)
class LeadTextAdded:
    """A later source shows the lead text of an action that is already closed."""

    id: ToolUseId
    lead_text: str
    session: SessionId | None = None


@dataclass(frozen=True, slots=True)
class OwnerCorrected:
    """A later source shows who made an action that is already closed."""

    id: ToolUseId
    session: SessionId | None
    turn: TurnId | None
    agent: AgentId | None


@dataclass(frozen=True, slots=True)
class PromptOpened:
    """The client waits for an answer.

    `request`: the id that a control_response must name; None if the client takes no such response. `id`: the
    call that the prompt is for; None if unknown.
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
    """A prompt was answered, by Chorus or in the client, or it was withdrawn."""

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
    ended: str | None = None  # the task was over by this time, as the client reports it (ISO 8601)


class Tokens(NamedTuple):
    """The tokens that the model read and wrote. `input` counts neither cache reads nor cache writes."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def read(self) -> int:
        """All input tokens, including those of the cache: how full the model's context was."""
        return self.input + self.cache_read + self.cache_write

    def plus(self, other: "Tokens") -> "Tokens":
        return Tokens(*map(sum, zip(self, other, strict=True)))

    def minus(self, other: "Tokens") -> "Tokens":
        return Tokens(*(max(mine - others, 0) for mine, others in zip(self, other, strict=True)))


class TurnRenamed(NamedTuple):
    """A turn has the id `new` from now on."""

    session: SessionId | None
    old: TurnId
    new: TurnId


class MessageDelivered(NamedTuple):
    """The agent has read a message. `message`: the id with which it was sent."""

    session: SessionId | None
    turn: TurnId | None
    message: str


class ModelAnswered(NamedTuple):
    """The model wrote a message. `agent`: the sub-agent that it is from; None for the main agent."""

    session: SessionId | None
    turn: TurnId | None
    agent: AgentId | None
    message: str  # the id of the model's message
    model: str | None
    tokens: Tokens


class TextWritten(NamedTuple):
    """A piece of the main agent's text, as it is written."""

    session: SessionId | None
    turn: TurnId | None
    text: str


class RequestRetried(NamedTuple):
    """The model's server refused or failed; the client tries again."""

    session: SessionId | None
    turn: TurnId | None
    reason: str
    attempt: int | None
    limit: int | None


class ErrorReported(NamedTuple):
    """The client reports an error. The turn may still go on."""

    session: SessionId | None
    turn: TurnId | None
    reason: str


class TurnReported(NamedTuple):
    """What one source reports about the end of a turn."""

    session: SessionId | None
    turn: TurnId | None
    answer: str | None = None
    error: str | None = None
    reason: str | None = None  # why it ended, in the client's own word
    tokens: Tokens | None = None
    cost: float | None = None  # in US dollars
    total_cost: float | None = None  # of the session so far, by the client's count
    duration_ms: int | None = None
    api_ms: int | None = None
    steps: int | None = None
    window: int | None = None  # how many tokens the model's context takes
    includes: tuple[TurnId, ...] = ()  # earlier turns without a result; `tokens` counts theirs, too


class SessionDescribed(NamedTuple):
    """The client's description of itself. A field is None if the client does not report it."""

    session: SessionId
    model: str | None = None
    mode: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class RateLimited:
    """The state of the account's rate limit, and when the limit resets."""

    session: SessionId
    status: str
    resets: int | None  # seconds since 1970


@dataclass(frozen=True, slots=True)
class ControlAsked:
    """A request of the control protocol that is not a prompt.

    `server` and `message` are set if the client sends a message to an MCP server.
    """

    session: SessionId | None
    request: str
    subtype: str
    server: str | None = None
    message: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ControlReplied:
    """The client's response to a request that was sent to it: a payload or an error."""

    request: str
    payload: Mapping[str, Any]
    error: str | None


# What the client says about its work. None of these outcomes is about a change of files.
Account = (
    TurnRenamed
    | MessageDelivered
    | ModelAnswered
    | TextWritten
    | RequestRetried
    | ErrorReported
    | TurnReported
    | SessionDescribed
    | RateLimited
    | ControlAsked
    | ControlReplied
)
Outcome = (
    SessionDiscovered
    | SessionLinked
    | SessionEnded
    | TurnStarted
    | TurnEnded
    | SessionIdle
    | CallOpened
    | CallStarted
    | ActionClosed
    | StatusCorrected
    | LeadTextAdded
    | OwnerCorrected
    | PromptOpened
    | PromptClosed
    | BackgroundTaskEnded
    | Account
)
