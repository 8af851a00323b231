"""The spool: hook events, one file each, and the files that tell hooks whether to wait for the watcher.

An event stays on disk until `forget` is called, so after a crash the next watcher finds the events that were
not handled. docs/protocol.md describes the exchange with hooks/chorus-hook.
"""

import os
import re
import stat
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from chorus.agents.hook_event import HookEvent, parse_event_file
from chorus.model.json_limit import MAX_JSON_BYTES
from chorus.system.files.atomic_file import replace_file
from chorus.system.files.private_files import make_private
from chorus.system.processes.processes import read_start

# A hook writes its event at once; a file still incomplete after this was cut off.
CUT_OFF_SECONDS = 10.0
# A hook reads its answer at once or never: after this time it has gone on.
ANSWER_TIMEOUT_SECONDS = 10.0
# Includes the line about the hook. The call of a larger event is still read from the transcript.
MAX_EVENT_BYTES = MAX_JSON_BYTES + 2**16
# Event files that could not be read or handled are kept for inspection: only the newest.
MAX_QUARANTINED = 50
# This file exists while a hook's reply may have to carry a notice to a session.
NOTICES = "notices"
# A file with this prefix and a client's process id exists while that client is alone in its work tree.
ALONE = "alone."
# The watcher deletes files with this prefix. So a process can create one to see whether the watcher works.
_PING = "ping."
# The name of an event file: the hook's process id and a counter; in `taken` also the time.
_EVENT_NAME = re.compile(r"(\d+)\.\d+(?:\.\d+)?")


@dataclass(slots=True)
class HeldHook:
    """A hook that waits for an answer. If the watcher dies, the pipe closes and the hook goes on."""

    _fifo: Path
    _descriptor: int

    def answer(self, answer: dict[str, Any]) -> None:
        os.write(self._descriptor, orjson.dumps(answer) + b"\n")

    def close(self) -> None:
        """Close the pipe. A hook that still waits goes on without an answer."""
        os.close(self._descriptor)
        self._fifo.unlink(missing_ok=True)


