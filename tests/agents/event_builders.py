"""Short builders of events, for tests that spell out a sequence of their own."""

from typing import Any

from chorus.agents.claude_code.events import Event, parse_event
from chorus.agents.interface import Source

SESSION = "s-1"
INPUT = {"file_path": "/p/a.py"}


def event_from(source: Source = Source.STREAM, /, **value: Any) -> Event:
    return parse_event(value, source=source)


def init(session: str = SESSION, **more: Any) -> Event:
    return event_from(type="system", subtype="init", session_id=session, **{"cwd": "/p", **more})


def says(text: str, *, message: str | None = None, **more: Any) -> Event:
    content = [{"type": "text", "text": text}]
    return event_from(
        type="assistant", session_id=SESSION, message={"content": content, "id": message}, **more
    )


def calls(
    call: str, tool: str = "Edit", *, source: Source = Source.STREAM, message: str | None = None, **more: Any
) -> Event:
    block = {"type": "tool_use", "id": call, "name": tool, "input": more.pop("input", INPUT)}
    value = {"type": "assistant", "session_id": SESSION, "message": {"content": [block], "id": message}}
    return event_from(source, **(value | more))


def returns(
    call: str,
    text: Any = "ok",
    *,
    error: bool | None = None,
    session: str = SESSION,
    source: Source = Source.STREAM,
    **more: Any,
) -> Event:
    block = {"type": "tool_result", "tool_use_id": call, "content": text}
    if error is not None:
        block["is_error"] = error
    return event_from(source, type="user", session_id=session, message={"content": [block]}, **more)


def writes(text: Any, *, source: Source = Source.STREAM, session: str | None = SESSION, **more: Any) -> Event:
    return event_from(
        source, type="user", session_id=session, message={"role": "user", "content": text}, **more
    )


def result(*denied: str, session: str = SESSION, **more: Any) -> Event:
    denials = [{"tool_name": "Edit", "tool_use_id": call, "tool_input": {}} for call in denied]
    return event_from(
        type="result", subtype="success", session_id=session, **{"permission_denials": denials, **more}
    )


def system(subtype: str, *, session: str = SESSION, **more: Any) -> Event:
    return event_from(type="system", subtype=subtype, session_id=session, **more)


def hook_event(name: str, *, session: str = SESSION, prompt_id: str | None = "p-1", **more: Any) -> Event:
    value = {"hook_event_name": name, "session_id": session, "cwd": "/p", **more}
    return event_from(Source.HOOK, **(value | {"prompt_id": prompt_id} if prompt_id else value))


def pre(call: str | None, tool: str = "Edit", **more: Any) -> Event:
    return hook_event("PreToolUse", tool_use_id=call, **({"tool_name": tool, "tool_input": INPUT} | more))


def post(call: str | None, tool: str = "Edit", **more: Any) -> Event:
    return hook_event("PostToolUse", tool_use_id=call, **({"tool_name": tool, "tool_input": INPUT} | more))


def permission_request(tool: str = "Edit", **more: Any) -> Event:
    return hook_event("PermissionRequest", **({"tool_name": tool, "tool_input": INPUT} | more))


def batch(*ended: tuple[str, str], **more: Any) -> Event:
    listed = [
        {
            "tool_name": "Edit",
            "tool_input": {"file_path": "/p/a.py"},
            "tool_use_id": call,
            "tool_response": text,
        }
        for call, text in ended
    ]
    return hook_event("PostToolBatch", tool_calls=listed, **more)


def prompt_submitted(text: str, prompt_id: str | None = "p-1") -> Event:
    return event_from(
        Source.HOOK,
        hook_event_name="UserPromptSubmit",
        session_id=SESSION,
        prompt=text,
        **({"prompt_id": prompt_id} if prompt_id else {}),
    )
