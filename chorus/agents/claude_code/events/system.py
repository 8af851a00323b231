"""`system` and `result` events: what the client reports about the session."""

from typing import Annotated, Any

from pydantic import AliasPath, Field, PlainValidator, ValidationError

from chorus.agents.claude_code.events.base import (
    Known,
    LooseFloat,
    LooseNumber,
    LooseObject,
    LooseText,
    Model,
    first_error,
    spelled,
)
from chorus.model.ids import ToolUseId


class Init(Known):
    """A turn starts. Older clients print a single init event for all turns."""

    permission_mode: LooseText = Field(None, validation_alias=spelled("permissionMode", "permission_mode"))
    version: LooseText = Field(
        None, validation_alias=spelled("claude_code_version", "claudeCodeVersion", "version")
    )
    model: LooseText = None


class Status(Known):
    """The permission mode has changed, or the client sends `messages` to the model."""

    status: LooseText = None
    permission_mode: LooseText = Field(None, validation_alias=spelled("permissionMode", "permission_mode"))
    messages: Any = Field(None, validation_alias="user_message_uuids")


class TaskStarted(Known):
    """A sub-agent or a background command starts. A sub-agent's task id is its agent id."""

    task: str = Field(validation_alias="task_id")
    call: ToolUseId | None = Field(None, validation_alias="tool_use_id")
    task_type: LooseText = None


class TaskUpdated(Known):
    task: str = Field(validation_alias="task_id")
    status: LooseText = Field(None, validation_alias=AliasPath("patch", "status"))


class TaskNotification(Known):
    """A sub-agent or a background command has ended."""

    task: str = Field(validation_alias="task_id")
    call: ToolUseId | None = Field(None, validation_alias="tool_use_id")
    status: LooseText = None


class PermissionDenied(Known):
    """A call was denied. The result of the turn lists all denials again."""

    call: ToolUseId | None = Field(None, validation_alias="tool_use_id")
    tool: LooseText = Field(None, validation_alias="tool_name")
    text: LooseText = Field(None, validation_alias="message")


class TurnDuration(Known):
    """A transcript line: the turn is over and the client is idle."""

    duration_ms: LooseNumber = Field(None, validation_alias="durationMs")


class ApiRetry(Known):
    """The model's server failed or refused, and the client tries again."""

    attempt: LooseNumber = Field(None, validation_alias=spelled("attempt", "retryAttempt"))
    limit: LooseNumber = Field(None, validation_alias=spelled("max_retries", "maxRetries"))
    status: LooseNumber = Field(
        None, validation_alias=spelled("error_status", AliasPath("error", "status"), "status")
    )
    delay_ms: LooseNumber = Field(None, validation_alias=spelled("retry_delay_ms", "retryInMs"))
    error: Any = None


class RateLimit(Known):
    """The state of the account's rate limit."""

    status: LooseText = Field(None, validation_alias=AliasPath("rate_limit_info", "status"))
    resets: LooseNumber = Field(None, validation_alias=AliasPath("rate_limit_info", "resetsAt"))


class CompactBoundary(Known):
    """The conversation was compacted here."""


class ConversationReset(Known):
    """The conversation continues under another id."""

    to: str = Field(validation_alias="new_conversation_id")


class IrrelevantEvent(Known):
    """An event of a known type that is irrelevant to calls."""

    type: str
    subtype: LooseText = None


class Denial(Model):
    call: ToolUseId | None = Field(None, validation_alias=spelled("tool_use_id", "toolUseId"))
    tool: LooseText = Field(None, validation_alias=spelled("tool_name", "toolName"))


def _parse_denials(value: object) -> tuple[Denial, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise ValueError(f"permission_denials is {type(value).__name__}, not a list")
    try:
        return tuple(map(Denial.model_validate, value))
    except ValidationError as error:
        raise ValueError(first_error(error)) from None


class Result(Known):
    """A turn is over.

    If `is_error` is present, it alone says whether the turn failed. `subtype` may be "success" even if the
    turn failed.
    """

    subtype: LooseText = None
    is_error: bool | None = Field(None, validation_alias=spelled("is_error", "isError"))
    # None: the client does not say. An empty tuple: nothing was denied.
    denials: Annotated[tuple[Denial, ...] | None, PlainValidator(_parse_denials)] = Field(
        None, validation_alias=spelled("permission_denials", "permissionDenials")
    )
    stop_reason: LooseText = Field(
        None,
        validation_alias=spelled(
            "stop_reason", "stopReason", AliasPath("result", "stopReason"), AliasPath("result", "stop_reason")
        ),
    )
    terminal_reason: LooseText = None
    queued_messages: LooseNumber = Field(None, validation_alias="queued_turn_count")
    origin: LooseText = Field(None, validation_alias=AliasPath("origin", "kind"))
    errors: Any = None
    result: Any = None
    usage: LooseObject = Field(None, validation_alias=spelled("usage", AliasPath("result", "usage")))
    input_tokens: LooseNumber = Field(
        None, validation_alias=spelled("total_input_tokens", "totalInputTokens")
    )
    output_tokens: LooseNumber = Field(
        None, validation_alias=spelled("total_output_tokens", "totalOutputTokens")
    )
    by_model: LooseObject = Field(None, validation_alias=spelled("modelUsage", "model_usage"))
    # Since 2.1.325. `by_model` counts the whole session, including earlier clients and the forked session.
    by_model_since: LooseObject = Field(None, validation_alias="model_usage_since_last_result")
    cost: LooseFloat = Field(None, validation_alias=spelled("total_cost_usd", "totalCostUsd"))
    duration_ms: LooseNumber = Field(None, validation_alias=spelled("duration_ms", "durationMs"))
    api_ms: LooseNumber = Field(None, validation_alias=spelled("duration_api_ms", "durationApiMs"))
    steps: LooseNumber = Field(None, validation_alias=spelled("num_turns", "numTurns"))
