"""The socket's protocol: one JSON message per line.

A request is `{"v": 1, "id": N, "do": NAME, ...}`. Its reply has the same id and either `answer` or `error`.
After a `subscribe` request, the watcher also sends `{"v": 1, "event": NAME, ...}` lines.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from chorus.errors import ChorusError, ExitCode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

VERSION = 1

# Enough for the diff of any action. A peer that sends without end is cut off.
MAX_LINE_BYTES = 64 * 2**20
# A socket that a process of another user serves is not used.
OTHER_USER = "the watcher belongs to another user"
OTHER_USER_HINT = "Use Chorus as that user, or in a clone of your own."

# One decoded line. Code that reads a key must check its value, because the peer may be of another version.
Message = dict[str, object]


class ProtocolError(ChorusError):
    """The peer sent something that is not a message of this protocol."""

    hint = "Run `chorus stop` and try again: the watcher may run a different version of Chorus."


class WatcherError(ChorusError):
    """The watcher refused a request. The message, exit code and hint are the watcher's own."""

    def __init__(
        self, message: str, *, exit_code: ExitCode, hint: str | None, details: Message | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.exit_code = exit_code
        self.details = details


class Request:
    __slots__ = ("arguments", "do", "id")

    def __init__(self, id: int, do: str, arguments: Message) -> None:
        self.id, self.do, self.arguments = id, do, arguments


def encode(message: Mapping[str, object]) -> bytes:
    return json.dumps({"v": VERSION, **message}, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes, loads: Callable[[bytes], Any] = json.loads) -> Message:
    try:
        message = loads(line)
    except ValueError as error:
        raise ProtocolError(f"not a JSON message: {line[:80]!r}") from error
    if not isinstance(message, dict) or message.get("v") != VERSION:
        raise ProtocolError(f"not a message of protocol version {VERSION}: {line[:24]!r}")
    return message


def parse_request(line: bytes, loads: Callable[[bytes], Any] = json.loads) -> Request:
    """Parse a request. `loads`: the JSON decoder, which raises ValueError for invalid JSON."""
    message = decode(line, loads)
    identity, do = message.pop("id", None), message.pop("do", None)
    del message["v"]
    if not isinstance(identity, int) or not isinstance(do, str):
        raise ProtocolError(f"a request needs `id` and `do`: {line[:80]!r}")
    return Request(identity, do, message)


def render_error(error: ChorusError) -> Message:
    message: Message = {"message": str(error), "hint": error.hint, "exit_code": int(error.exit_code)}
    return {**message, "details": dict(error.details)} if error.details else message


def parse_reply(reply: Message) -> Any:  # noqa: ANN401  each request knows the shape of its answer
    """Return the answer in a reply, or raise the error that the watcher reported."""
    if "error" not in reply:
        return reply.get("answer")
    error = reply["error"] if isinstance(reply["error"], dict) else {}
    raise WatcherError(
        error.get("message", "the watcher failed"),
        exit_code=ExitCode(error.get("exit_code", ExitCode.BUG)),
        hint=error.get("hint"),
        details=error.get("details"),
    )
