"""A decoded JSON object in, one typed event out.

The object's own words choose the model: `type`, then `subtype`; `hook_event_name` for hook input. One
lookup and one validation per event, never a trial of several models. Never raises: what is unknown
becomes `Unknown`, what is malformed becomes `Malformed`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from pydantic import ValidationError

from chorus.agents.claude_code.events import control, hook, messages, names, system, transcript
from chorus.agents.claude_code.events.base import SOURCE_KEY, Known, Malformed, Raw, Unknown
from chorus.agents.claude_code.events.errors import first_fault
from chorus.agents.interface import Source

Event: TypeAlias = Known | Unknown | Malformed
_Validate: TypeAlias = Callable[[Any], Known]

LONGEST_TYPE = 80  # a type is a word; what is longer is data in the wrong place
UNTYPED = "untyped"
_HOOK = Source.HOOK  # looked up once: that takes longer than finding the model


def parse_event(value: Raw, *, source: Source) -> Event:
    if not isinstance(value, dict):
        return Malformed("event", f"{type(value).__name__}, not an object", source)
    if source is _HOOK or "type" not in value:
        return _parse_untyped(value, source)
    kind = value["type"]
    if not isinstance(kind, str):
        return Malformed("event", f"type is {type(kind).__name__}, not text", source)
    validate = _BY_TYPE.get(kind)
    if validate is not None:
        return _validated(validate, kind, value, source)
    table = _BY_SUBTYPE.get(kind)
    if table is not None:
        return _parse_subtype(table, kind, value, source)
    return Unknown(kind[:LONGEST_TYPE], source)


def _parse_untyped(value: Raw, source: Source) -> Event:
    name = value.get("hook_event_name")
    if isinstance(name, str):
        validate = _BY_HOOK.get(name)
        if validate is None:
            return Unknown(f"hook/{name}"[:LONGEST_TYPE], source)
        return _validated(validate, f"hook/{name}", value, source)
    if name is not None:
        return Malformed("hook", f"hook_event_name is {type(name).__name__}, not text", source)
    if not names.HOOK_OUTPUT_KEYS.isdisjoint(value):
        return _validated(_HOOK_OUTPUT, "hook-output", value, source)
    kind = value.get("type")
    return Unknown(kind[:LONGEST_TYPE] if isinstance(kind, str) else UNTYPED, source)


def _parse_subtype(table: Mapping[str | None, _Validate], kind: str, value: Raw, source: Source) -> Event:
    request = value.get("request")
    found = request.get("subtype") if isinstance(request, dict) else value.get("subtype")
    if found is not None and not isinstance(found, str):
        return Malformed(kind, f"subtype is {type(found).__name__}, not text", source)
    validate = table.get(found)
    label = f"{kind}/{found}"[:LONGEST_TYPE] if found else kind
    if validate is None:
        return Unknown(label, source)
    return _validated(validate, label, value, source)


def _validated(validate: _Validate, kind: str, value: Raw, source: Source) -> Event:
    try:
        return validate({**value, SOURCE_KEY: source})
    except ValidationError as error:
        return Malformed(kind, first_fault(error), source)


def _validator(model: type[Known]) -> _Validate:
    validate: _Validate = model.__pydantic_validator__.validate_python
    return validate


def _table(
    models: Mapping[str, type[Known]], others: Iterable[str | None], other: type[Known]
) -> dict[str | None, _Validate]:
    """Kinds with a model of their own, and those that share one."""
    shared = dict.fromkeys(others, _validator(other))
    return {**shared, **{kind: _validator(model) for kind, model in models.items()}}


_BY_TYPE = {
    **_table({}, names.NOTICES, system.Notice),
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
            "summary": transcript.Summary,
            "queue-operation": transcript.QueueOperation,
            "attachment": transcript.Attachment,
        },
        names.BOOKKEEPING,
        transcript.Bookkeeping,
    ),
}
_SYSTEM = _table(
    {
        "init": system.Init,
        "status": system.Status,
        "task_started": system.TaskStarted,
        "task_updated": system.TaskUpdated,
        "task_notification": system.TaskNotification,
        "permission_denied": system.DenialNotice,
        "compact_boundary": system.CompactBoundary,
        "turn_duration": system.TurnDuration,
    },
    (None, *names.SYSTEM_NOTICES),
    system.Notice,
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
    },
    (None, *names.REQUESTS),
    control.OtherRequest,
)
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
        "UserPromptSubmit": hook.UserPromptSubmit,
        "SessionStart": hook.SessionStart,
        "SessionEnd": hook.SessionEnd,
        "Stop": hook.Stop,
        "StopFailure": hook.Stop,
        "SubagentStop": hook.SubagentStop,
        "MessageDisplay": hook.MessageDisplay,
    },
    names.HOOKS,
    hook.OtherHook,
)
_HOOK_OUTPUT = _validator(hook.HookOutput)
