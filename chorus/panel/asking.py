"""One request to the agent, on the panel's own loop.

Receives what to ask; gives the answer, or raises what the agent said. Each request has a connection
of its own, so that a long one (landing) does not hold up a short one (approve), and closing the
panel leaves it at once: what was asked goes on in the agent.
"""

import asyncio
from typing import Any

from chorus.wire.client import START_SECONDS, WatcherGone, WatcherSilent, short_path, start
from chorus.wire.home import Home
from chorus.wire.protocol import LONGEST_LINE, decode, encode, parse_answer

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def ask(home: Home, do: str, *, starts: bool, **arguments: Any) -> Any:  # noqa: ANN401  as answered
    """`starts`: whether to start an agent that is not there. What a person does, does; looking does not."""
    reader, writer = await (_connect_or_start(home) if starts else _connect_only(home))
    try:
        writer.write(encode({"id": 1, "do": do, **arguments}))
        line = await reader.readline()
    except (OSError, ValueError) as error:
        raise WatcherGone(f"the agent went away: {error}") from error
    finally:
        writer.close()
    if not line.endswith(b"\n"):
        raise WatcherGone("the agent closed the connection")
    return parse_answer(decode(line))


async def _connect_only(home: Home) -> Streams:
    if streams := await _connect(home):
        return streams
    raise WatcherGone(f"no agent runs for {home.common_dir}")


async def _connect_or_start(home: Home) -> Streams:
    if streams := await _connect(home):
        return streams
    start(home)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + START_SECONDS
    while loop.time() < deadline:
        if streams := await _connect(home):
            return streams
        await asyncio.sleep(0.02)
    raise WatcherSilent(f"the agent did not start; its log is {home.log}")


async def _connect(home: Home) -> Streams | None:
    try:
        with short_path(home.socket) as path:
            return await asyncio.open_unix_connection(path, limit=LONGEST_LINE)
    except (FileNotFoundError, ConnectionRefusedError):
        return None
