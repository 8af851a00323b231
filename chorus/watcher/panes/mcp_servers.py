"""The MCP servers that the user registered for a headless session, and the client's messages to them.

Each server is a program that speaks JSON-RPC on stdio. A server is started when the client sends it the first
message. The server's response goes into the reply to the client's control request. Any other message of a
server becomes a new control request.
"""

import json
import os
import queue
import subprocess
import threading
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import IO, Any

# How long a server may take to end before it is killed.
END_TIMEOUT_SECONDS = 2.0

Send = Callable[[dict[str, Any]], None]


class McpServers:
    def __init__(self, commands: Mapping[str, str], environment: Mapping[str, str], send: Send) -> None:
        self._commands = dict(commands)
        self._environment = dict(environment)
        self._send = send
        self._servers: dict[str, McpServer] = {}

    def send(self, request: str, name: str, message: dict[str, Any]) -> None:
        """Pass a message of the client to a server. If that fails, reply to the client with an error."""
        if name not in self._commands:
            self._send(error_reply(request, f"there is no MCP server {name!r}"))
            return
        server = self._servers.get(name)
        if server is not None and not server.is_running:
            server.close()
            server = None
        if server is None:
            try:
                server = McpServer(name, self._commands[name], self._environment, self._send)
            except OSError as error:
                self._send(error_reply(request, f"cannot start MCP server {name!r}: {error}"))
                return
            self._servers[name] = server
        server.send(request, message)

    def close(self) -> None:
        for server in self._servers.values():
            server.close()


class McpServer:
    def __init__(self, name: str, command: str, environment: dict[str, str], send: Send) -> None:
        self._name = name
        self._send = send
        self._pending: dict[str, str] = {}  # id of the message -> id of the control request
        self._is_over = False  # the server sends no more responses
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()  # to write; None: no more
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {command}"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # A server that does not read must not keep the caller waiting.
        threading.Thread(target=self._write, args=(self._process.stdin,), daemon=True).start()
        threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True).start()

    @property
    def is_running(self) -> bool:
        return not self._is_over and self._process.poll() is None

    def send(self, request: str, message: dict[str, Any]) -> None:
        is_request = "id" in message and "method" in message
        if is_request:
            self._pending[_key(message["id"])] = request
        self._lines.put(json.dumps(message).encode() + b"\n")
        if not is_request:
            # A notification, or the client's own response: the server does not respond to it.
            self._send(mcp_reply(request, {"jsonrpc": "2.0", "result": {}}))
        elif self._is_over:
            self._refuse_pending()

    def close(self) -> None:
        """Terminate the server, or kill it if it does not end."""
        self._process.terminate()
        try:
            self._process.wait(END_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._lines.put(None)

    def _write(self, stream: IO[bytes]) -> None:
        with stream, suppress(OSError):
            while (line := self._lines.get()) is not None:
                while line:
                    line = line[os.write(stream.fileno(), line) :]
        self._end()

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            for line in stream:
                with suppress(ValueError):
                    message = json.loads(line)
                    if isinstance(message, dict):
                        self._take(message)
        self._end()

    def _end(self) -> None:
        self._is_over = True
        self._refuse_pending()

    def _refuse_pending(self) -> None:
        for key in list(self._pending):
            if (request := self._pending.pop(key, None)) is not None:
                self._send(error_reply(request, f"the MCP server {self._name!r} has ended"))

    def _take(self, message: dict[str, Any]) -> None:
        if "method" in message:
            inner = {"subtype": "mcp_message", "server_name": self._name, "message": message}
            self._send({"type": "control_request", "request_id": str(uuid.uuid4()), "request": inner})
        elif (request := self._pending.pop(_key(message.get("id")), None)) is not None:
            self._send(mcp_reply(request, message))


def mcp_reply(request: str, message: dict[str, Any]) -> dict[str, Any]:
    response = {"subtype": "success", "request_id": request, "response": {"mcp_response": message}}
    return {"type": "control_response", "response": response}


def error_reply(request: str, error: str) -> dict[str, Any]:
    response = {"subtype": "error", "request_id": request, "error": error}
    return {"type": "control_response", "response": response}


def _key(identity: object) -> str:
    return json.dumps(identity)
