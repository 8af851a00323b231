"""The client side of the socket: connect to the running watcher, send requests, read events.

Short commands import this module, so it does without typing, pathlib and subprocess, each of which takes a
third of the time Python itself needs to start.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress

from chorus.errors import ChorusError, NotFound
from chorus.system.processes.peer import belongs_to_user
from chorus.system.socket_path import short_path
from chorus.wire.protocol import (
    MAX_LINE_BYTES,
    OTHER_USER,
    OTHER_USER_HINT,
    Message,
    decode,
    encode,
    parse_reply,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, Self, Unpack, overload

    from chorus.model.api.json_api import (
        ActionJson,
        AnswerJson,
        AuditEntryJson,
        BlameLineJson,
        CaptureJson,
        DropJson,
        HunkJson,
        KeepJson,
        LandJson,
        LaneJson,
        LogEntryJson,
        NoteJson,
        PromptJson,
        PullRequestJson,
        RevertJson,
        RunJson,
        SentNotesJson,
        SessionJson,
        StatusJson,
        TurnJson,
        WatcherJson,
        WatchJson,
    )
    from chorus.model.api.requests import (
        ActionArguments,
        AnswerArguments,
        BlameArguments,
        CaptureArguments,
        DropArguments,
        EndArguments,
        KeepArguments,
        LandArguments,
        LanesArguments,
        LogArguments,
        ModeArguments,
        NoteArguments,
        NotesArguments,
        PullRequestArguments,
        RedoArguments,
        RevertArguments,
        RunArguments,
        SendArguments,
        ShowArguments,
        TrackHooksArguments,
        TurnsArguments,
        WatchArguments,
    )
    from chorus.wire.home import Home

# Long enough for a scan of a very large work tree; a watcher that takes longer hangs.
ANSWER_TIMEOUT_SECONDS = 120.0
# For requests that need no work; a busy machine or a running scan delays them.
SHORT_TIMEOUT_SECONDS = 30.0
SHORT_REQUESTS = frozenset({"hello", "status", "stop"})
# These may take any time: they run the user's programs (commit hooks, a signing key's dialog) or wait for a
# turn.
UNLIMITED_REQUESTS = frozenset({"land", "end"})


class WatcherNotRunning(NotFound):
    """No watcher runs for this repository, or it has ended."""

    hint = "Run `chorus panel` in the repository to start it, or `chorus doctor` if it does not start."


class WatcherNotResponding(ChorusError):
    """The watcher did not answer in time."""

    hint = "Try again. If that does not help, run `chorus stop --kill`: nothing recorded is lost."


class WatcherUnreachable(ChorusError):
    """The watcher's socket exists, but cannot be used."""


