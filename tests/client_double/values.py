"""Values of the client double: a tool call, its outcome, a sub-agent, a message."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]


def timestamp() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Agent:
    """A sub-agent, started by one Agent call."""

    id: str
    kind: str
    description: str
    tool_use_id: str
    background: bool


@dataclass(frozen=True, slots=True)
class Call:
    id: str
    tool: str
    input: Mapping[str, Any]
    agent: Agent | None = None
    answer: str | None = None  # scripted, for tools that the double does not know


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a call: `content` for the model, `result` for hooks and the transcript."""

    content: Any  # a text, or content blocks
    result: Any  # an object on success, a string on failure
    is_error: bool | None = None  # None: the key is absent, as for a successful Edit
    decision: Json | None = None  # who allowed or denied it
    refusal: str | None = None  # why it did not run
    feedback: str | None = None  # the user's message with a refusal or an approval
    interrupts: bool = False  # the turn ends here


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the conversation, for the stream, the transcript and the screen."""

    content: Any
    message_id: str = ""
    agent: Agent | None = None
    call: Call | None = None
    outcome: Outcome | None = None
    source_uuid: str | None = None  # the message whose call this answers
    stop_reason: str | None = None
    uuid: str = field(default_factory=lambda: str(uuid.uuid4()))
    time: str = field(default_factory=timestamp)


def failure(text: str, *, tagged: bool = True) -> Outcome:
    """A failed call; tagged if the client refused it before it ran."""
    content = f"<tool_use_error>{text}</tool_use_error>" if tagged else text
    return Outcome(content, f"Error: {text}", is_error=True)
