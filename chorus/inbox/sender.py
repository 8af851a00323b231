"""Send requests to watchers from an event loop, each on a connection of its own. Never starts a watcher."""

from collections.abc import Mapping

from chorus.wire.async_client import exchange, open_streams
from chorus.wire.home import Home

# Long enough for a scan of a very large work tree.
TIMEOUT_SECONDS = 120.0


async def send_request(home: Home, do: str, arguments: Mapping[str, object]) -> object:
    """Send a request and return its answer. Raise the error that the watcher reports."""
    return await exchange(await open_streams(home), do, arguments, timeout_seconds=TIMEOUT_SECONDS)
