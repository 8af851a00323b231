"""Messages of the assistant and the user, their blocks, and other lines of streams and transcripts.

An unknown or malformed block does not make its message malformed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AliasPath, Field, PlainValidator, ValidationError

from chorus.agents.claude_code.events.base import (
    JsonObject,
    Known,
    LooseFlag,
    LooseFloat,
    LooseObject,
    LooseText,
    Model,
    first_error,
    spelled,
)
from chorus.model.ids import ToolUseId

_CONTENT = AliasPath("message", "content")


class Text(Model):
    text: str = ""


class Thinking(Model):
    thinking: str = ""


class ToolUse(Model):
    """A tool call. A call without an id is only counted as a problem."""

    id: ToolUseId | None = Field(None, validation_alias=spelled("id", "tool_use_id", "toolUseId"))
    tool: str = Field(validation_alias=spelled("name", "tool_name", "toolName"))
    input: JsonObject = Field(
        default_factory=dict, validation_alias=spelled("input", "tool_input", "toolInput")
    )


class ToolResult(Model):
    id: ToolUseId | None = Field(None, validation_alias=spelled("tool_use_id", "toolUseId"))
    # Absent means success: the client leaves it out for Edit, Write and Read.
    is_error: bool | None = Field(None, validation_alias=spelled("is_error", "isError"))
    content: Any = None


class Other(Model):
    """A block of a known type that is irrelevant to calls."""

    type: str


@dataclass(frozen=True, slots=True)
class UnknownBlock:
    type: str


@dataclass(frozen=True, slots=True)
class MalformedBlock:
    kind: str
    reason: str


Block = Text | Thinking | ToolUse | ToolResult | Other | UnknownBlock | MalformedBlock
Content = str | tuple[Block, ...]

_MODELS: dict[str, type[Model]] = {
    "text": Text,
    "thinking": Thinking,
    "tool_use": ToolUse,
    "tool_result": ToolResult,
}
_OTHER_TYPES = (
    "image",
    "document",
    "redacted_thinking",
    "search_result",
    "container_upload",
    "tool_reference",
    "fallback",
    # Tools that run on the API's side never touch this machine.
    "server_tool_use",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "advisor_tool_result",
    "mcp_tool_use",
    "mcp_tool_result",
)
_OTHER: type[Model] = Other
_VALIDATORS: dict[str, Callable[[Any], Any]] = {
    kind: model.__pydantic_validator__.validate_python
    for kind, model in {**dict.fromkeys(_OTHER_TYPES, _OTHER), **_MODELS}.items()
}


def parse_content(value: object) -> Content:
    """Parse a message's content. Raises ValueError if it is neither text nor a list of blocks."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return tuple(map(_parse_block, value))
    raise ValueError(f"content is {type(value).__name__}, not text or a list of blocks")


def _parse_block(value: object) -> Block:
    if not isinstance(value, dict) or not isinstance(kind := value.get("type"), str):
        return MalformedBlock("block", "a block without a type")
    validate = _VALIDATORS.get(kind)
    if validate is None:
        return UnknownBlock(kind)
    try:
        block: Block = validate(value)
    except ValidationError as error:
        return MalformedBlock(kind, first_error(error))
    return block


class Assistant(Known):
    """A part of an assistant message, usually one block."""

    content: Annotated[Content, PlainValidator(parse_content)] = Field(validation_alias=_CONTENT)
    message_id: LooseText = Field(None, validation_alias=AliasPath("message", "id"))
    stop_reason: LooseText = Field(None, validation_alias=AliasPath("message", "stop_reason"))
    error: Any = None  # set if the message is the client's own text about a failed API request
    api_error: LooseFlag = Field(None, validation_alias="isApiErrorMessage")
    model: LooseText = Field(None, validation_alias=AliasPath("message", "model"))
    usage: LooseObject = Field(None, validation_alias=AliasPath("message", "usage"))


class User(Known):
    """A message of the user, results of tools, or text that the client sends in the user's name."""

    content: Annotated[Content, PlainValidator(parse_content)] = Field(validation_alias=_CONTENT)
    response: Any = Field(None, validation_alias=spelled("tool_use_result", "toolUseResult"))
    replay: LooseFlag = Field(None, validation_alias="isReplay")
    synthetic: LooseFlag = Field(None, validation_alias=spelled("isSynthetic", "isMeta"))
    summary: LooseFlag = Field(None, validation_alias="isCompactSummary")
    origin: LooseText = Field(None, validation_alias=AliasPath("origin", "kind"))
    # Why a call did not run, in newer clients only: per result in the stream, per line in a transcript.
    results_meta: Any = Field(None, validation_alias="tool_result_meta")
    denial: LooseText = Field(None, validation_alias="toolDenialKind")
    decision: LooseText = Field(None, validation_alias=AliasPath("permissionDecision", "decision"))
    # The session the client was started with, if a transcript's line names another session as its own.
    started_as: LooseText = Field(None, validation_alias="session_id")
    forked_from: LooseText = Field(None, validation_alias=AliasPath("forkedFrom", "sessionId"))


class Partial(Known):
    """A fragment of an unfinished message."""

    # "content_block_delta" and the like inside an object, or a bare word in the older `stream` form.
    kind: str = Field(validation_alias=spelled(AliasPath("event", "type"), "event"))
    text: LooseText = Field(
        None, validation_alias=spelled(AliasPath("event", "delta", "text"), "delta", "text")
    )


class ToolUseLine(Known):
    """A tool call as an event of its own."""

    id: ToolUseId | None = Field(None, validation_alias=spelled("id", "tool_use_id", "toolUseId"))
    tool: str = Field(validation_alias=spelled("toolName", "tool_name", "name"))
    input: JsonObject = Field(
        default_factory=dict, validation_alias=spelled("toolInput", "tool_input", "input")
    )


class ToolResultLine(Known):
    """A tool's result as an event of its own."""

    id: ToolUseId | None = Field(None, validation_alias=spelled("toolUseId", "tool_use_id"))
    is_error: bool | None = Field(None, validation_alias=spelled("isError", "is_error"))
    content: Any = None
    response: Any = Field(None, validation_alias=spelled("tool_use_result", "toolUseResult"))


class TextLine(Known):
    """Text of the assistant as an event of its own."""

    text: str


class SessionStartLine(Known):
    """A session starts or is resumed."""


class PermissionRequestLine(Known):
    """A permission prompt as plain text."""

    text: LooseText = Field(None, validation_alias="prompt")
    metadata: LooseObject = None


class ErrorLine(Known):
    """An error as an event of its own."""

    error: Any = None


class Summary(Known):
    """A transcript line with the title of a conversation that ended at `leaf`."""

    leaf: LooseText = Field(None, validation_alias="leafUuid")


class QueueOperation(Known):
    """A transcript line: a message enters or leaves the queue."""

    operation: str
    text: LooseText = Field(None, validation_alias="content")


class Attachment(Known):
    """A transcript line with something that the model gets in addition to the messages."""

    kind: str = Field(validation_alias=AliasPath("attachment", "type"))
    text: LooseText = Field(None, validation_alias=AliasPath("attachment", "prompt"))
    origin: LooseText = Field(None, validation_alias=AliasPath("attachment", "origin", "kind"))


class PermissionModeLine(Known):
    """A transcript line with the permission mode from here on."""

    mode: LooseText = Field(None, validation_alias="permissionMode")


class CostState(Known):
    """A transcript line with the cost of the session so far."""

    cost: LooseFloat = Field(None, validation_alias="totalCostUSD")


class Bookkeeping(Known):
    """A transcript line with other records of the client: titles, snapshots, modes."""

    type: str
