"""One event file of the hook program: a line about the hook, then the JSON object the client sent."""

import json
import os
from dataclasses import dataclass
from typing import Any

import orjson

from chorus.model.ids import PaneId
from chorus.model.json_limit import is_too_much

VERSION = b"1"


@dataclass(frozen=True, slots=True, eq=False)
class HookEvent:
    """One event. Compared by identity: names repeat, because process ids are reused."""

    name: str  # the file name: the hook's process id and a counter
    written_ns: int  # modification time of the file
    value: dict[str, Any]
    client_pid: int | None
    pane: PaneId | None
    tmux_socket: str | None


def parse_event_file(name: str, content: bytes, *, written_ns: int) -> HookEvent | None:
    """Return the event; None if the file is incomplete or not an event."""
    head, found, body = content.partition(b"\n")
    fields = head.split(b"\t")
    if not found or len(fields) < 4 or fields[0] != VERSION:
        return None
    value = _parse_object(body)
    if value is None:
        return None
    client, pane, socket = (os.fsdecode(field) for field in fields[1:4])
    return HookEvent(
        name,
        written_ns,
        value,
        client_pid=int(client) if client.isdigit() else None,
        pane=PaneId(pane) if pane else None,
        tmux_socket=socket.rsplit(",", 2)[0] or None,
    )


def _parse_object(body: bytes) -> dict[str, Any] | None:
    if is_too_much(body):
        return None
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        # The client can send half a surrogate pair, which orjson rejects.
        try:
            value = json.loads(body.decode("utf-8", "surrogateescape"))
        except ValueError:
            return None
    return value if isinstance(value, dict) else None
