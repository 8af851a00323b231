"""The watcher's Unix socket, which only its owner can use.

A bad line or peer does not disturb other connections.
"""

import asyncio
import json
import logging
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from chorus.errors import ChorusError, ExitCode
from chorus.model.api.json_api import EventJson
from chorus.model.json_limit import is_too_much
from chorus.system.processes.peer import read_peer
from chorus.watcher.claim import listen
from chorus.watcher.server.http_exchange import BadHttp, HttpRequest, is_http, read_http, render_http
from chorus.wire.home import Home
from chorus.wire.protocol import MAX_LINE_BYTES, VERSION, Request, encode, parse_request, render_error

Handle = Callable[[Request], Awaitable[object]]
# Handles a request of the mod. Takes the request, and the id of the process that made it.
HandleHttp = Callable[[HttpRequest, int | None], Awaitable[Mapping[str, object]]]

# A subscriber that does not read is disconnected when this much waits for it.
MAX_BACKLOG_BYTES = 8 * 2**20
# Iterations of the loop from accepting a connection to serving it.
ACCEPT_STEPS = 10
# How long a request that is being handled may delay the end.
CLOSE_TIMEOUT_SECONDS = 1.0

log = logging.getLogger("chorus.watcher")

# From Python 3.13 on, asyncio looks for the socket under the name it was bound to, and removes it at the end.
# That name may be gone (`short_path`), and the socket may be another watcher's by then.
KEEP_SOCKET: dict[str, Any] = {"cleanup_socket": False} if sys.version_info >= (3, 13) else {}


