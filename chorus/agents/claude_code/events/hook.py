"""Hook events, from a hook's input or from a report of the mod, and the output of hooks."""

from typing import Annotated, Any, Literal

from pydantic import AliasPath, Field, PlainValidator, ValidationError

from chorus.agents.claude_code.events.base import (
    JsonObject,
    Known,
    LooseFlag,
    LooseFloat,
    LooseNumber,
    LooseObject,
    LooseText,
    Model,
    first_error,
    spelled,
)
from chorus.model.ids import ToolUseId

_TOOL = spelled("tool_name", "toolName")
_INPUT = spelled("tool_input", "toolInput")
_RESPONSE = spelled("tool_response", "toolResponse", "tool_use_result")
_CALL = spelled("tool_use_id", "toolUseId")


class Hook(Known):
    """The base of all hook events."""

    event: str = Field(validation_alias="hook_event_name")
    transcript: LooseText = Field(None, validation_alias="transcript_path")
    permission_mode: LooseText = None


class PreToolUse(Hook):
    """A call is about to run."""

    call: ToolUseId | None = Field(None, validation_alias=_CALL)
    tool: str = Field(validation_alias=_TOOL)
    input: JsonObject = Field(default_factory=dict, validation_alias=_INPUT)


class PostToolUse(Hook):
    """A call has succeeded. It ran with this `input`."""

    call: ToolUseId | None = Field(None, validation_alias=_CALL)
    tool: str = Field(validation_alias=_TOOL)
    input: JsonObject = Field(default_factory=dict, validation_alias=_INPUT)
    response: Any = Field(None, validation_alias=_RESPONSE)


class PostToolUseFailure(Hook):
    call: ToolUseId | None = Field(None, validation_alias=_CALL)
    tool: str = Field(validation_alias=_TOOL)
    input: JsonObject = Field(default_factory=dict, validation_alias=_INPUT)
    error: Any = None
    interrupted: bool | None = Field(None, validation_alias="is_interrupt")


class BatchedCall(Model):
    call: ToolUseId | None = Field(None, validation_alias=_CALL)
    tool: str = Field(validation_alias=_TOOL)
    input: JsonObject = Field(default_factory=dict, validation_alias=_INPUT)
    response: Any = Field(None, validation_alias=_RESPONSE)  # the text the model reads


def _parse_batch(value: object) -> tuple[BatchedCall, ...]:
    if not isinstance(value, list):
        raise ValueError(f"tool_calls is {type(value).__name__}, not a list")
    try:
        return tuple(map(BatchedCall.model_validate, value))
    except ValidationError as error:
        raise ValueError(first_error(error)) from None


class PostToolBatch(Hook):
    """The calls of one assistant message are over, including those that fired no hook of their own."""

    calls: Annotated[tuple[BatchedCall, ...], PlainValidator(_parse_batch)] = Field(
        validation_alias="tool_calls"
    )


class PermissionRequest(Hook):
    """A permission prompt opens for a call. Only the mod sets `call`."""

    call: ToolUseId | None = Field(None, validation_alias=_CALL)
    tool: str = Field(validation_alias=_TOOL)
    input: JsonObject = Field(default_factory=dict, validation_alias=_INPUT)
    suggestions: Any = Field(None, validation_alias="permission_suggestions")


class PermissionDenied(Hook):
    call: ToolUseId | None = Field(None, validation_alias=_CALL)
    tool: LooseText = Field(None, validation_alias=_TOOL)


class ElicitationRequested(Hook):
    """An MCP server asks the user for something. Its dialog opens when the hook has ended."""

    server: LooseText = Field(None, validation_alias="mcp_server_name")
    message: LooseText = None
    schema_: LooseObject = Field(None, validation_alias="requested_schema")
    url: LooseText = None


class ElicitationAnswered(Hook):
    """The user has answered an elicitation. The hook's output may replace the answer."""

    action: LooseText = None  # accept, decline, cancel


class UserPromptSubmit(Hook):
    """A message is sent, by the user or by the client in the user's name."""

    text: str = Field(validation_alias="prompt")


class SessionStart(Hook):
    began: LooseText = Field(None, validation_alias="source")  # startup, resume, clear, compact


class SessionEnd(Hook):
    reason: LooseText = None


class Stop(Hook):
    """The main agent's turn is over, or (`StopFailure`) has failed."""

    answer: LooseText = Field(None, validation_alias="last_assistant_message")
    error: Any = None


class SessionMeasured(Hook):
    """The cost of a session so far, and how many tokens fit in the model's context. The mod reports both."""

    cost: LooseFloat = Field(None, validation_alias=AliasPath("cost", "usd"))
    window: LooseNumber = Field(None, validation_alias=AliasPath("context", "window"))


class SubagentStop(Hook):
    """A sub-agent has ended."""


class MessageDisplay(Hook):
    """A piece of the assistant's text is shown on the screen."""

    text: str = Field("", validation_alias="delta")


class OtherHook(Hook):
    """A hook event that is irrelevant to calls."""


class HookOutput(Known):
    """The output of a hook. It does not name the call."""

    proceed: LooseFlag = Field(None, validation_alias="continue")
    decision: LooseText = None  # the older form: approve, block
    specific: LooseObject = Field(None, validation_alias="hookSpecificOutput")
    permission: LooseText = Field(
        None, validation_alias=AliasPath("hookSpecificOutput", "permissionDecision")
    )
    behavior: LooseText = Field(
        None, validation_alias=AliasPath("hookSpecificOutput", "decision", "behavior")
    )

    @property
    def verdict(self) -> Literal["allow", "deny"] | None:
        """The decision about the call; None if the output decides nothing."""
        verdicts = {self.decision, self.permission, self.behavior}
        if verdicts & {"deny", "block"}:
            return "deny"
        return "allow" if verdicts & {"allow", "approve"} else None
