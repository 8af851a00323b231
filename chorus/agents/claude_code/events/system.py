"""`system` and `result` events: what the client says about the session rather than in it."""

from typing import Annotated, Any

from pydantic import AliasPath, Field, PlainValidator, ValidationError

from chorus.agents.claude_code.events.base import Known, LooseNumber, LooseText, Model, spelled
from chorus.agents.claude_code.events.errors import first_fault
from chorus.model.ids import ToolUseId


class Init(Known):
    """A turn begins. Printed again for every turn, also for one that a background task's end starts."""

    permission_mode: LooseText = Field(None, validation_alias="permissionMode")
    version: LooseText = Field(None, validation_alias=spelled("claude_code_version", "version"))
    model: LooseText = None


class Status(Known):
    status: LooseText = None
    permission_mode: LooseText = Field(None, validation_alias="permissionMode")


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


class DenialNotice(Known):
    """A call was denied, said at the time of the denial."""

    call: ToolUseId | None = Field(None, validation_alias="tool_use_id")
    tool: LooseText = Field(None, validation_alias="tool_name")
    text: LooseText = Field(None, validation_alias="message")


class TurnDuration(Known):
    """The turn is over, or was broken off: the client takes the next message. In transcripts only."""


class CompactBoundary(Known):
    """What came before is summarised from here on."""


class ConversationReset(Known):
    """The conversation goes on under another id."""

    to: str = Field(validation_alias="new_conversation_id")


class Notice(Known):
    """Known, and of no consequence for tool calls."""

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
        raise ValueError(first_fault(error)) from None


class Result(Known):
    """A turn is over. `subtype` "success" says nothing: `is_error` does."""

    subtype: LooseText = None
    is_error: bool | None = Field(None, validation_alias=spelled("is_error", "isError"))
    # None where the client does not tell; an empty tuple says that nothing was denied.
    denials: Annotated[tuple[Denial, ...] | None, PlainValidator(_parse_denials)] = Field(
        None, validation_alias=spelled("permission_denials", "permissionDenials")
    )
    stop_reason: LooseText = Field(
        None, validation_alias=spelled("stop_reason", "stopReason", AliasPath("result", "stopReason"))
    )
    terminal_reason: LooseText = None
    waiting: LooseNumber = Field(None, validation_alias="queued_turn_count")
    origin: LooseText = Field(None, validation_alias=AliasPath("origin", "kind"))
    errors: Any = None
    result: Any = None