class Spool:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._taken = directory / "taken"
        self._answers = directory / "answers"
        self._quarantine = directory / "aside"
        self._wakeup = -1
        self._files: dict[HookEvent, str] = {}  # the files of events that were read and not forgotten
        self._unreleased: set[HookEvent] = set()  # of these, the events that were not released yet
        # Paths as text: `Path` objects would take longer than the work done with these paths.
        self._poke = str(directory / "poke")
        self._late = str(directory / "late")
        self._needed = [
            str(path) for path in (self._taken, self._answers, self._quarantine, directory / "watcher")
        ]
        self._unfinished: list[HookEvent] = []  # left by a watcher that ended before it had handled them
        self._answered: set[str] = set()
        self._alone: frozenset[int] = frozenset()  # clients that need not report an edit before it ends
        self._printed: dict[str, bool] = {}
        self.problems: Counter[str] = Counter()

    def open(self) -> None:
        """Start serving hooks. The caller must hold the watcher's lock."""
        self._make_directories()
        for left in (*self._answers.iterdir(), *self._directory.glob(f"{ALONE}*")):
            left.unlink()
        self._wakeup = self._open_wakeup()
        unfinished = [self._read(self._taken, name) for name in self._list(self._taken)]
        self._unfinished = [event for event in unfinished if event is not None]
        self._announce()

    def is_intact(self) -> bool:
        """Return whether hooks find all files that they need to reach this watcher."""
        try:
            wakeup = os.stat(self._poke)  # noqa: PTH116  hot path
        except OSError:
            return False
        return os.path.samestat(os.fstat(self._wakeup), wakeup) and all(map(os.path.exists, self._needed))

    def recreate(self) -> None:
        """Recreate the files that another program removed. `fileno` changes."""
        self._make_directories()
        os.close(self._wakeup)
        self._wakeup = self._open_wakeup()
        self._alone = frozenset()
        self._announce()

    def close(self, *, asleep: bool) -> None:
        """Stop serving hooks. With `asleep`, hooks do not start another watcher."""
        self.set_alone(frozenset())
        if asleep:
            self._write("asleep", b"")
        if self.is_intact():  # otherwise the file may be another watcher's
            (self._directory / "watcher").unlink(missing_ok=True)
        os.close(self._wakeup)

    def fileno(self) -> int:
        """Return a descriptor that is readable when a hook has written an event."""
        return self._wakeup

    def drain_wakeups(self) -> None:
        """Make `fileno` unreadable until the next event."""
        with suppress(BlockingIOError):
            while os.read(self._wakeup, 1 << 16):
                pass

    def take(self) -> list[HookEvent]:
        """Return the complete events that were not returned before, oldest first.

        Call it also every few seconds: a hook that is killed midway may leave an event without waking the
        watcher.
        """
        self.drain_wakeups()
        # Before the listing: a hook that finds `late` does not wait, and its event must be in this listing.
        with suppress(FileNotFoundError):
            os.unlink(self._late)  # noqa: PTH108  hot path
        found = [self._read(self._directory, name) for name in self._list(self._directory)]
        unfinished, self._unfinished = self._unfinished, []
        if self._answered:
            self._sweep_answers()
        return unfinished + [event for event in found if event is not None]

    def has_new(self) -> bool:
        """Return whether hooks have left events that `take` has not returned. Any thread may call it."""
        try:
            return bool(self._list(self._directory))
        except FileNotFoundError:
            return False

    def is_hook_waiting(self, event: HookEvent) -> bool:
        """Return whether the client still waits for this hook.

        A client that waits for the hook of an edit has not made the edit yet. So if the watcher has read a
        file and then gets True, it has read the file as it was before the edit.
        """
        if event not in self._unreleased:
            return False
        return read_start(int(event.name.partition(".")[0])) is not None

    def release(self, event: HookEvent, answer: dict[str, Any] | None = None) -> None:
        """Let the hook go on, with an answer if given. The event stays until `forget`."""
        if answer is not None:
            self._write(f"answers/{event.name}", orjson.dumps(answer) + b"\n")
            self._answered.add(event.name)
        if event in self._unreleased:
            taken = f"{self._taken}/{event.name}.{event.written_ns}"
            with suppress(FileNotFoundError):  # another program removed it, which releases the hook as well
                os.rename(self._files[event], taken)  # noqa: PTH104  hot path
            self._files[event] = taken
            self._unreleased.discard(event)

    def expect_answers(self, expected: bool) -> None:
        """Set whether hooks that usually do not wait for an answer should wait for one."""
        if expected:
            self._write(NOTICES, b"")
        else:
            (self._directory / NOTICES).unlink(missing_ok=True)

    def set_alone(self, clients: frozenset[int]) -> None:
        """Set the clients, as process ids, that are alone in their work tree.

        Such a client need not report an edit before the edit ends.
        """
        for pid in self._alone - clients:
            (self._directory / f"{ALONE}{pid}").unlink(missing_ok=True)
        for pid in clients - self._alone:
            self._write(f"{ALONE}{pid}", b"")
        self._alone = clients

    def hold(self, event: HookEvent) -> HeldHook:
        """Let the hook wait for an answer that may come later, or never."""
        fifo = self._answers / event.name
        fifo.unlink(missing_ok=True)
        os.mkfifo(fifo, 0o600)
        held = HeldHook(fifo, os.open(fifo, os.O_RDWR | os.O_NONBLOCK))
        self.release(event)
        return held

    def take_printed_answers(self) -> dict[str, bool]:
        """Return which answers were printed, by `HookEvent.name`, and forget them.

        True: a hook has printed the answer. False: the answer is too old or was removed, and will not be
        printed any more. Answers that may still be printed are not in the result.
        """
        self._sweep_answers()
        printed, self._printed = self._printed, {}
        return printed

    def forget(self, event: HookEvent) -> None:
        """Release the hook, and delete the event because it was handled."""
        self.release(event)
        path = self._files.pop(event, None)
        if path is not None:
            with suppress(FileNotFoundError):
                os.unlink(path)  # noqa: PTH108  hot path

    def quarantine(self, event: HookEvent) -> None:
        """Release the hook, and keep the event's file for inspection because handling it failed."""
        path = self._files.pop(event, None)
        self._unreleased.discard(event)
        if path is not None:
            self._move_to_quarantine(Path(path), why="failed")

    def _make_directories(self) -> None:
        for directory in (self._directory, self._taken, self._answers, self._quarantine):
            make_private(directory)

    def _open_wakeup(self) -> int:
        fifo = self._directory / "poke"
        if not fifo.is_fifo():
            fifo.unlink(missing_ok=True)
            os.mkfifo(fifo, 0o600)
        # For reading and writing: so opening does not wait for a hook to open the pipe, and reading does not
        # come to an end when a hook closes it.
        return os.open(fifo, os.O_RDWR | os.O_NONBLOCK)

    def _announce(self) -> None:
        self._write("watcher", b"%d\n" % os.getpid())
        for mark in ("late", "asleep", "waking"):
            (self._directory / mark).unlink(missing_ok=True)

    def _list(self, directory: Path) -> list[str]:
        """Return the names of the event files that were not returned yet, oldest first. Delete ping files.

        A file system's clock may be coarse. Files with the same time are sorted by process id, which rarely
        goes backwards.
        """
        returned = {event.name for event in tuple(self._unreleased)}  # a copy: threads may call `has_new`
        entries: list[tuple[int, int, str]] = []
        with os.scandir(directory) as found:
            for entry in found:
                name = _EVENT_NAME.fullmatch(entry.name)
                if name is None and entry.name.startswith(_PING):
                    with suppress(FileNotFoundError):
                        os.unlink(entry.path)  # noqa: PTH108  hot path
                if name and entry.name not in returned:
                    with suppress(FileNotFoundError):
                        entries.append((entry.stat().st_mtime_ns, int(name[1]), entry.name))
        return [name for _, _, name in sorted(entries)]

    def _read(self, directory: Path, name: str) -> HookEvent | None:
        path = f"{directory}/{name}"
        with suppress(FileNotFoundError):
            state = os.lstat(path)
            if not stat.S_ISREG(state.st_mode) or state.st_size > MAX_EVENT_BYTES:
                self._move_to_quarantine(Path(path), why="not-an-event")
                return None
            written = state.st_mtime_ns
            with open(path, "rb", 0) as file:  # noqa: PTH123  hot path
                event = parse_event_file(name, file.readall(), written_ns=written)
            if event is not None:
                self._files[event] = path
                if directory == self._directory:
                    self._unreleased.add(event)
                return event
            if time.time() - written / 1e9 > CUT_OFF_SECONDS:
                self._move_to_quarantine(Path(path), why="cut-off")
        return None

    def _move_to_quarantine(self, path: Path, *, why: str) -> None:
        self.problems[why] += 1
        path.rename(self._quarantine / path.name)
        kept = sorted(self._quarantine.iterdir(), key=lambda path: path.stat().st_mtime_ns)
        for old in kept[:-MAX_QUARANTINED]:
            old.unlink()

    def _sweep_answers(self) -> None:
        """Delete the answers that were printed or are too old, and remember which were printed.

        When a hook has printed an answer, it empties the answer's file.
        """
        for name in list(self._answered):
            path = self._answers / name
            state = path.stat() if path.is_file() else None
            printed = state is not None and state.st_size == 0
            if printed or state is None or time.time() - state.st_mtime > ANSWER_TIMEOUT_SECONDS:
                path.unlink(missing_ok=True)
                self._answered.discard(name)
                self._printed[name] = printed

    def _write(self, name: str, content: bytes) -> None:
        """Replace a file atomically, because hooks may read it at any moment."""
        replace_file(self._directory / name, content, mode=0o600)
