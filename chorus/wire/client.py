"""Talking to the watcher: connect, ask, listen; and start one when there is none.

The panel and every command use this. It never imports the watcher: starting one means starting a
process of its own.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from chorus import __version__
from chorus.errors import ChorusError, NotFound
from chorus.system import file_lock
from chorus.wire.home import Home
from chorus.wire.protocol import MAX_LINE_BYTES, Message, ProtocolError, decode, encode, parse_answer

# A cold start imports git and pydantic: about 0.4 s here, more on a busy machine.
START_SECONDS = 20.0
# Long enough for a scan of a very large work tree; a watcher that is silent for longer hangs.
ANSWER_SECONDS = 120.0
# What takes no work at all; a busy machine or a scan under way makes it late.
SOON_SECONDS = 30.0
SOON = frozenset({"hello", "status", "stop"})
# These run programs of the user's (commit hooks, a signing key's dialog), which take the time they take.
UNBOUNDED = frozenset({"land"})


class WatcherNotRunning(NotFound):
    """No watcher runs for this repository, or it went away."""

    hint = "Any command that needs the watcher starts it; `chorus doctor` says why it may not start."


class WatcherNotResponding(ChorusError):
    """The watcher does not answer in time."""

    hint = "It may be busy. One that hangs is ended with `chorus stop --kill`; nothing recorded is lost."


class Connection:
    """One connection. Requests are answered in order; events may come in between."""

    def __init__(self, stream: socket.socket) -> None:
        self._socket = stream
        self._reader = stream.makefile("rb")
        self._last_id = 0
        self._patience: float | None = ANSWER_SECONDS
        self._events: list[Message] = []

    def ask(self, do: str, **arguments: Any) -> Any:  # noqa: ANN401  shapes belong to the request
        self._last_id += 1
        self._patience = None if do in UNBOUNDED else SOON_SECONDS if do in SOON else ANSWER_SECONDS
        self._socket.settimeout(self._patience)
        self._send({"id": self._last_id, "do": do, **arguments})
        while True:
            message = self._receive()
            if message.get("id") == self._last_id:
                return parse_answer(message)
            self._events.append(message)

    def events(self) -> Iterator[Message]:
        """Everything the watcher says after `subscribe`, until it goes away."""
        self._socket.settimeout(None)
        while True:
            while self._events:
                yield self._events.pop(0)
            try:
                yield self._receive()
            except WatcherNotRunning:
                return

    def take_events(self) -> list[Message]:
        """The events that came in between the answers so far, without waiting for more."""
        events, self._events = self._events, []
        return events

    def hang_up(self) -> None:
        """End the connection from another thread: one that waits in `events` or `ask` wakes up."""
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
            raise WatcherNotRunning(f"the watcher went away: {error}") from error

    def _receive(self) -> Message:
        try:
            line = self._reader.readline(MAX_LINE_BYTES)
        except TimeoutError as error:
            raise WatcherNotResponding(f"the watcher did not answer within {self._patience:.0f} s") from error
        except OSError as error:
            raise WatcherNotRunning(f"the watcher went away: {error}") from error
        if not line.endswith(b"\n"):
            raise WatcherNotRunning("the watcher closed the connection")
        return decode(line)


def connect(home: Home) -> Connection:
    """A connection to the running watcher."""
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stream.settimeout(SOON_SECONDS)
    try:
        with short_path(home.socket) as path:
            stream.connect(path)
    except TimeoutError as error:
        stream.close()
        raise WatcherNotResponding(f"the watcher took no connection within {SOON_SECONDS:.0f} s") from error
    except (FileNotFoundError, ConnectionRefusedError) as error:
        stream.close()
        raise WatcherNotRunning(f"no watcher runs for {home.common_dir}") from error
    return Connection(stream)


def connect_or_start(home: Home) -> Connection:
    """A connection to a watcher of this very version and place, started (or replaced) if need be."""
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
    """Start a watcher process of its own session; a second one gives way by itself."""
    home.root.mkdir(exist_ok=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "CLAUDE"))}
    with Path(os.devnull).open("r+b") as nowhere, home.log.open("ab") as log:
        # By a shell that leaves at once, so that it is nobody's child: one that is killed would stay a zombie
        # of the client which this process may become, and hooks take a zombie for a watcher that lives.
        subprocess.run(
            ["sh", "-c", '"$@" &', "sh", sys.executable, "-P", "-m", "chorus.watcher", str(home.common_dir)],
            stdin=nowhere,
            stdout=nowhere,
            stderr=log,
            cwd="/",
            env={**environment, "PYTHONPATH": import_path()},
            start_new_session=True,
            check=False,
        )


def stop(home: Home) -> bool:
    """Ask the watcher to end and wait until it let go of its lock; False if there was none."""
    try:
        with connect(home) as connection:
            connection.ask("stop")
    except WatcherNotRunning:
        return False
    deadline = time.monotonic() + START_SECONDS
    while is_locked(home):
        if time.monotonic() > deadline:
            raise WatcherNotResponding(f"the watcher for {home.common_dir} does not end")
        time.sleep(0.01)
    return True


def is_locked(home: Home) -> bool:
    """Return whether a watcher holds the repository's lock."""
    return file_lock.is_locked(home.lock)


@contextmanager
def short_path(path: Path) -> Iterator[str]:
    """A name for `path` that fits into a socket address (108 bytes), however deep the path is."""
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}" if sys.platform == "linux" else str(path)
    finally:
        os.close(directory)


def _is_current(hello: Message, home: Home) -> bool:
    """Of this version; and not one whose repository was moved here from where it looks for it."""
    with suppress(FileNotFoundError):
        return hello.get("version") == __version__ and Path(hello["repository"]).samefile(home.common_dir)
    return False


def _start_and_connect(home: Home) -> Connection:
    start(home)
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return connect(home)
        except WatcherNotRunning:
            if time.monotonic() > deadline:
                raise WatcherNotResponding(f"the watcher did not start; its log is {home.log}") from None
            time.sleep(0.01)


def import_path() -> str:
    """The directory this very package was imported from: the watcher runs the same code."""
    return str(Path(__file__).resolve().parent.parent.parent)
