"""Handlers for requests and responses of the control protocol."""

from dataclasses import replace
from typing import Any, Literal

from chorus.agents.claude_code.dialogs.elicitations import render_form
from chorus.agents.claude_code.events.control import (
    Cancel,
    CanUseTool,
    Elicitation,
    HookCallback,
    McpMessage,
    OtherRequest,
    Request,
    Response,
)
from chorus.agents.claude_code.events.hook import (
    ElicitationRequested,
    HookOutput,
    PermissionRequest,
    PreToolUse,
)
from chorus.agents.claude_code.events.names import HOOK_OUTPUT_KEYS, REQUESTS
from chorus.agents.claude_code.events.parser import Event
from chorus.agents.claude_code.pairing.calls import CallUpdate
from chorus.agents.claude_code.pairing.evidence import Evidence
from chorus.agents.claude_code.pairing.sessions import EventContext
from chorus.agents.claude_code.pairing.state import ControlRequest, Handlers, PairingState, ShownCall
from chorus.agents.claude_code.pairing.usage_handlers import describe_error
from chorus.agents.interface import Source
from chorus.model.outcomes import ControlAsked, ControlReplied, Outcome, PromptClosed, PromptOpened
from chorus.model.tools import ELICITATION


def on_can_use_tool(state: PairingState, event: CanUseTool, context: EventContext) -> list[Outcome]:
    if event.request is not None and event.request in state.requests:
        return []
    outcomes: list[Outcome] = []
    agent = event.asking_agent or context.agent
    if event.call:
        # The request may be seen before the call that it asks about.
        outcomes += state.add_call(
            event, replace(context, agent=agent), ShownCall(event.call, event.tool, event.input)
        )
        outcomes += state.calls.update(event.call, CallUpdate(Evidence.ASKED))
    if event.request is not None:
        state.requests[event.request] = ControlRequest(event.call, by_hook=False)
    suggestions = read_suggestions(event.suggestions)
    prompt = PromptOpened(
        context.session.id, event.call, event.tool, event.input, agent, event.request, event.text, suggestions
    )
    return [*outcomes, prompt]


def on_hook_callback(state: PairingState, event: HookCallback, context: EventContext) -> list[Outcome]:
    return _ask(event, context, "hook_callback")


def on_elicitation(state: PairingState, event: Elicitation, context: EventContext) -> list[Outcome]:
    if event.request is None or event.request in state.requests:
        return []
    state.requests[event.request] = ControlRequest(None, by_hook=False)
    return [open_form(event, context, event.request)]


def open_form(
    event: Elicitation | ElicitationRequested, context: EventContext, request: str | None
) -> PromptOpened:
    asked = {"server": event.server, "message": event.message, "schema": event.schema_, "url": event.url}
    given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    if questions := render_form(event.schema_):
        given["questions"] = questions
    return PromptOpened(context.session.id, None, ELICITATION, given, None, request, event.message, ())


def on_mcp_message(state: PairingState, event: McpMessage, context: EventContext) -> list[Outcome]:
    return _ask(event, context, "mcp_message", event.server, event.message)


def on_other_request(state: PairingState, event: OtherRequest, context: EventContext) -> list[Outcome]:
    subtype = event.subtype or "untyped"
    if event.subtype is not None and event.subtype not in REQUESTS:
        state.count(state.unknown, f"control_request/{subtype}"[:80])
    return _ask(event, context, subtype)


def _ask(
    event: Request,
    context: EventContext,
    subtype: str,
    server: str | None = None,
    message: dict[str, Any] | None = None,
) -> list[Outcome]:
    """Report a request of the client that is not a prompt. Ignore requests to the client."""
    if event.request is None or event.source is Source.CONTROL_IN:
        return []
    return [ControlAsked(context.session.id, event.request, subtype, server, message)]


def remember_callback(state: PairingState, event: HookCallback, inner: Event) -> None:
    """Remember a hook callback that can deny a call."""
    if event.request is not None and isinstance(inner, PreToolUse | PermissionRequest):
        state.requests[event.request] = ControlRequest(inner.call or event.call, by_hook=True)


def on_response(state: PairingState, event: Response, context: EventContext) -> list[Outcome]:
    request = state.requests.pop(event.request, None) if event.request is not None else None
    payload = event.payload
    if request is None and event.request is not None and event.source is not Source.CONTROL_IN:
        error = describe_error(event.error) or "refused" if event.subtype == "error" else None
        return [ControlReplied(event.request, payload or {}, error)]
    if request is None or payload is None:
        return []
    verdict, effective_input = (
        _read_hook_output(payload) if request.by_hook else _read_permission_result(payload)
    )
    outcomes: list[Outcome] = []
    if request.call and (verdict == "deny" or effective_input is not None):
        evidence = Evidence.DENIED if verdict == "deny" else Evidence.NONE
        outcomes += state.calls.update(request.call, CallUpdate(evidence, effective_input=effective_input))
    if verdict is not None and not request.by_hook:
        outcomes.append(PromptClosed(context.session.id, request.call, event.request, verdict))
    return outcomes


def on_cancel(state: PairingState, event: Cancel, context: EventContext) -> list[Outcome]:
    request = state.requests.pop(event.request, None)
    if request is None or request.by_hook:
        return []
    return [PromptClosed(context.session.id, request.call, event.request, "cancelled")]


def read_suggestions(value: object) -> tuple[dict[str, Any], ...]:
    return tuple(item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()


_Verdict = tuple[Literal["allow", "deny"] | None, dict[str, Any] | None]


def _read_permission_result(payload: dict[str, Any]) -> _Verdict:
    behavior, effective_input = payload.get("behavior"), payload.get("updatedInput")
    if behavior == "deny" or payload.get("action") in ("decline", "cancel"):
        return "deny", None
    if payload.get("action") == "accept":
        return "allow", None
    if behavior == "allow":
        return "allow", effective_input if isinstance(effective_input, dict) else None
    return None, None


def _read_hook_output(payload: dict[str, Any]) -> _Verdict:
    # Only the fields of hook output are read: all of them are optional and loose, so this cannot fail.
    own = {key: value for key, value in payload.items() if key in HOOK_OUTPUT_KEYS}
    output = HookOutput.model_validate(own)
    effective_input = output.specific.get("updatedInput") if output.specific else None
    return output.verdict, effective_input if isinstance(effective_input, dict) else None


HANDLERS: Handlers = {
    CanUseTool: on_can_use_tool,
    HookCallback: on_hook_callback,
    Elicitation: on_elicitation,
    McpMessage: on_mcp_message,
    OtherRequest: on_other_request,
    Response: on_response,
    Cancel: on_cancel,
}
