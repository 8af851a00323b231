"""Ask several watchers at once, with one deadline for all.

`chorus inbox --short` imports this module, so it does without typing.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Mapping, Sequence

from chorus.errors import ChorusError, in_one_line
from chorus.system.processes.peer import belongs_to_user
from chorus.system.socket_path import short_path
from chorus.wire.home import Home
from chorus.wire.protocol import MAX_LINE_BYTES, OTHER_USER, decode, encode, parse_reply

TYPE_CHECKING = False  # short commands import this module: no typing
if TYPE_CHECKING:
    Request = tuple[str, Mapping[str, object]]
else:
    Request = tuple

NOT_RUNNING = "no watcher is running"
NOT_RESPONDING = "the watcher does not respond"


class Reply:
    """The answers of one watcher, by the name of the request. A refused request has no answer.

    `problem`: why answers are missing. `running`: False if there is no watcher that can be used.
    """

    __slots__ = ("answers", "problem", "running")

    def __init__(
        self, answers: dict[str, object], problem: str | None = None, *, running: bool = True
    ) -> None:
        self.answers = answers
        self.problem = problem
        self.running = running


class _Conversation:
    """One connection to a watcher: its requests, and the answers received so far."""

    def __init__(self, stream: socket.socket, requests: Sequence[Request]) -> None:
        self.stream = stream
        self._requests = [do for do, _ in requests]
        self._unread = bytearray()
        self._answered = 0
        self._answers: dict[str, object] = {}
        self._problem: str | None = None
        self.unsent = b"".join(
            encode({"id": number, "do": do, **arguments})
            for number, (do, arguments) in enumerate(requests, 1)
        )

    @property
    def done(self) -> bool:
        return self._answered == len(self._requests)

    def reply(self) -> Reply:
        problem = self._problem or (None if self.done else NOT_RESPONDING)
        return Reply(self._answers, problem)

    def send(self) -> None:
        self.unsent = self.unsent[self.stream.send(self.unsent) :]

    def receive(self) -> bool:
        """Read the answers that have arrived. Return False if there is nothing more to wait for."""
        data = self.stream.recv(2**20)
        searched = len(self._unread)
        self._unread += data
        if not data or len(self._unread) > MAX_LINE_BYTES:
            self._problem = self._problem or "the watcher closed the connection"
            return False
        if b"\n" in data:
            end = self._unread.rindex(b"\n", searched) + 1
            lines = bytes(self._unread[:end])
            del self._unread[:end]
            for line in lines.splitlines():
                self._take(line)
        return not self.done

    def _take(self, line: bytes) -> None:
        try:
            message = decode(line)
            number = message.get("id")
            if isinstance(number, int) and 0 < number <= len(self._requests):
                self._answered += 1
                self._answers[self._requests[number - 1]] = parse_reply(message)
        except (ChorusError, ValueError) as error:
            self._problem = in_one_line(error)


def ask_each(requests: Mapping[Home, Sequence[Request]], *, seconds: float) -> dict[Home, Reply]:
    """Send the watcher of each home its requests. Return the replies after `seconds` at the latest."""
    replies: dict[Home, Reply] = {}
    with selectors.DefaultSelector() as selector:
        talks: dict[Home, _Conversation] = {}
        for home, asked in requests.items():
            opened = _connect(home)
            if isinstance(opened, Reply):
                replies[home] = opened
            else:
                talks[home] = _Conversation(opened, asked)
                selector.register(opened, selectors.EVENT_READ | selectors.EVENT_WRITE, talks[home])
        deadline = time.monotonic() + seconds
        while selector.get_map() and (left := deadline - time.monotonic()) > 0:
            for key, events in selector.select(left):
                _step(selector, key.data, events)
        for home, talk in talks.items():
            replies[home] = talk.reply()
            talk.stream.close()
    return {home: replies[home] for home in requests}


def _step(selector: selectors.BaseSelector, talk: _Conversation, events: int) -> None:
    try:
        if events & selectors.EVENT_WRITE:
            talk.send()
            if not talk.unsent:
                selector.modify(talk.stream, selectors.EVENT_READ, talk)
        more = talk.receive() if events & selectors.EVENT_READ else True
    except OSError:  # the watcher has ended
        more = False
    if not more:
        selector.unregister(talk.stream)


def _connect(home: Home) -> socket.socket | Reply:
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stream.setblocking(False)
    try:
        with short_path(home.file("watcher.sock")) as path:
            stream.connect(path)
        if belongs_to_user(stream):
            return stream
    except BlockingIOError:  # its queue of waiting connections is full
        stream.close()
        return Reply({}, NOT_RESPONDING)
    except (FileNotFoundError, ConnectionRefusedError):
        stream.close()
        return Reply({}, NOT_RUNNING, running=False)
    except OSError as error:
        stream.close()
        return Reply({}, f"cannot reach the watcher: {error.strerror}", running=False)
    stream.close()
    return Reply({}, OTHER_USER, running=False)
