"""What the assistant and the user say, in the stream and in transcripts alike."""

from typing import Annotated, Any

from pydantic import AliasPath, Field, PlainValidator

from chorus.agents.claude_code.events.base import (
    JsonObject,
    Known,
    LooseFlag,
    LooseObject,
    LooseText,
    spelled,
)
from chorus.agents.claude_code.events.blocks import Content, parse_content
from chorus.model.ids import ToolUseId

_CONTENT = AliasPath("message", "content")


class Assistant(Known):
    """Part of what the assistant says. The client prints one block per event; older notes show several."""

    content: Annotated[Content, PlainValidator(parse_content)] = Field(validation_alias=_CONTENT)
    message_id: LooseText = Field(None, validation_alias=AliasPath("message", "id"))
    error: Any = None  # set when the client made the message up to say that the API failed


class User(Known):
    """A person's message, a tool's results, or something the client says in the user's name."""

    content: Annotated[Content, PlainValidator(parse_content)] = Field(validation_alias=_CONTENT)
    response: Any = Field(None, validation_alias=spelled("tool_use_result", "toolUseResult"))
    replay: LooseFlag = Field(None, validation_alias="isReplay")
    synthetic: LooseFlag = Field(None, validation_alias=spelled("isSynthetic", "isMeta"))
    summary: LooseFlag = Field(None, validation_alias="isCompactSummary")
    origin: LooseText = Field(None, validation_alias=AliasPath("origin", "kind"))
    # Why a call did not run, as newer clients say it: per result in the stream, per line in a transcript.
    results_meta: Any = Field(None, validation_alias="tool_result_meta")
    denial: LooseText = Field(None, validation_alias="toolDenialKind")
    decision: LooseText = Field(None, validation_alias=AliasPath("permissionDecision", "decision"))
    # The session the client was started with, where a transcript's line names another one as its own.
    started_as: LooseText = Field(None, validation_alias="session_id")
    forked_from: LooseText = Field(None, validation_alias=AliasPath("forkedFrom", "sessionId"))


class Partial(Known):
    """A fragment of a message still being written. The whole message follows as an `Assistant`."""

    # "content_block_delta" and the like inside an object, or a bare word in the older `stream` form.
    kind: str = Field(validation_alias=spelled(AliasPath("event", "type"), "event"))


class ToolUseLine(Known):
    """A tool call as an event of its own (older descriptions of the stream)."""

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
    """Text the assistant says, as an event of its own."""

    text: str


class SessionStartLine(Known):
    """A session begins or is resumed."""


class PermissionRequestLine(Known):
    """The client asks, in words."""

    text: LooseText = Field(None, validation_alias="prompt")
    metadata: LooseObject = None


class ErrorLine(Known):
    error: Any = None
