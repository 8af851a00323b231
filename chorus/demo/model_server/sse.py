"""Render one reply of a script as the Messages API does: server-sent events, or one JSON body."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

from chorus.demo.model_server.steps import Reply, Stop
from chorus.demo.script import Text, Thinking, ToolUse

USAGE = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 5,
}
# A long text is sent in pieces, as by the real API. The size of a piece does not matter.
PIECE_LENGTH = 4096


def render_event(kind: str, **fields: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def render_start(model: str) -> bytes:
    return render_event("message_start", message=_message(model, content=[], stop_reason=None))


def render_end(reply: Reply) -> bytes:
    delta = {"stop_reason": stop_reason(reply), "stop_sequence": None}
    return render_event("message_delta", delta=delta, usage=USAGE) + render_event("message_stop")


def render_block(index: int, step: Text | Thinking | ToolUse) -> Iterator[bytes]:
    match step:
        case Text(text):
            empty: dict[str, Any] = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(text)]
        case Thinking(text):
            empty = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(text)]
            deltas.append({"type": "signature_delta", "signature": "c2lnbmF0dXJl"})
        case ToolUse(name, arguments, identifier):
            empty = {"type": "tool_use", "id": identifier or tool_use_id(), "name": name, "input": {}}
            text = json.dumps(dict(arguments), ensure_ascii=False)
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(text)]
    yield render_event("content_block_start", index=index, content_block=empty)
    for delta in deltas:
        yield render_event("content_block_delta", index=index, delta=delta)
    yield render_event("content_block_stop", index=index)


def render_whole(model: str, reply: Reply) -> bytes:
    """Render the response to a request without `stream`."""
    content = [{"type": "text", "text": step.text} for step in reply if isinstance(step, Text)]
    return json.dumps(_message(model, content=content, stop_reason=stop_reason(reply))).encode()


def render_error(kind: str) -> dict[str, Any]:
    return {"type": kind, "message": f"scripted {kind}"}


def stop_reason(reply: Reply) -> str:
    for step in reply:
        if isinstance(step, Stop):
            return step.reason
    return "tool_use" if any(isinstance(step, ToolUse) for step in reply) else "end_turn"


def tool_use_id() -> str:
    return f"toolu_{uuid.uuid4().hex[:24]}"


def _message(model: str, *, content: list[dict[str, Any]], stop_reason: str | None) -> dict[str, Any]:
    return {
        "id": f"msg_{uuid.uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": USAGE,
    }


def _pieces(text: str) -> list[str]:
    return [text[at : at + PIECE_LENGTH] for at in range(0, len(text), PIECE_LENGTH)] or [""]
