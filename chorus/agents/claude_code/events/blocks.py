"""The pieces of a message: text, thinking, tool calls, tool results, images.

A block of an unknown type, or a malformed one, does not spoil the message around it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import Field, ValidationError

from chorus.agents.claude_code.events.base import JsonObject, Model, spelled
from chorus.agents.claude_code.events.errors import first_fault
from chorus.model.ids import ToolUseId


class Text(Model):
    text: str = ""


class Thinking(Model):
    thinking: str = ""


class ToolUse(Model):
    """A tool call. Without an id it can never be paired, which the pairing step counts."""

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
    """Known, and of no consequence for tool calls."""

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
_OTHERS = (
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
    for kind, model in {**dict.fromkeys(_OTHERS, _OTHER), **_MODELS}.items()
}


def parse_content(value: object) -> Content:
    """A message's content. A ValueError says that it is neither text nor a list of blocks."""
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
        return MalformedBlock(kind, first_fault(error))
    return block
