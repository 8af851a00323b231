"""What the client's hooks tell: one file per event, in a directory only hooks and the agent know.

Gives events in the order they happened, each once, and lets each hook go (with an answer, if there is
one). An event stays on disk until it is forgotten, so a killed agent finds again what it had not dealt
with. docs/protocol.md has the exchange, hooks/chorus-hook the other side of it.
"""

import os
import re
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from chorus.agents.claude_code.hooks.event_file import HookEvent, parse_event_file
from chorus.agents.claude_code.hooks.held_hook import HeldHook
from chorus.system.atomic_file import replace_file
from chorus.system.processes import read_process

# A hook writes its event in one go; what is still not whole after this was cut off.
CUT_OFF_SECONDS = 10.0
# An answer is read at once or never: its hook was told to go on by then.
ANSWER_SECONDS = 10.0
# What could not be read is kept for a look, not for ever.
ASIDE_KEPT = 50
# In the spool the hook's process id and a counter; among those taken, the time as well.
_NAME = re.compile(r"(\d+)\.\d+(?:\.\d+)?")


class Spool:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._taken = directory / "taken"
        self._answers = directory / "answers"
        self._aside = directory / "aside"
        self._poke = -1
        self._places: dict[HookEvent, Path] = {}  # of those given and not forgotten
        self._left: list[HookEvent] = []  # by an agent that ended before it had dealt with them
        self._answered: set[str] = set()
        self._printed: dict[str, bool] = {}
        self.problems: Counter[str] = Counter()

    def open(self) -> None:
        """Begin to serve: from now on hooks wait for us. The caller holds the agent's lock."""
        self._make_places()
        for left in self._answers.iterdir():
            left.unlink()
        self._poke = self._open_fifo()
        unfinished = [self._read(path) for path in self._list(self._taken)]
        self._left = [event for event in unfinished if event is not None]
        self._be_found()

    def is_whole(self) -> bool:
        """Whether hooks find all they need, and reach us by it."""
        try:
            poke = (self._directory / "poke").stat()
        except OSError:
            return False
        places = (self._taken, self._answers, self._aside, self._directory / "agent")
        return os.path.samestat(os.fstat(self._poke), poke) and all(place.exists() for place in places)

    def mend(self) -> None:
        """Somebody took something of it away. `fileno` is another one afterwards."""
        self._make_places()
        os.close(self._poke)
        self._poke = self._open_fifo()
        self._be_found()

    def close(self, *, asleep: bool) -> None:
        """Stop serving. `asleep`: hooks do not start another agent; a command does."""
        if asleep:
            self._write("asleep", b"")
        if self.is_whole():  # and no other agent's
            (self._directory / "agent").unlink(missing_ok=True)
        os.close(self._poke)

    def fileno(self) -> int:
        """Readable when a hook has come."""
        return self._poke

    def take_pokes(self) -> None:
        """`fileno` is readable again when the next hook comes."""
        with suppress(BlockingIOError):
            while os.read(self._poke, 1 << 16):
                pass

    def take(self) -> list[HookEvent]:
        """Every whole event not given before, oldest first.

        Call it when `fileno` is readable, and every few seconds: a hook killed on its way does not poke.
        """
        self.take_pokes()
        # Before the look, so that a hook which now decides not to wait is still seen.
        (self._directory / "late").unlink(missing_ok=True)
        found = [self._read(path) for path in self._list(self._directory)]
        left, self._left = self._left, []
        if self._answered:
            self._sweep_answers()
        return left + [event for event in found if event is not None]

    def is_waiting(self, event: HookEvent) -> bool:
        """Whether the hook still holds the client back. Ask after reading what an edit is about to change."""
        if not self._is_unreleased(event):
            return False
        return read_process(int(event.name.partition(".")[0])) is not None

    def release(self, event: HookEvent, answer: dict[str, Any] | None = None) -> None:
        """Let the hook go on, with an answer for the client. The event stays until `forget`."""
        if answer is not None:
            self._write(f"answers/{event.name}", orjson.dumps(answer) + b"\n")
            self._answered.add(event.name)
        if self._is_unreleased(event):
            place = self._taken / f"{event.name}.{event.written_ns}"
            with suppress(FileNotFoundError):  # somebody took it away: its hook goes on by that
                self._places[event].rename(place)
            self._places[event] = place

    def hold(self, event: HookEvent) -> HeldHook:
        """Let the hook wait for an answer that comes later, or never."""
        fifo = self._answers / event.name
        fifo.unlink(missing_ok=True)
        os.mkfifo(fifo, 0o600)
        held = HeldHook(fifo, os.open(fifo, os.O_RDWR | os.O_NONBLOCK))
        self.release(event)
        return held

    def take_answered(self) -> dict[str, bool]:
        """By event name, since the last call: answers that were printed, and those that never will be."""
        self._sweep_answers()
        printed, self._printed = self._printed, {}
        return printed

    def forget(self, event: HookEvent) -> None:
        """The event is dealt with for good."""
        self.release(event)
        place = self._places.pop(event, None)
        if place is not None:
            place.unlink(missing_ok=True)

    def put_aside(self, event: HookEvent) -> None:
        """Nobody can deal with the event: its hook goes on, and its file is kept for a look."""
        place = self._places.pop(event, None)
        if place is not None:
            self._set_aside(place, why="failed")

    def _make_places(self) -> None:
        for place in (self._directory, self._taken, self._answers, self._aside):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _open_fifo(self) -> int:
        fifo = self._directory / "poke"
        if not fifo.is_fifo():
            fifo.unlink(missing_ok=True)
            os.mkfifo(fifo, 0o600)
        # For reading and writing: never waits for a hook, never ends when one leaves.
        return os.open(fifo, os.O_RDWR | os.O_NONBLOCK)

    def _be_found(self) -> None:
        self._write("agent", b"%d\n" % os.getpid())
        for mark in ("late", "asleep"):
            (self._directory / mark).unlink(missing_ok=True)

    def _is_unreleased(self, event: HookEvent) -> bool:
        place = self._places.get(event)
        return place is not None and place.parent == self._directory

    def _list(self, place: Path) -> list[Path]:
        """The files of events not given yet, in the order they were written.

        The clock of a file system may stand still for some milliseconds; process ids rarely go backwards.
        """
        given = {path.name for path in self._places.values() if path.parent == place}
        entries: list[tuple[int, int, str]] = []
        with os.scandir(place) as found:
            for entry in found:
                name = _NAME.fullmatch(entry.name)
                if name and entry.name not in given:
                    with suppress(FileNotFoundError):
                        entries.append((entry.stat().st_mtime_ns, int(name[1]), entry.name))
        return [place / name for _, _, name in sorted(entries)]

    def _read(self, path: Path) -> HookEvent | None:
        with suppress(FileNotFoundError):
            written = path.stat().st_mtime_ns
            event = parse_event_file(path.name, path.read_bytes(), written_ns=written)
            if event is not None:
                self._places[event] = path
                return event
            if time.time() - written / 1e9 > CUT_OFF_SECONDS:
                self._set_aside(path, why="cut-off")
        return None

    def _set_aside(self, path: Path, *, why: str) -> None:
        self.problems[why] += 1
        path.rename(self._aside / path.name)
        kept = sorted(self._aside.iterdir(), key=lambda path: path.stat().st_mtime_ns)
        for old in kept[:-ASIDE_KEPT]:
            old.unlink()

    def _sweep_answers(self) -> None:
        """A hook empties the answer it has printed."""
        for name in list(self._answered):
            path = self._answers / name
            state = path.stat() if path.is_file() else None
            printed = state is not None and state.st_size == 0
            if printed or state is None or time.time() - state.st_mtime > ANSWER_SECONDS:
                path.unlink(missing_ok=True)
                self._answered.discard(name)
                self._printed[name] = printed

    def _write(self, name: str, content: bytes) -> None:
        """Whole or not at all: hooks read these at any moment."""
        replace_file(self._directory / name, content)
