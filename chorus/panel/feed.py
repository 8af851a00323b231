"""Everything the agent says, from the first connection to the last, through its restarts.

Gives one stream of messages: `link` (connecting, live, lost), `snapshot` (how things stand), `log`
(pages of actions, newest page first) and then the agent's own events. Read by one thread that lives
as long as the panel does: nothing that was read is lost to a restart of the reader. Never draws.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from chorus import __version__
from chorus.errors import ChorusError
from chorus.wire.client import Connection, WatcherGone, connect, connect_or_start
from chorus.wire.home import Home
from chorus.wire.protocol import Message, ProtocolError

# A page is decoded in a few milliseconds, so an event that comes in between does not wait.
PAGE = 500
# Older actions are a matter for `chorus log`: nobody scrolls back further.
MOST_ENTRIES = 20_000
# How often a lost agent is looked for: unfelt by a person, and nothing for the machine.
RETRY_SECONDS = 0.25

T = TypeVar("T")


class Feed:
    """`work_tree`: whose lanes and actions are told; sessions and prompts are the whole repository's."""

    def __init__(
        self,
        home: Home,
        work_tree: Path,
        *,
        connect_first: Callable[[Home], Connection] = connect_or_start,
    ) -> None:
        self._home = home
        self._work_tree = str(work_tree)
        self._connect = connect_first
        self._stopped = threading.Event()
        self._connection: Connection | None = None

    def messages(self) -> Iterator[Message]:
        """Blocks between messages; ends after `stop`."""
        yield _link("connecting")
        was_live = False
        while not self._stopped.is_set():
            try:
                connection = self._connect(self._home)
            except (ChorusError, OSError) as error:
                yield _link("lost", str(error))
                self._wait_for_agent()
            else:
                yield from self._follow(connection, again=was_live)
                was_live = True
            # `chorus stop` is meant: only the first connection starts an agent, later ones wait for it.
            self._connect = connect

    def stop(self) -> None:
        """End the stream, from any thread."""
        self._stopped.set()
        if connection := self._connection:
            connection.hang_up()

    def _follow(self, connection: Connection, *, again: bool) -> Iterator[Message]:
        self._connection = connection
        try:
            with connection:
                yield from filter(self._is_ours, _catch_up(connection, self._work_tree, again=again))
                if not self._stopped.is_set():
                    yield from filter(self._is_ours, connection.events())
                    raise WatcherGone("the agent went away")
        except (ChorusError, OSError) as error:
            if not self._stopped.is_set():
                yield _link("lost", str(error))
                self._stopped.wait(RETRY_SECONDS)
        finally:
            self._connection = None

    def _is_ours(self, message: Message) -> bool:
        """Actions are numbered in each work tree anew: those of another one are not told."""
        return message.get("work_tree") in (None, self._work_tree)

    def _wait_for_agent(self) -> None:
        while not self._stopped.wait(RETRY_SECONDS):
            with suppress(ChorusError, OSError):
                connect(self._home).close()
                return


class Inbox:
    """Carries messages from the feed's thread to whoever drains them, with one wake-up per batch."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._messages: deque[Message] = deque()
        self._lock = threading.Lock()
        self._wake: Callable[[], object] | None = None
        self._thread = threading.Thread(target=self._read, name="chorus-feed", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def listen(self, wake: Callable[[], object]) -> None:
        """Call `wake` (from the feed's thread) whenever messages wait; at once if some already do."""
        with self._lock:
            self._wake = wake
            waiting = bool(self._messages)
        if waiting:
            wake()

    def drain(self) -> list[Message]:
        with self._lock:
            messages = list(self._messages)
            self._messages.clear()
        return messages

    def stop(self) -> None:
        with self._lock:
            self._wake = None
        self._feed.stop()

    def _read(self) -> None:
        for message in self._feed.messages():
            with self._lock:
                first = not self._messages
                self._messages.append(message)
                wake = self._wake if first else None
            if wake:
                wake()


def _catch_up(connection: Connection, cwd: str, *, again: bool) -> Iterator[Message]:
    """How things stand now. Subscribed first: what happens meanwhile comes as events afterwards."""
    connection.ask("subscribe")
    hello = _ask(connection, "hello", dict)
    yield {
        "event": "snapshot",
        "repository": hello.get("repository", ""),
        "sessions": _ask(connection, "sessions", list),
        "lanes": _ask(connection, "lanes", list, cwd=cwd),
        "prompts": _ask(connection, "prompts", list),
    }
    text = "connected again" if again else ""
    if (version := hello.get("chorus")) != __version__:
        text = f"the agent is chorus {version}, this panel {__version__}: open the panel anew"
    yield _link("live", text)
    yield from _read_log(connection, cwd)


def _read_log(connection: Connection, cwd: str) -> Iterator[Message]:
    """The log, newest page first. An event that came in meanwhile is newer than the page it follows."""
    before: dict[str, int] = {}
    read, limit = 0, PAGE
    while True:
        page = _ask(connection, "log", list, cwd=cwd, limit=limit, outside=True, **before)
        numbers = [entry["n"] for entry in page if entry["n"] is not None]
        whole = len(page) < limit
        older = not whole and read + len(page) >= MOST_ENTRIES
        if not (numbers or whole or older):
            limit *= 2  # nothing but changes no action made: a page is told by its actions
            continue
        read, limit = read + len(page), PAGE
        yield {"event": "log", "entries": page, "complete": whole or older, "older": older}
        yield from connection.take_events()
        if whole or older:
            return
        before = {"before": numbers[0]}


def _ask(connection: Connection, do: str, kind: type[T], **arguments: object) -> T:
    answer = connection.ask(do, **arguments)
    if not isinstance(answer, kind):
        raise ProtocolError(f"the agent answers {do} with {type(answer).__name__}, not {kind.__name__}")
    return answer


def _link(state: str, text: str = "") -> Message:
    return {"event": "link", "state": state, "text": text}
