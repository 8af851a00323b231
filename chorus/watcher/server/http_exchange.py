"""HTTP on the watcher's socket, for the mod: POST requests with a JSON object, on connections kept open."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from chorus.model.json_limit import MAX_JSON_BYTES, is_too_much

MAX_HEADER_BYTES = 2**16
HEADERS_END = b"\r\n\r\n"
CONTENT_LENGTH = re.compile(rb"(?:^|\n)content-length:\s*(\d{1,18})\s", re.IGNORECASE)


class BadHttp(ValueError):
    """The request is not one that the mod makes."""


class HttpRequest(NamedTuple):
    path: str
    value: dict[str, Any]


def is_http(line: bytes) -> bool:
    """True if a line begins an HTTP request. Any other message begins with a brace."""
    return line.startswith(b"POST /")


async def read_http(line: bytes, reader: asyncio.StreamReader) -> HttpRequest:
    """Read the rest of the request that begins with this line."""
    try:
        headers = await reader.readuntil(HEADERS_END)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise BadHttp(f"the headers do not end: {error}") from None
    if len(headers) > MAX_HEADER_BYTES:
        raise BadHttp("the headers are too long")
    found = CONTENT_LENGTH.search(headers)
    length = int(found[1]) if found else 0
    if length > MAX_JSON_BYTES:
        raise BadHttp(f"the body is too long: {length} bytes")
    try:
        body = await reader.readexactly(length)
        if is_too_much(body):
            raise BadHttp("the body has too many values")
        value = orjson.loads(body)
    except (orjson.JSONDecodeError, asyncio.IncompleteReadError) as error:
        raise BadHttp(str(error)) from None
    if not isinstance(value, dict):
        raise BadHttp("the body is not a JSON object")
    return HttpRequest(line.split(b" ")[1].decode("ascii", "replace"), value)


def render_http(value: Mapping[str, object]) -> bytes:
    body = orjson.dumps(value)
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        len(body),
        body,
    )
