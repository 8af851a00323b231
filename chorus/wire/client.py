"""The client side of the socket: connect to the watcher, send requests, read events, start or stop a watcher.

The panel and every command use this. It never imports the watcher, which is started as a process.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, overload

from chorus import __version__
from chorus.errors import ChorusError, NotFound
from chorus.system import file_lock
from chorus.wire.home import Home
from chorus.wire.protocol import MAX_LINE_BYTES, Message, ProtocolError, decode, encode, parse_answer

if TYPE_CHECKING:  # every command imports this module
    from typing import Unpack

    from chorus.model.json_api import (
        ActionJson,
        AnswerJson,
        AuditEntryJson,
        DropJson,
        HunkJson,
        KeepJson,
        LandJson,
        LaneJson,
        LogEntryJson,
        PromptJson,
        RevertJson,
        RunJson,
        SessionJson,
        StatusJson,
        WatcherJson,
        WatchJson,
    )
    from chorus.model.requests import (
        ActionArguments,
        AnswerArguments,
        DropArguments,
        EndArguments,
        KeepArguments,
        LandArguments,
        LanesArguments,
        LendArguments,
        LogArguments,
        RedoArguments,
        RevertArguments,
        SendArguments,
        WatchArguments,
    )

# A cold start imports git and pydantic: about 0.4 s here, more on a busy machine.
START_TIMEOUT_SECONDS = 20.0
# Long enough for a scan of a very large work tree; a watcher that takes longer hangs.
ANSWER_TIMEOUT_SECONDS = 120.0
# For requests that need no work; a busy machine or a running scan delays them.
SHORT_TIMEOUT_SECONDS = 30.0
SHORT_REQUESTS = frozenset({"hello", "status", "stop"})
# These run the user's own programs (commit hooks, a signing key's dialog), which may take any time.
UNLIMITED_REQUESTS = frozenset({"land"})


class WatcherNotRunning(NotFound):
    """No watcher runs for this repository, or it has ended."""

    hint = "Any command that needs the watcher starts it; run `chorus doctor` if it does not start."


class WatcherNotResponding(ChorusError):
    """The watcher did not answer in time."""

    hint = "Try again; if it hangs, kill it with `chorus stop --kill`. Nothing recorded is lost."


class Connection:
    """One connection. Requests are answered in order; events may come between the answers."""

    def __init__(self, stream: socket.socket) -> None:
        self._socket = stream
        self._reader = stream.makefile("rb")
        self._last_id = 0
        self._timeout_seconds: float | None = ANSWER_TIMEOUT_SECONDS
        self._events: list[Message] = []

    @overload
    def ask(self, do: Literal["hello"]) -> "WatcherJson": ...
    @overload
    def ask(self, do: Literal["status"]) -> "StatusJson": ...
    @overload
    def ask(self, do: Literal["stop", "subscribe", "sync"]) -> "dict[str, object]": ...
    @overload
    def ask(self, do: Literal["sessions"]) -> "list[SessionJson]": ...
    @overload
    def ask(self, do: Literal["watch"], **arguments: "Unpack[WatchArguments]") -> "WatchJson": ...
    @overload
    def ask(self, do: Literal["lend"], **arguments: "Unpack[LendArguments]") -> "None": ...
    @overload
    def ask(self, do: Literal["send"], **arguments: "Unpack[SendArguments]") -> "RunJson": ...
    @overload
    def ask(self, do: Literal["end"], **arguments: "Unpack[EndArguments]") -> "RunJson": ...
    @overload
    def ask(self, do: Literal["prompts"]) -> "list[PromptJson]": ...
    @overload
    def ask(self, do: Literal["answer"], **arguments: "Unpack[AnswerArguments]") -> "AnswerJson": ...
    @overload
    def ask(self, do: Literal["audit"]) -> "list[AuditEntryJson]": ...
    @overload
    def ask(self, do: Literal["lanes"], **arguments: "Unpack[LanesArguments]") -> "list[LaneJson]": ...
    @overload
    def ask(self, do: Literal["log"], **arguments: "Unpack[LogArguments]") -> "list[LogEntryJson]": ...
    @overload
    def ask(self, do: Literal["show"], **arguments: "Unpack[ActionArguments]") -> "ActionJson": ...
    @overload
    def ask(self, do: Literal["hunks"], **arguments: "Unpack[ActionArguments]") -> "list[HunkJson]": ...
    @overload
    def ask(self, do: Literal["revert"], **arguments: "Unpack[RevertArguments]") -> "RevertJson": ...
    @overload
    def ask(self, do: Literal["redo"], **arguments: "Unpack[RedoArguments]") -> "RevertJson": ...
    @overload
    def ask(self, do: Literal["keep"], **arguments: "Unpack[KeepArguments]") -> "KeepJson": ...
    @overload
    def ask(self, do: Literal["land"], **arguments: "Unpack[LandArguments]") -> "LandJson": ...
    @overload
    def ask(self, do: Literal["drop"], **arguments: "Unpack[DropArguments]") -> "DropJson": ...
    def ask(self, do: str, **arguments: object) -> Any:
        """Send a request and return its answer; raise the error the watcher reports."""
        return self.request(do, arguments)

    def request(self, do: str, arguments: Mapping[str, object]) -> Any:  # noqa: ANN401  each request has its own answer
        """Send a request whose name is known only at run time."""
        self._last_id += 1
        self._timeout_seconds = (
            None
            if do in UNLIMITED_REQUESTS
            else SHORT_TIMEOUT_SECONDS
            if do in SHORT_REQUESTS
            else ANSWER_TIMEOUT_SECONDS
        )
        self._socket.settimeout(self._timeout_seconds)
        self._send({"id": self._last_id, "do": do, **arguments})
        while True:
            message = self._receive()
            if message.get("id") == self._last_id:
                return parse_answer(message)
            self._events.append(message)

    def events(self) -> Iterator[Message]:
        """Yield the events after `subscribe` until the watcher ends."""
        self._socket.settimeout(None)
        while True:
            while self._events:
                yield self._events.pop(0)
            try:
                yield self._receive()
            except WatcherNotRunning:
                return

    def take_events(self) -> list[Message]:
        """Return the events that came between the answers so far, without waiting for more."""
        events, self._events = self._events, []
        return events

    def disconnect(self) -> None:
        """End the connection from another thread: `events` or `ask` returns there."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._reader.close()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _send(self, message: Message) -> None:
        try:
            self._socket.sendall(encode(message))
        except OSError as error:
            raise WatcherNotRunning(f"lost the connection to the watcher: {error}") from error

    def _receive(self) -> Message:
        try:
            line = self._reader.readline(MAX_LINE_BYTES)
        except TimeoutError as error:
            raise WatcherNotResponding(
                f"the watcher did not answer within {self._timeout_seconds:.0f} s"
            ) from error
        except OSError as error:
            raise WatcherNotRunning(f"lost the connection to the watcher: {error}") from error
        if not line.endswith(b"\n"):
            raise WatcherNotRunning("the watcher closed the connection")
        return decode(line)


