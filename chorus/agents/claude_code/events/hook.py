"""What hooks read on their standard input, and what they may answer."""

from typing import Annotated, Any, Literal

from pydantic import AliasPath, Field, PlainValidator, ValidationError

from chorus.agents.claude_code.events.base import (
    JsonObject,
    Known,
    LooseFlag,
    LooseObject,
    LooseText,
    Model,
    spelled,
)
from chorus.agents.claude_code.events.errors import first_fault
from chorus.model.ids import ToolUseId

_TOOL = spelled("tool_name", "toolName")
_INPUT = spelled("tool_input", "toolInput")
_RESPONSE = spelled("tool_response", "toolResponse", "tool_use_result")
_CALL = spelled("tool_use_id", "toolUseId")


class Hook(Known):
    """Common to all. `event` is the hook's own name for what happened."""

    event: str = Field(validation_alias="hook_event_name")
    transcript: LooseText = Field(None, validation_alias="transcript_path")
    permission_mode: LooseText = None


class PreToolUse(Hook):
    """A call is about to run: the client waits for the hook."""

    call: ToolUseId | None = Field(None, validation_alias=_CALL)
    tool: str = Field(validation_alias=_TOOL)
    input: JsonObject = Field(default_factory=dict, validation_alias=_INPUT)


class PostToolUse(Hook):
    """A call has run. `input` is what ran."""

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
        raise ValueError(first_fault(error)) from None


class PostToolBatch(Hook):
    """All calls of one assistant message are over, also those that fired no hook of their own."""

    calls: Annotated[tuple[BatchedCall, ...], PlainValidator(_parse_batch)] = Field(
        validation_alias="tool_calls"
    )


class PermissionRequest(Hook):
    """A dialog opens. It names no call: it is about the `PreToolUse` just before."""

    call: ToolUseId | None = Field(None, validation_alias=_CALL)
    tool: str = Field(validation_alias=_TOOL)
    input: JsonObject = Field(default_factory=dict, validation_alias=_INPUT)
    suggestions: Any = Field(None, validation_alias="permission_suggestions")


class PermissionDenied(Hook):
    call: ToolUseId | None = Field(None, validation_alias=_CALL)
    tool: LooseText = Field(None, validation_alias=_TOOL)


class UserPromptSubmit(Hook):
    """A message is sent. Also fires for what the client says in the user's name."""

    text: str = Field(validation_alias="prompt")


class SessionStart(Hook):
    began: LooseText = Field(None, validation_alias="source")  # startup, resume, clear, compact


class SessionEnd(Hook):
    reason: LooseText = None


class Stop(Hook):
    """The main agent's turn is over."""


class SubagentStop(Hook):
    """A sub-agent is over."""


class MessageDisplay(Hook):
    """A piece of the assistant's text goes to the screen."""

    text: str = Field("", validation_alias="delta")


class OtherHook(Hook):
    """Known, and of no consequence for tool calls."""


class HookOutput(Known):
    """What a hook answers. It names no call: only who asked knows which one is meant."""

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
        """What the answer does to the call; None where it leaves the question open."""
        words = {self.decision, self.permission, self.behavior}
        if words & {"deny", "block"}:
            return "deny"
        return "allow" if words & {"allow", "approve"} else None
