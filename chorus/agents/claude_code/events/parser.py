"""Parse a decoded JSON object into one typed event.

An unknown type gives `Unknown`, invalid content `Malformed`; nothing is raised.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from pydantic import ValidationError

from chorus.agents.claude_code.events import control, hook, messages, names, system
from chorus.agents.claude_code.events.base import Known, Malformed, Raw, Unknown, first_error
from chorus.agents.interface import Source

Event: TypeAlias = Known | Unknown | Malformed
_Validator: TypeAlias = Callable[[Any], Known]

# A type is one word; anything longer is data in the wrong place.
MAX_TYPE_LENGTH = 80
UNTYPED = "untyped"
# Names for the members: the attribute lookup takes longer than finding the model.
_HOOK, _MOD = Source.HOOK, Source.MOD


def parse_event(value: Raw, *, source: Source) -> Event:
    if not isinstance(value, dict):
        return Malformed("event", f"{type(value).__name__}, not an object", source)
    if source is _HOOK or source is _MOD or "type" not in value:
        return _parse_untyped(value, source)
    kind = value["type"]
    if not isinstance(kind, str):
        return Malformed("event", f"type is {type(kind).__name__}, not text", source)
    validator = _BY_TYPE.get(kind)
    if validator is not None:
        return _validate(validator, kind, value, source)
    table = _BY_SUBTYPE.get(kind)
    if table is not None:
        return _parse_subtype(table, kind, value, source)
    return Unknown(kind[:MAX_TYPE_LENGTH], source)


def _parse_untyped(value: Raw, source: Source) -> Event:
    name = value.get("hook_event_name")
    if isinstance(name, str):
        validator = _BY_HOOK.get(name)
        if validator is None:
            return Unknown(f"hook/{name}"[:MAX_TYPE_LENGTH], source)
        return _validate(validator, f"hook/{name}", value, source)
    if name is not None:
        return Malformed("hook", f"hook_event_name is {type(name).__name__}, not text", source)
    if not names.HOOK_OUTPUT_KEYS.isdisjoint(value):
        return _validate(_HOOK_OUTPUT, "hook-output", value, source)
    kind = value.get("type")
    return Unknown(kind[:MAX_TYPE_LENGTH] if isinstance(kind, str) else UNTYPED, source)


def _parse_subtype(table: Mapping[str | None, _Validator], kind: str, value: Raw, source: Source) -> Event:
    request = value.get("request")
    found = request.get("subtype") if isinstance(request, dict) else value.get("subtype")
    if found is not None and not isinstance(found, str):
        return Malformed(kind, f"subtype is {type(found).__name__}, not text", source)
    validator = table.get(found)
    label = f"{kind}/{found}"[:MAX_TYPE_LENGTH] if found else kind
    if validator is None:
        # A request of an unknown kind still needs a response; any other event may be ignored.
        if table is not _REQUESTS:
            return Unknown(label, source)
        validator = _OTHER_REQUEST
    return _validate(validator, label, value, source)


def _validate(validator: _Validator, kind: str, value: Raw, source: Source) -> Event:
    try:
        event = validator(value)
    except ValidationError as error:
        return Malformed(kind, first_error(error), source)
    event.__dict__["source"] = source  # events are frozen
    return event


def _validator(model: type[Known]) -> _Validator:
    validate: _Validator = model.__pydantic_validator__.validate_python
    return validate


def _table(
    models: Mapping[str, type[Known]], others: Iterable[str | None], other: type[Known]
) -> dict[str | None, _Validator]:
    """Return a validator for each type. The types in `others` share one model."""
    shared = dict.fromkeys(others, _validator(other))
    return {**shared, **{kind: _validator(model) for kind, model in models.items()}}


_BY_TYPE = {
    **_table({}, names.IRRELEVANT_EVENTS, system.IrrelevantEvent),
    **_table(
        {
            "assistant": messages.Assistant,
            "user": messages.User,
            "stream_event": messages.Partial,
            "stream": messages.Partial,
            "result": system.Result,
            "tool_use": messages.ToolUseLine,
            "tool_result": messages.ToolResultLine,
            "text": messages.TextLine,
            "session_start": messages.SessionStartLine,
            "permission_request": messages.PermissionRequestLine,
            "error": messages.ErrorLine,
            "conversation_reset": system.ConversationReset,
            "control_response": control.Response,
            "sdk_control_response": control.Response,
            "control_cancel_request": control.Cancel,
            "summary": messages.Summary,
            "queue-operation": messages.QueueOperation,
            "attachment": messages.Attachment,
            "permission-mode": messages.PermissionModeLine,
            "cost-state": messages.CostState,
            "rate_limit_event": system.RateLimit,
        },
        names.BOOKKEEPING,
        messages.Bookkeeping,
    ),
}
_SYSTEM = _table(
    {
        "init": system.Init,
        "status": system.Status,
        "task_started": system.TaskStarted,
        "task_updated": system.TaskUpdated,
        "task_notification": system.TaskNotification,
        "permission_denied": system.PermissionDenied,
        "compact_boundary": system.CompactBoundary,
        "turn_duration": system.TurnDuration,
        "api_retry": system.ApiRetry,
        "api_error": system.ApiRetry,
    },
    (None, *names.IRRELEVANT_SYSTEM_EVENTS),
    system.IrrelevantEvent,
)
_REQUESTS = _table(
    {
        "can_use_tool": control.CanUseTool,
        "permission": control.CanUseTool,
        "hook_callback": control.HookCallback,
        "initialize": control.Initialize,
        "interrupt": control.Interrupt,
        "set_permission_mode": control.SetPermissionMode,
        "mcp_message": control.McpMessage,
        "elicitation": control.Elicitation,
    },
    (None, *names.REQUESTS),
    control.OtherRequest,
)
_OTHER_REQUEST = _validator(control.OtherRequest)
_BY_SUBTYPE = {
    "system": _SYSTEM,
    "control_request": _REQUESTS,
    "sdk_control_request": _REQUESTS,
    "control": _REQUESTS,
}
_BY_HOOK = _table(
    {
        "PreToolUse": hook.PreToolUse,
        "PostToolUse": hook.PostToolUse,
        "PostToolUseFailure": hook.PostToolUseFailure,
        "PostToolBatch": hook.PostToolBatch,
        "PermissionRequest": hook.PermissionRequest,
        "PermissionDenied": hook.PermissionDenied,
        "Elicitation": hook.ElicitationRequested,
        "ElicitationResult": hook.ElicitationAnswered,
        "UserPromptSubmit": hook.UserPromptSubmit,
        "SessionStart": hook.SessionStart,
        "SessionEnd": hook.SessionEnd,
        "Stop": hook.Stop,
        "StopFailure": hook.Stop,
        "SubagentStop": hook.SubagentStop,
        "SessionMeasured": hook.SessionMeasured,
        "MessageDisplay": hook.MessageDisplay,
    },
    names.HOOKS,
    hook.OtherHook,
)
_HOOK_OUTPUT = _validator(hook.HookOutput)
