"""What a recorded object is, and where it was seen.

Recordings come bare, as the client printed or wrote them, or wrapped by whoever recorded them: `{dir, msg}`
for both directions of the control protocol, `{stdin}` around a hook's input. The object itself tells.
"""

from typing import Any

from chorus.core.events import Source
from chorus.core.events.names import BOOKKEEPING

_TRANSCRIPT_TYPES = frozenset({*BOOKKEEPING, "attachment", "queue-operation", "summary"})


def unwrap(value: dict[str, Any]) -> tuple[dict[str, Any], Source]:
    inner = value.get("msg")
    if isinstance(inner, dict) and value.get("dir") in ("in", "out"):
        return inner, Source.CONTROL_IN if value["dir"] == "in" else Source.CONTROL_OUT
    inner = value.get("stdin")
    if isinstance(inner, dict) and "hook_event_name" in inner:
        return inner, Source.HOOK
    return value, _source_of(value)


def _source_of(value: dict[str, Any]) -> Source:
    kind = value.get("type")
    if "hook_event_name" in value and kind is None:
        return Source.HOOK
    in_transcript = "isSidechain" in value or (isinstance(kind, str) and kind in _TRANSCRIPT_TYPES)
    return Source.TRANSCRIPT if in_transcript else Source.STREAM
