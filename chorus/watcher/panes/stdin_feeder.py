"""The program in the pane of a headless session: feeds the client's standard input, line by line.

The lines come through a named pipe that only this process reads. A terminal would cut a line at 4,096 bytes
and echo it. The client is started when the first line arrives, so that it prints nothing before the watcher
reads the pane. Only the first answer to a request is passed on, because a restarted watcher may answer again.

Some lines are for this program: they close the client's input (`END`), send the client a signal, or contain a
message to an MCP server. When the client has ended, its exit code and the end of its stderr are saved next to
the pipe.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from chorus.system.files.private_files import open_private
from chorus.watcher.panes.mcp_servers import McpServers
from chorus.wire.handover import take_environment

END = b"END\n"
# Ends a line that was written only in part, so that it is dropped. JSON text never has this character.
CUT = b"\x18\n"
# The key that marks lines for this program. All others, except `END`, are for the client.
FEEDER_KEY = "chorus"
SIGNALS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM}
# How much of the client's stderr is kept. A client that cannot start writes a line or two.
MAX_STDERR_LINES = 50


def exit_file(pipe: Path) -> Path:
    """Return the file that says how the client behind this pipe ended."""
    return pipe.with_suffix(".exit")


def main(arguments: list[str]) -> int:
    pipe, environment, command = Path(arguments[0]), Path(arguments[1]), arguments[2:]
    servers: dict[str, str] = {}
    if command[:1] == ["--mcp"]:
        servers, command = json.loads(command[1]), command[2:]
    # Opened for reading and writing: opening does not wait for a writer, and reading does not end with one.
    source = os.fdopen(os.open(pipe, os.O_RDWR), "rb")
    feeder = Feeder(command, take_environment(environment), source, servers)
    try:
        return feeder.run()
    finally:
        with suppress(OSError), open(exit_file(pipe), "w", opener=open_private) as file:
            json.dump({"code": feeder.code, "output": "".join(feeder.stderr)}, file)
        pipe.unlink(missing_ok=True)


class Feeder:
    def __init__(
        self, command: list[str], environment: dict[str, str], source: IO[bytes], servers: dict[str, str]
    ) -> None:
        self.code: int | None = None
        self.stderr: deque[str] = deque(maxlen=MAX_STDERR_LINES)
        self._command = command
        self._environment = environment
        self._source = source
        self._answered: set[str] = set()
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._servers = McpServers(servers, environment, self._put)

    def run(self) -> int:
        first = self._next_line()
        try:
            client = subprocess.Popen(
                self._command, env=self._environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE
            )
        except OSError as error:
            self.stderr.append(f"cannot start {self._command[0]}: {error.strerror}\n")
            sys.stderr.write(self.stderr[-1])
            self.code = 127
            return self.code
        assert client.stdin is not None
        assert client.stderr is not None
        errors = threading.Thread(target=self._copy_stderr, args=(client.stderr,), daemon=True)
        errors.start()
        threading.Thread(target=self._write, args=(client.stdin,), daemon=True).start()
        threading.Thread(target=self._read, args=(first, client), daemon=True).start()
        try:
            self.code = client.wait()
        except KeyboardInterrupt:
            self.code = client.wait()  # the client got the interrupt as well, and decides what to do
        errors.join(timeout=1.0)
        self._servers.close()
        return self.code if self.code >= 0 else 128 - self.code

    def _next_line(self) -> bytes:
        while (line := self._source.readline()).endswith(CUT):
            pass
        return line

    def _put(self, message: dict[str, Any]) -> None:
        self._lines.put(json.dumps(message).encode() + b"\n")

    def _read(self, line: bytes, client: "subprocess.Popen[bytes]") -> None:
        """Handle `line`, then the lines that follow. After `END`, only signals are handled.

        Lines for the client are queued, not written here: an unread line must not delay a signal.
        """
        while True:
            own = _own(line)
            if own is None:
                self._lines.put(line)
            elif own.get(FEEDER_KEY) == "signal":
                client.send_signal(SIGNALS[own["signal"]])
            elif own.get(FEEDER_KEY) == "mcp" and own["request"] not in self._answered:
                self._answered.add(own["request"])
                self._servers.send(own["request"], own["server"], own["message"])
            if line == END:
                return self._read_signals(client)
            line = self._next_line()

    def _read_signals(self, client: "subprocess.Popen[bytes]") -> None:
        while line := self._next_line():
            own = _own(line)
            if own is not None and own.get(FEEDER_KEY) == "signal":
                client.send_signal(SIGNALS[own["signal"]])

    def _write(self, target: IO[bytes]) -> None:
        answered: set[str] = set()
        try:
            while (line := self._lines.get()) != END:
                request = answered_by(line)
                if request is None or request not in answered:
                    target.write(line)
                    target.flush()
                if request is not None:
                    answered.add(request)
            target.close()
        except BrokenPipeError:
            pass  # the client exited first

    def _copy_stderr(self, stream: IO[bytes]) -> None:
        for line in stream:
            text = line.decode(errors="replace")
            self.stderr.append(text)
            sys.stderr.write(text)
            sys.stderr.flush()


def _own(line: bytes) -> dict[str, Any] | None:
    """Parse a line for this program; None if it is for the client."""
    if not line.startswith(b'{"' + FEEDER_KEY.encode() + b'"'):
        return None
    with suppress(ValueError):
        value = json.loads(line)
        if isinstance(value, dict):
            return value
    return None


def answered_by(line: bytes) -> str | None:
    """Return the id of the request that this line answers; None if the line is not an answer."""
    if b"control_response" not in line:
        return None
    with suppress(ValueError, TypeError, KeyError):
        message = json.loads(line)
        if message["type"] == "control_response":
            return str(message["response"]["request_id"])
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
