"""A request of the client to the Messages API, parsed as far as a script needs it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    path: str
    body: Mapping[str, Any]
    session: str | None
    at: float  # time.monotonic() when it arrived

    def texts(self) -> list[str]:
        """Return the texts of messages and tool results, oldest first, without the system prompt."""
        return [text for message in self.body.get("messages", []) for text in _texts(message)]


def read_session(body: Mapping[str, Any]) -> str | None:
    """Return the session id from the JSON text in `metadata.user_id`, or None if there is none."""
    try:
        return str(json.loads(body["metadata"]["user_id"])["session_id"])
    except (KeyError, TypeError, ValueError):
        return None


def user_texts(message: Mapping[str, Any]) -> list[str]:
    """Return the texts of a user message, without tool results and system reminders."""
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    texts = [str(block["text"]) for block in blocks if block.get("type") == "text"]
    return [text for text in texts if not text.startswith("<system-reminder>")]


def _texts(message: Mapping[str, Any]) -> Iterator[str]:
    content = message["content"]
    if isinstance(content, str):
        yield content
        return
    for block in content:
        if block.get("type") == "text":
            yield str(block["text"])
        elif block.get("type") == "tool_result":
            inner = block.get("content", "")
            yield inner if isinstance(inner, str) else "".join(str(part.get("text", "")) for part in inner)
