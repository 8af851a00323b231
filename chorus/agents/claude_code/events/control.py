"""Events of the control protocol, in both directions.

Clients and older descriptions of the protocol spell some fields differently. Both spellings are read.
"""

from typing import Any

from pydantic import AliasPath, Field

from chorus.agents.claude_code.events.base import JsonObject, Known, LooseObject, LooseText, spelled
from chorus.model.ids import AgentId, ToolUseId


def _inside(*names: str) -> list[AliasPath]:
    return [AliasPath("request", name) for name in names]


class Request(Known):
    """A request by the client or to it. `request` is the id that the response must name."""

    request: str | None = Field(
        None, validation_alias=spelled("request_id", "requestId", *_inside("request_id", "requestId"))
    )
    subtype: str | None = Field(None, validation_alias=spelled(*_inside("subtype"), "subtype"))


class CanUseTool(Request):
    """The client asks whether a call may run."""

    call: ToolUseId | None = Field(None, validation_alias=spelled(*_inside("tool_use_id", "toolUseId")))
    tool: str = Field(validation_alias=spelled(*_inside("tool_name", "toolName")))
    input: JsonObject = Field(
        default_factory=dict, validation_alias=spelled(*_inside("input", "tool_input", "toolInput"))
    )
    asking_agent: AgentId | None = Field(None, validation_alias=spelled(*_inside("agent_id", "agentId")))
    suggestions: Any = Field(
        None, validation_alias=spelled(*_inside("permission_suggestions", "suggestions"))
    )
    text: LooseText = Field(None, validation_alias=spelled(*_inside("description")))


class HookCallback(Request):
    """A hook registered over the protocol fires. `input` is the hook event."""

    callback: LooseText = Field(None, validation_alias=spelled(*_inside("callback_id")))
    call: ToolUseId | None = Field(None, validation_alias=spelled(*_inside("tool_use_id", "toolUseId")))
    input: JsonObject = Field(validation_alias=spelled(*_inside("input")))


class Initialize(Request):
    hooks: LooseObject = Field(None, validation_alias=spelled(*_inside("hooks")))


class Interrupt(Request):
    pass


class SetPermissionMode(Request):
    mode: str = Field(validation_alias=spelled(*_inside("mode"), "mode"))


class McpMessage(Request):
    """A message for an MCP server that runs in the program driving the client."""

    server: str = Field(validation_alias=spelled(*_inside("server_name", "serverName")))
    message: JsonObject = Field(validation_alias=spelled(*_inside("message")))


class Elicitation(Request):
    """An MCP server asks the user for something: fields of a form, or a visit to an address."""

    server: LooseText = Field(
        None, validation_alias=spelled(*_inside("mcp_server_name", "server_name", "serverName"))
    )
    message: LooseText = Field(None, validation_alias=spelled(*_inside("message")))
    schema_: LooseObject = Field(
        None, validation_alias=spelled(*_inside("requested_schema", "requestedSchema"))
    )
    url: LooseText = Field(None, validation_alias=spelled(*_inside("url")))


class OtherRequest(Request):
    """A request of any other kind."""


class Response(Known):
    """The response to a request, with a `payload` or an `error`."""

    request: str | None = Field(
        None,
        validation_alias=spelled(
            AliasPath("response", "request_id"), AliasPath("response", "requestId"), "request_id", "requestId"
        ),
    )
    subtype: str = Field(validation_alias=AliasPath("response", "subtype"))
    payload: LooseObject = Field(None, validation_alias=AliasPath("response", "response"))
    error: Any = Field(None, validation_alias=AliasPath("response", "error"))


class Cancel(Known):
    """A request is withdrawn."""

    request: str = Field(validation_alias=spelled("request_id", "requestId"))
