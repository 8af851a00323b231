"""The feed: one stream of messages from the watcher, which continues when the watcher is restarted.

Each connection begins with a `snapshot`, followed by `log` pages, newest first, and the watcher's events. A
thread reads the stream: a Textual worker could lose messages when it is restarted.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from chorus import __version__
from chorus.errors import ChorusError, in_one_line
from chorus.wire.client import Connection, WatcherNotRunning, connect
from chorus.wire.home import Home, label_work_tree
from chorus.wire.protocol import Message, ProtocolError
from chorus.wire.watcher_process import connect_or_start

# A page is decoded in a few milliseconds, so an event that comes in between does not wait.
PAGE_ENTRIES = 500
# Older entries are shown only by `chorus log`: users rarely scroll back further.
MAX_ENTRIES = 20_000
# How long to wait before trying to reach a lost watcher again: too short to notice, and no load.
RETRY_SECONDS = 0.25
RECONNECTED = "reconnected"

T = TypeVar("T")


class Feed:
    """The messages of one watcher for a panel. `here`: leave out the actions of other work trees."""

    def __init__(
        self,
        home: Home,
        work_tree: Path,
        *,
        here: bool = False,
        connect_first: Callable[[Home], Connection] = connect_or_start,
    ) -> None:
        self._home = home
        self._work_tree = str(work_tree)
        self._here = here
        self._label = label_work_tree(work_tree, home)
        self._connect = connect_first
        self._stopped = threading.Event()
        self._connection: Connection | None = None

    def messages(self) -> Iterator[Message]:
        """Yield messages until `stop` is called. Blocks while there is none."""
        yield _link("connecting")
        was_live = False
        while not self._stopped.is_set():
            try:
                connection = self._connect(self._home)
            except (ChorusError, OSError) as error:
                yield _link("lost", in_one_line(error))
                self._wait_for_watcher()
            else:
                yield from self._follow(connection, again=was_live)
                was_live = True
            # Only the first connection starts a watcher: after `chorus stop` the panel waits for a new one.
            self._connect = connect

    def stop(self) -> None:
        """End the stream. May be called from any thread."""
        self._stopped.set()
        if connection := self._connection:
            connection.disconnect()

    def _follow(self, connection: Connection, *, again: bool) -> Iterator[Message]:
        self._connection = connection
        try:
            with connection:
                where = (self._work_tree, self._here)
                yield from filter(self._is_ours, _catch_up(connection, self._label, *where, again=again))
                if not self._stopped.is_set():
                    yield from filter(self._is_ours, connection.events())
                    raise WatcherNotRunning("lost the connection to the watcher")
        except (ChorusError, OSError) as error:
            if not self._stopped.is_set():
                yield _link("lost", in_one_line(error))
                self._stopped.wait(RETRY_SECONDS)
        finally:
            self._connection = None

    def _is_ours(self, message: Message) -> bool:
        return not self._here or message.get("work_tree") in (None, self._work_tree)

    def _wait_for_watcher(self) -> None:
        while not self._stopped.wait(RETRY_SECONDS):
            with suppress(ChorusError, OSError):
                connect(self._home).close()
                return


class FeedReader:
    """Reads the feed in a thread and collects messages for the app, with one wake-up per batch."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._messages: deque[Message] = deque()
        self._lock = threading.Lock()
        self._wake: Callable[[], object] | None = None
        self._thread = threading.Thread(target=self._read, name="chorus-feed", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def listen(self, wake: Callable[[], object]) -> None:
        """Call `wake` from the feed's thread when messages arrive, and at once if some are there already."""
        with self._lock:
            self._wake = wake
            has_messages = bool(self._messages)
        if has_messages:
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


def _catch_up(connection: Connection, label: str, cwd: str, here: bool, *, again: bool) -> Iterator[Message]:
    """Subscribe, then yield the current state. Later changes follow as events.

    `label`: the name of the panel's work tree. `again`: this is not the first connection.
    """
    connection.ask("subscribe")
    hello = _ask(connection, "hello", dict)
    yield {
        "event": "snapshot",
        "here": label,
        "sessions": _ask(connection, "sessions", list),
        "lanes": _ask(connection, "lanes", list, cwd=cwd, here=here),
        "prompts": _ask(connection, "prompts", list),
        "turns": _ask(connection, "turns", list),
        "notes": _ask(connection, "notes", list, cwd=cwd, here=here),
    }
    text = RECONNECTED if again else ""
    if (version := hello.get("version")) != __version__:
        text = f"the watcher runs Chorus {version}, but this panel runs {__version__}: reopen the panel"
    yield _link("live", text)
    yield from _read_log(connection, cwd=cwd, here=here)


def _read_log(connection: Connection, *, cwd: str, here: bool) -> Iterator[Message]:
    """Yield the log, newest page first, until MAX_ENTRIES entries are read.

    After each page, yield the events that have arrived meanwhile.
    """
    before: dict[str, int] = {}
    read, limit = 0, PAGE_ENTRIES
    while True:
        page = _ask(connection, "log", list, cwd=cwd, here=here, limit=limit, outside=True, **before)
        numbers = [entry["n"] for entry in page if entry["n"] is not None]
        whole = len(page) < limit
        last = whole or read + len(page) >= MAX_ENTRIES
        if not (numbers or last):
            limit *= 2  # only outside changes; the next page is requested by the number of an action
            continue
        read, limit = read + len(page), PAGE_ENTRIES
        yield {"event": "log", "entries": page, "complete": last}
        yield from connection.take_events()
        if last:
            return
        before = {"before": numbers[0]}


def _ask(connection: Connection, do: str, kind: type[T], **arguments: object) -> T:
    answer = connection.request(do, arguments)
    if not isinstance(answer, kind):
        raise ProtocolError(f"the watcher answered {do} with {type(answer).__name__}, not {kind.__name__}")
    return answer


def _link(state: str, text: str = "") -> Message:
    return {"event": "link", "state": state, "text": text}