class Connection:
    """A connection to a watcher. Requests are answered in order; events may come between the answers."""

    def __init__(self, stream: socket.socket) -> None:
        self._socket = stream
        self._reader = stream.makefile("rb")
        self._last_id = 0
        self._timeout_seconds: float | None = ANSWER_TIMEOUT_SECONDS
        self._events: list[Message] = []

    if TYPE_CHECKING:

        @overload
        def ask(self, do: Literal["hello"]) -> WatcherJson: ...
        @overload
        def ask(self, do: Literal["status"]) -> StatusJson: ...
        @overload
        def ask(self, do: Literal["stop", "subscribe", "sync"]) -> dict[str, object]: ...
        @overload
        def ask(self, do: Literal["sessions"]) -> list[SessionJson]: ...
        @overload
        def ask(self, do: Literal["watch"], **arguments: Unpack[WatchArguments]) -> WatchJson: ...
        @overload
        def ask(self, do: Literal["capture"], **arguments: Unpack[CaptureArguments]) -> CaptureJson: ...
        @overload
        def ask(self, do: Literal["track_hooks"], **arguments: Unpack[TrackHooksArguments]) -> None: ...
        @overload
        def ask(self, do: Literal["send"], **arguments: Unpack[SendArguments]) -> RunJson: ...
        @overload
        def ask(self, do: Literal["end"], **arguments: Unpack[EndArguments]) -> RunJson: ...
        @overload
        def ask(self, do: Literal["ready", "interrupt"], **arguments: Unpack[RunArguments]) -> RunJson: ...
        @overload
        def ask(self, do: Literal["mode"], **arguments: Unpack[ModeArguments]) -> RunJson: ...
        @overload
        def ask(self, do: Literal["turns"], **arguments: Unpack[TurnsArguments]) -> list[TurnJson]: ...
        @overload
        def ask(self, do: Literal["prompts"]) -> list[PromptJson]: ...
        @overload
        def ask(self, do: Literal["answer"], **arguments: Unpack[AnswerArguments]) -> AnswerJson: ...
        @overload
        def ask(self, do: Literal["audit"]) -> list[AuditEntryJson]: ...
        @overload
        def ask(self, do: Literal["lanes"], **arguments: Unpack[LanesArguments]) -> list[LaneJson]: ...
        @overload
        def ask(self, do: Literal["log"], **arguments: Unpack[LogArguments]) -> list[LogEntryJson]: ...
        @overload
        def ask(self, do: Literal["show"], **arguments: Unpack[ShowArguments]) -> ActionJson: ...
        @overload
        def ask(self, do: Literal["blame"], **arguments: Unpack[BlameArguments]) -> list[BlameLineJson]: ...
        @overload
        def ask(self, do: Literal["hunks"], **arguments: Unpack[ActionArguments]) -> list[HunkJson]: ...
        @overload
        def ask(self, do: Literal["note"], **arguments: Unpack[NoteArguments]) -> NoteJson: ...
        @overload
        def ask(
            self,
            do: Literal["notes", "drop_notes", "address_notes"],
            **arguments: Unpack[NotesArguments],
        ) -> list[NoteJson]: ...
        @overload
        def ask(self, do: Literal["send_notes"], **arguments: Unpack[NotesArguments]) -> SentNotesJson: ...
        @overload
        def ask(
            self, do: Literal["pull_request"], **arguments: Unpack[PullRequestArguments]
        ) -> PullRequestJson: ...
        @overload
        def ask(self, do: Literal["revert"], **arguments: Unpack[RevertArguments]) -> RevertJson: ...
        @overload
        def ask(self, do: Literal["redo"], **arguments: Unpack[RedoArguments]) -> RevertJson: ...
        @overload
        def ask(self, do: Literal["keep"], **arguments: Unpack[KeepArguments]) -> KeepJson: ...
        @overload
        def ask(self, do: Literal["land"], **arguments: Unpack[LandArguments]) -> LandJson: ...
        @overload
        def ask(self, do: Literal["drop"], **arguments: Unpack[DropArguments]) -> DropJson: ...

    def ask(self, do: str, **arguments: object) -> Any:
        """Send a request and return its answer; raise the error the watcher reports."""
        return self.request(do, arguments)

    def request(self, do: str, arguments: Mapping[str, object]) -> Any:  # noqa: ANN401  each request has its own answer
        """Like `ask`, for a request whose name is known only at run time."""
        self._timeout_seconds = (
            None
            if do in UNLIMITED_REQUESTS
            else SHORT_TIMEOUT_SECONDS
            if do in SHORT_REQUESTS
            else ANSWER_TIMEOUT_SECONDS
        )
        self._socket.settimeout(self._timeout_seconds)
        self.send(do, arguments)
        while True:
            message = self._receive()
            if message.get("id") == self._last_id:
                return parse_reply(message)
            self._events.append(message)

    def send(self, do: str, arguments: Mapping[str, object]) -> None:
        """Send a request without reading its answer. The caller must then close the connection."""
        self._last_id += 1
        self._send({"id": self._last_id, "do": do, **arguments})

    def events(self) -> Iterator[Message]:
        """Yield events until the connection ends. Requires a `subscribe` request."""
        self._socket.settimeout(None)
        while True:
            while self._events:
                yield self._events.pop(0)
            try:
                yield self._receive()
            except WatcherNotRunning:
                return

    def take_events(self) -> list[Message]:
        """Return the events received so far, without waiting for more."""
        events, self._events = self._events, []
        return events

    def disconnect(self) -> None:
        """End the connection from another thread. In the waiting thread, `events` ends or `ask` raises."""
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
    """Connect to the running watcher. Raises WatcherNotRunning if there is none.

    Raises WatcherNotResponding or WatcherUnreachable if the watcher's socket exists but cannot be used.
    """
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stream.settimeout(SHORT_TIMEOUT_SECONDS)
    try:
        with short_path(home.file("watcher.sock")) as path:
            stream.connect(path)
    except OSError as error:
        stream.close()
        if isinstance(error, (FileNotFoundError, ConnectionRefusedError)):
            raise WatcherNotRunning(f"no watcher is running for {home.repository}") from error
        if isinstance(error, (TimeoutError, BlockingIOError)):  # its queue of connections is full
            raise WatcherNotResponding(f"the watcher for {home.repository} accepts no connection") from error
        raise WatcherUnreachable(
            f"cannot reach the watcher at {home.file('watcher.sock')}: {error.strerror}",
            hint=f"Check that {home.root} is your directory; if another program made it, move it away.",
        ) from error
    if not belongs_to_user(stream):
        stream.close()
        raise WatcherUnreachable(f"{home.repository}: {OTHER_USER}", hint=OTHER_USER_HINT)
    return Connection(stream)
