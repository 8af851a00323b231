"""A scripted server for the Messages API on loopback, which records its requests.

The newest user text with a script's key selects the script. The number of assistant messages after that text
selects the reply, so that a retry gets the same reply.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from chorus.demo.model_server import sse
from chorus.demo.model_server.request import Request, read_session, user_texts
from chorus.demo.model_server.steps import (
    THE_END,
    Cut,
    Refuse,
    Reply,
    Script,
    Stop,
    StreamError,
    WaitFor,
)  # fmt: skip
from chorus.demo.script import Pause, Text, Thinking, ToolUse

ERROR_KINDS = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}


class ModelServer:
    def __init__(self, scripts: Mapping[str, Script] | None = None) -> None:
        self.scripts: dict[str, Script] = dict(scripts or {})
        self.requests: list[Request] = []
        self.closing = threading.Event()
        self._uses: Counter[tuple[str | None, int]] = Counter()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model_server = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def address(self) -> tuple[str, int]:
        host, port = self._server.server_address[:2]
        return str(host), int(port)

    @property
    def url(self) -> str:
        return "http://{}:{}".format(*self.address)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    def messages(self) -> list[Request]:
        """Return the requests that asked for a message of the model."""
        return [request for request in list(self.requests) if request.path.startswith("/v1/messages?")]

    def record(self, path: str, body: Mapping[str, Any]) -> Request:
        request = Request(path, body, read_session(body), time.monotonic())
        with self._lock:
            self.requests.append(request)
        return request

    def reply_for(self, request: Request) -> Reply:
        messages = request.body.get("messages", [])
        for index in range(len(messages) - 1, -1, -1):
            script = self._script_named_in(messages[index])
            if script is not None:
                played = sum(message["role"] == "assistant" for message in messages[index:])
                return script[played] if played < len(script) else THE_END
        return THE_END

    def must_fail(self, request: Request, step: Refuse | StreamError | Cut) -> bool:
        """Count a use of the step in this session. Return True for the first `step.times` uses."""
        key = (request.session, id(step))
        with self._lock:
            self._uses[key] += 1
            return self._uses[key] <= step.times

    def _script_named_in(self, message: Mapping[str, Any]) -> Script | None:
        if message["role"] != "user":
            return None
        text = "\n".join(user_texts(message))
        return next((script for key, script in self.scripts.items() if key in text), None)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    model_server: ModelServer

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore errors, such as a client that disconnects during a response."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Otherwise the kernel holds back a small piece until the one before is acknowledged, up to 40 ms.
    disable_nagle_algorithm = True
    server: _Server

    def do_HEAD(self) -> None:
        self._answer(200, b"")

    def do_GET(self) -> None:
        self._answer(404, b"{}")

    def do_POST(self) -> None:
        model_server = self.server.model_server
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        request = model_server.record(self.path, body)
        if "count_tokens" in self.path:
            self._answer(200, b'{"input_tokens": 10}')
            return
        reply = model_server.reply_for(request)
        model = str(body.get("model", "scripted"))
        if reply and isinstance(reply[0], Refuse) and model_server.must_fail(request, reply[0]):
            self._refuse(reply[0])
        elif body.get("stream"):
            self._stream(request, model, reply)
        else:
            self._answer(200, sse.render_whole(model, reply))

    def _stream(self, request: Request, model: str, reply: Reply) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in self._play(request, model, reply):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        if not self.close_connection:
            self.wfile.write(b"0\r\n\r\n")

    def _play(self, request: Request, model: str, reply: Reply) -> Iterator[bytes]:
        model_server, index = self.server.model_server, 0
        yield sse.render_start(model)
        for step in reply:
            match step:
                case Text() | Thinking() | ToolUse():
                    yield from sse.render_block(index, step)
                    index += 1
                case Pause(seconds):
                    model_server.closing.wait(seconds)
                case WaitFor(gate):
                    while not (gate.wait(0.02) or model_server.closing.is_set()):
                        pass
                case StreamError(kind) if model_server.must_fail(request, step):
                    yield sse.render_event("error", error=sse.render_error(kind))
                    return
                case Cut() if model_server.must_fail(request, step):
                    self.close_connection = True
                    return
                case Refuse() | StreamError() | Cut() | Stop():
                    pass
        yield sse.render_end(reply)

    def _refuse(self, step: Refuse) -> None:
        kind = ERROR_KINDS.get(step.status, "overloaded_error")
        body = json.dumps({"type": "error", "error": sse.render_error(kind)}).encode()
        self._answer(step.status, body, step.headers)

    def _answer(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: the requests are in `ModelServer.requests`."""
