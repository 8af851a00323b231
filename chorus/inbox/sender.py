"""Send requests to watchers from an event loop, each on a connection of its own.

Never starts a watcher. The socket must be served by a process of this user.
"""

from collections.abc import Mapping

from chorus.wire import async_client
from chorus.wire.async_client import Streams
from chorus.wire.client import WatcherNotRunning
from chorus.wire.fan_out import OTHER_USER, belongs_to_user
from chorus.wire.home import Home

# Long enough for a scan of a very large work tree.
TIMEOUT_SECONDS = 120.0


async def open_streams(home: Home) -> Streams:
    reader, writer = await async_client.open_streams(home)
    if not belongs_to_user(writer.get_extra_info("socket")):
        writer.close()
        raise WatcherNotRunning(
            f"{home.common_dir}: {OTHER_USER}", hint="Use Chorus as that user, or in a clone of your own."
        )
    return reader, writer


async def send_request(home: Home, do: str, arguments: Mapping[str, object]) -> object:
    """Send a request and return its answer. Raise the error that the watcher reports."""
    streams = await open_streams(home)
    return await async_client.exchange(streams, do, arguments, timeout_seconds=TIMEOUT_SECONDS)