class Server:
    def __init__(
        self,
        home: Home,
        handle: Handle,
        handle_http: HandleHttp | None = None,
        listener: socket.socket | None = None,
    ) -> None:
        """`listener`: the socket, if it is already listening."""
        self._home = home
        self._listener = listener
        self._handle = handle
        self._handle_http = handle_http
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.StreamWriter] = set()
        self._subscribers: set[asyncio.StreamWriter] = set()
        self._serving: set[asyncio.Task[Any]] = set()
        self._closing = False
        self._socket_stat: os.stat_result | None = None

    async def open(self) -> None:
        listener, self._listener = self._listener or listen(self._home), None
        with suppress(FileNotFoundError):  # removed by now: it is recreated
            self._socket_stat = self._home.socket.stat()
        self._server = await asyncio.start_unix_server(
            self._serve, sock=listener, limit=MAX_LINE_BYTES, **KEEP_SOCKET
        )

    async def reopen_if_gone(self) -> None:
        """Recreate the socket file if it was removed. Open connections are kept."""
        if self._is_reachable() or self._server is None:
            return
        log.warning("the socket was removed; it is recreated")
        old = self._server
        await self.open()
        old.close()

    def _is_reachable(self) -> bool:
        try:
            now = os.stat(self._home.file("watcher.sock"))  # noqa: PTH116  with every hook
            return self._socket_stat is not None and os.path.samestat(self._socket_stat, now)
        except OSError:
            return False

    async def close(self) -> None:
        if self._is_reachable():
            self._home.socket.unlink(missing_ok=True)
        self._closing = True
        if self._server is not None:
            # A server that is closed while it accepts a connection leaks that connection. So stop accepting
            # first, and let what was accepted become a connection.
            for listener in self._server.sockets:
                asyncio.get_running_loop().remove_reader(listener.fileno())
            for _ in range(ACCEPT_STEPS):
                await asyncio.sleep(0)
            self._server.close()
        self.disconnect_all()
        if self._serving:
            await asyncio.wait(self._serving, timeout=CLOSE_TIMEOUT_SECONDS)
        for client in list(self._clients):
            client.transport.abort()
        await asyncio.sleep(0)

    def disconnect_all(self) -> None:
        for client in list(self._clients):
            client.close()

    def publish(self, event: EventJson) -> None:
        """Send an event to every subscriber, but disconnect those that do not read."""
        if not self._subscribers:
            return
        line = encode_quickly(event)
        for client in list(self._subscribers):
            if client.transport.get_write_buffer_size() > MAX_BACKLOG_BYTES:
                log.warning("disconnected a subscriber that does not read")
                self._subscribers.discard(client)
                client.transport.abort()
            else:
                client.write(line)

    @property
    def subscribers(self) -> int:
        return len(self._subscribers)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pid, uid = read_peer(writer.get_extra_info("socket"))
        if uid not in (os.getuid(), None):  # where it is not known, the socket's mode (0600) protects it
            log.warning("refused a connection from another user")
            writer.close()
            return
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        self._clients.add(writer)
        try:
            while not self._closing and (line := await reader.readline()):
                if self._handle_http is not None and is_http(line):
                    await self._answer_http(await read_http(line, reader), pid, writer)
                else:
                    await self._answer(line, writer)
        except BadHttp as error:
            log.warning("invalid request from the mod: %s", error)
        except asyncio.CancelledError:
            if not self._closing:  # else asyncio would report it as a failure
                raise
        except (ConnectionError, ValueError):
            pass  # the peer closed the connection, or its line is longer than any message
        finally:
            self._clients.discard(writer)
            self._subscribers.discard(writer)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            self._serving.discard(task)

    async def _answer_http(
        self, request: HttpRequest, client_pid: int | None, writer: asyncio.StreamWriter
    ) -> None:
        try:
            assert self._handle_http is not None
            reply = await self._handle_http(request, client_pid)
        except Exception:
            log.exception("handling a report of the mod failed")
            reply = {}
        writer.write(render_http(reply))
        await writer.drain()

    async def _answer(self, line: bytes, writer: asyncio.StreamWriter) -> None:
        reply: dict[str, object] = {"id": None}
        try:
            request = parse_request(line, loads_quickly)
            reply["id"] = request.id
            if request.do == "subscribe":
                self._subscribers.add(writer)
            reply["answer"] = await self._handle(request)
        except ChorusError as error:
            reply["error"] = render_error(error)
        except Exception as error:
            log.exception("a request failed")
            reply["error"] = self._describe_failure(error)
        writer.write(encode_quickly(reply))
        await writer.drain()

    def _describe_failure(self, error: Exception) -> dict[str, object]:
        """Describe an unexpected error: a bug, unless something has replaced one of Chorus's own files."""
        path = error.filename if isinstance(error, IsADirectoryError | NotADirectoryError) else None
        if isinstance(path, str) and Path(path).is_relative_to(self._home.root):
            place = self._home.root / Path(path).relative_to(self._home.root).parts[0]
            kind = "directory" if isinstance(error, IsADirectoryError) else "file"
            message = f"another program replaced {place}, or a part of it, with a {kind}"
            hint = f"Move that {kind} away and try again, or remove Chorus with `chorus gc --all`."
            return {"message": message, "hint": hint, "exit_code": ExitCode.SYSTEM_ERROR}
        message = f"{type(error).__name__}: {error}"
        hint = f"This is a bug; please report it with the watcher's log: {self._home.log}"
        return {"message": message, "hint": hint, "exit_code": ExitCode.BUG}


def loads_quickly(line: bytes) -> Any:  # noqa: ANN401  whatever the line holds
    """Parse a line of the protocol. Raises ValueError if it is invalid or has too many values."""
    if is_too_much(line):
        raise ValueError("too many values")
    try:
        return orjson.loads(line)
    except ValueError:  # a file name that is not UTF-8, perhaps
        return json.loads(line)


def encode_quickly(message: Mapping[str, object]) -> bytes:
    """Like `encode`, but ten times as fast: an answer may be a log of 10,000 actions."""
    try:
        return orjson.dumps({"v": VERSION, **message}, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # a file name that is not UTF-8
        return encode(message)
