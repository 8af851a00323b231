"""The agent's door: a Unix socket that only its own user may use.

Receives request lines, gives each to the handler, sends back what it answers. One bad line or one
bad client never disturbs another. It knows nothing of what the requests mean.
"""

import asyncio
import logging
import os
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from chorus.errors import ChorusError, ExitCode
from chorus.wire.client import short_path
from chorus.wire.home import Home
from chorus.wire.protocol import LONGEST_LINE, Message, Request, encode, parse_request, render_error

Handler = Callable[[Request], Awaitable[Any]]

# What a subscriber that does not read may hold back before it is let go.
LONGEST_BACKLOG = 8 * 2**20
# Turns of the loop from accepting a connection to serving it: one accepted just now is let go too.
ACCEPTING_STEPS = 10
# How long a request that is being handled may hold up the end.
CLOSE_SECONDS = 1.0

log = logging.getLogger("chorus.watcher")


class Server:
    def __init__(self, home: Home, handle: Handler) -> None:
        self._home = home
        self._handle = handle
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.StreamWriter] = set()
        self._subscribers: set[asyncio.StreamWriter] = set()
        self._serving: set[asyncio.Task[Any]] = set()
        self._closing = False
        self._door: os.stat_result | None = None

    async def open(self) -> None:
        """Listen. The lock is held by now, so a socket file that is there is a dead agent's."""
        self._server = await asyncio.start_unix_server(self._serve, sock=self._bind(), limit=LONGEST_LINE)

    async def reopen_if_gone(self) -> None:
        """Somebody took the socket's file away: who is connected stays, and the next one finds us again."""
        if self._is_reachable() or self._server is None:
            return
        log.warning("the socket was gone; it is made anew")
        old = self._server
        await self.open()
        old.close()

    def _bind(self) -> socket.socket:
        self._home.socket.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        old_mask = os.umask(0o177)
        try:
            with short_path(self._home.socket) as path:
                listener.bind(path)
        finally:
            os.umask(old_mask)
        self._door = self._home.socket.stat()
        return listener

    def _is_reachable(self) -> bool:
        try:
            return self._door is not None and os.path.samestat(self._door, self._home.socket.stat())
        except OSError:
            return False

    async def close(self) -> None:
        if self._is_reachable():
            self._home.socket.unlink(missing_ok=True)
        self._closing = True
        if self._server is not None:
            # A server that is closed before what it accepted has become a connection leaks it: no more is
            # accepted, and what was has its turns first.
            for listener in self._server.sockets:
                asyncio.get_running_loop().remove_reader(listener.fileno())
            for _ in range(ACCEPTING_STEPS):
                await asyncio.sleep(0)
            self._server.close()
        self.hang_up()
        if self._serving:
            await asyncio.wait(self._serving, timeout=CLOSE_SECONDS)
        for client in list(self._clients):
            client.transport.abort()
        await asyncio.sleep(0)

    def hang_up(self) -> None:
        for client in list(self._clients):
            client.close()

    def publish(self, event: str, **fields: Any) -> None:  # noqa: ANN401  each event has its own fields
        """Tell every subscriber; one that does not keep up is let go and may come back."""
        line = encode({"event": event, **fields})
        for client in list(self._subscribers):
            if client.transport.get_write_buffer_size() > LONGEST_BACKLOG:
                log.warning("a subscriber does not read; it is let go")
                self._subscribers.discard(client)
                client.transport.abort()
            else:
                client.write(line)

    @property
    def subscribers(self) -> int:
        return len(self._subscribers)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not _same_user(writer):
            log.warning("refused a connection of another user")
            writer.close()
            return
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        self._clients.add(writer)
        try:
            while not self._closing and (line := await reader.readline()):
                await self._answer(line, writer)
        except (ConnectionError, ValueError):
            pass  # the client left, or its line is longer than any message: the connection ends
        finally:
            self._clients.discard(writer)
            self._subscribers.discard(writer)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            self._serving.discard(task)

    async def _answer(self, line: bytes, writer: asyncio.StreamWriter) -> None:
        reply: Message = {"id": None}
        try:
            request = parse_request(line)
            reply["id"] = request.id
            if request.do == "subscribe":
                self._subscribers.add(writer)
            reply["answer"] = await self._handle(request)
        except ChorusError as error:
            reply["error"] = render_error(error)
        except Exception as error:
            log.exception("a request failed")
            message = f"{type(error).__name__}: {error}"
            hint = f"This is a bug; the agent's log has the details: {self._home.log}"
            reply["error"] = {"message": message, "hint": hint, "exit_code": ExitCode.BUG}
        writer.write(encode(reply))
        await writer.drain()


def _same_user(writer: asyncio.StreamWriter) -> bool:
    peer: socket.socket = writer.get_extra_info("socket")
    if not hasattr(socket, "SO_PEERCRED"):
        return True  # the socket's mode (0600) is all there is to go by
    credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    uid: int = struct.unpack("3i", credentials)[1]
    return uid == os.getuid()