def connect(home: Home) -> Connection:
    """Connect to the running watcher."""
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stream.settimeout(SHORT_TIMEOUT_SECONDS)
    try:
        with short_path(home.socket) as path:
            stream.connect(path)
    except TimeoutError as error:
        stream.close()
        raise WatcherNotResponding(
            f"the watcher accepted no connection within {SHORT_TIMEOUT_SECONDS:.0f} s"
        ) from error
    except (FileNotFoundError, ConnectionRefusedError) as error:
        stream.close()
        raise WatcherNotRunning(f"no watcher is running for {home.common_dir}") from error
    return Connection(stream)


def connect_or_start(home: Home) -> Connection:
    """Connect to a watcher of this version and repository; start or replace it if necessary."""
    try:
        connection = connect(home)
    except WatcherNotRunning:
        return _start_and_connect(home)
    with suppress(ProtocolError, WatcherNotRunning):
        if _is_current(connection.ask("hello"), home):
            return connection
    connection.close()
    stop(home)
    return _start_and_connect(home)


def start(home: Home) -> None:
    """Start a watcher as a process in a session of its own. If one runs already, the new one exits."""
    home.root.mkdir(exist_ok=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "CLAUDE"))}
    with Path(os.devnull).open("r+b") as null, home.log.open("ab") as log:
        # Through a shell that exits at once, so that the watcher is not our child: killed, it would stay a
        # zombie of the client which this process may become, and a zombie looks like a running watcher.
        subprocess.run(
            ["sh", "-c", '"$@" &', "sh", sys.executable, "-P", "-m", "chorus.watcher", str(home.common_dir)],
            stdin=null,
            stdout=null,
            stderr=log,
            cwd="/",
            env={**environment, "PYTHONPATH": import_path()},
            start_new_session=True,
            check=False,
        )


def stop(home: Home) -> bool:
    """Stop the watcher and wait until it has released its lock. Return False if none runs."""
    try:
        with connect(home) as connection:
            connection.ask("stop")
    except WatcherNotRunning:
        return False
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while is_locked(home):
        if time.monotonic() > deadline:
            raise WatcherNotResponding(f"the watcher for {home.common_dir} did not stop")
        time.sleep(0.01)
    return True


def is_locked(home: Home) -> bool:
    """Return whether a watcher holds the repository's lock."""
    return file_lock.is_locked(home.lock)


@contextmanager
def short_path(path: Path) -> Iterator[str]:
    """Yield a name for `path` that fits into a socket address (108 bytes), however long the path is."""
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}" if sys.platform == "linux" else str(path)
    finally:
        os.close(directory)


def _timeout_seconds(do: str) -> float | None:
    if do in UNLIMITED_REQUESTS:
        return None
    return SHORT_TIMEOUT_SECONDS if do in SHORT_REQUESTS else ANSWER_TIMEOUT_SECONDS


def _is_current(hello: "WatcherJson", home: Home) -> bool:
    """Return whether the watcher is of this version and its repository was not moved since it started."""
    with suppress(FileNotFoundError):
        return hello.get("version") == __version__ and Path(hello["repository"]).samefile(home.common_dir)
    return False


def _start_and_connect(home: Home) -> Connection:
    start(home)
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while True:
        try:
            return connect(home)
        except WatcherNotRunning:
            if time.monotonic() > deadline:
                raise WatcherNotResponding(f"the watcher did not start; its log is {home.log}") from None
            time.sleep(0.01)


def import_path() -> str:
    """Return the directory this package was imported from: the watcher runs the same code."""
    return str(Path(__file__).resolve().parent.parent.parent)
