"""Send one request from an event loop, on a connection of its own."""

import asyncio
from collections.abc import Mapping

from chorus.system.processes.peer import belongs_to_user
from chorus.system.socket_path import short_path
from chorus.wire.client import WatcherNotResponding, WatcherNotRunning
from chorus.wire.home import Home
from chorus.wire.protocol import (
    MAX_LINE_BYTES,
    OTHER_USER,
    OTHER_USER_HINT,
    decode,
    encode,
    parse_reply,
)

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def open_streams(home: Home) -> Streams:
    """Connect to the running watcher. Raise WatcherNotRunning if this fails."""
    try:
        with short_path(home.socket) as path:
            reader, writer = await asyncio.open_unix_connection(path, limit=MAX_LINE_BYTES)
    except OSError as error:
        raise WatcherNotRunning(f"no watcher is running for {home.common_dir}") from error
    if not belongs_to_user(writer.get_extra_info("socket")):
        writer.close()
        raise WatcherNotRunning(f"{home.common_dir}: {OTHER_USER}", hint=OTHER_USER_HINT)
    return reader, writer


async def exchange(
    streams: Streams, do: str, arguments: Mapping[str, object], *, timeout_seconds: float | None = None
) -> object:
    """Send a request, return its answer and close the connection. Raise the error from the watcher."""
    reader, writer = streams
    try:
        writer.write(encode({"id": 1, "do": do, **arguments}))
        async with asyncio.timeout(timeout_seconds):
            line = await reader.readline()
    except TimeoutError as error:
        raise WatcherNotResponding(f"the watcher did not answer within {timeout_seconds:.0f} s") from error
    except (OSError, ValueError) as error:
        raise WatcherNotRunning(f"lost the connection to the watcher: {error}") from error
    finally:
        writer.close()
    if not line.endswith(b"\n"):
        raise WatcherNotRunning("the watcher closed the connection")
    answer: object = parse_reply(decode(line))
    return answer
