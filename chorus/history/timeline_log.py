"""The chain of timeline commits, as `git log` prints it.

Receives where it begins. Gives its records: all of them, oldest first, or one by one from the newest end, at
the cost of those that are taken. Never writes.
"""

import gc
import os
import re
import subprocess
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from chorus.history.records import Record, RecordKind, parse_lane_commit, parse_record
from chorus.model import commit_message as message
from chorus.model.ids import Oid
from chorus.store.git_process import Git, GitFailed

PREFIX = "refs/chorus/timeline/"
# Object, tree, seconds, message.
FORMAT = "%H %T %ct%n%B"
LOG = ("log", "--first-parent", "-z", "--encoding=UTF-8", f"--format={FORMAT}")
# What is read of git's output at a time: some 80 records.
CHUNK_BYTES = 2**16


class TimelineCommit(NamedTuple):
    """A record and the timeline commit that holds it. `seconds`: when it was written."""

    oid: Oid
    tree: Oid
    seconds: int
    record: Record


class TimelineUnreadable(GitFailed):
    """The chain alone gives no answer: it is not there, cannot be printed to its end, or says too little."""


def read_timeline(git: Git, tip: Oid) -> list[TimelineCommit]:
    """Every record, oldest first: parsed while git still reads what is older."""
    with garbage_collection_paused():
        try:
            return [parse_log_item(item.decode()) for item in read_log_items(git, tip)][::-1]
        except TimelineUnreadable:
            # Once more, for git's own words about it.
            items = git.run(*LOG, tip, "--").decode().split("\0")[:-1]
            return [parse_log_item(item) for item in items][::-1]


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Nothing of a history that is being read is garbage: looking for some takes a third of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def read_log_items(git: Git, ref: str) -> Generator[bytes, None, None]:
    """Record after record, unparsed, from the newest on. Who has enough closes it: git is ended then."""
    process = git.start(*LOG, ref, "--")
    try:
        yield from _split(process)
        if process.wait():
            raise TimelineUnreadable(f"`git log {ref}` failed with exit code {process.returncode}")
    finally:
        process.kill()
        process.communicate()


def _split(process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    assert process.stdout is not None
    rest = b""
    while chunk := os.read(process.stdout.fileno(), CHUNK_BYTES):
        *items, rest = (rest + chunk).split(b"\0")
        yield from items


def parse_log_item(item: str) -> TimelineCommit:
    header, _, message = item.partition("\n")
    oid, tree, seconds = header.split(" ")
    return TimelineCommit(Oid(oid), Oid(tree), int(seconds), parse_record(message))


_NAMES = re.compile(rf"\n((?:{message.ACTION}|{message.NUMBER}|{message.CONTAINED}): .+)".encode())
_TRAILER = re.compile(rf"\n({message.PREFIX}[A-Za-z]+): (.+)")
_FORMAT = f"\n{message.FORMAT_VERSION}: {message.FORMAT}\n".encode()
_REVERTS = f"\n{message.REVERTS}: ".encode()
_LANE = f"\n{message.LANE}: ".encode()
_OID_LENGTH = 40


class LogScanner:
    def __init__(self, git: Git, ref: str) -> None:
        self._source = read_log_items(git, ref)
        self._items: list[bytes] = []
        self._parsed: dict[int, TimelineCommit] = {}
        self._places: dict[bytes, int] = {}  # by the lines that name a record, and by its commit
        self._reverting: list[int] = []
        self._known = 0  # how many of those are in `reverted`
        # Grows with what is asked for: at least what records newer than the last one given took back.
        self.reverted: set[str] = set()

    def close(self) -> None:
        self._source.close()

    def record(self, place: int) -> TimelineCommit | None:
        """The record at a place, 0 being the newest."""
        while place >= len(self._items):
            if not self._read_on():
                return None
        self._know_above(place)
        return self._parse(place)

    def find(self, *names: str) -> TimelineCommit | None:
        """The newest record with one of these commits, or with one of these lines in its message."""
        keys = [name.encode("utf-8", "surrogateescape") for name in names]
        while True:
            places = [self._places[key] for key in keys if key in self._places]
            if places:
                return self.record(min(places))
            if not self._read_on():
                return None

    def place(self, recorded: TimelineCommit) -> int:
        return self._places[recorded.oid.encode()]

    def holding(self, texts: Sequence[bytes]) -> Iterator[TimelineCommit]:
        """Every record with one of these texts in its message, newest first."""
        place = 0
        while place < len(self._items) or self._read_on():
            if any(text in self._items[place] for text in texts):
                yield self._parse(place)
            place += 1

    def on_lanes(self) -> Iterator[TimelineCommit]:
        """Every record of an action, newest first, with what lanes are counted by and no more."""
        place = 0
        while place < len(self._items) or self._read_on():
            if _LANE in self._items[place]:
                self._know_above(place)
                yield parse_brief(self._items[place].decode())
            place += 1

    def _read_on(self) -> bool:
        item = next(self._source, None)
        if item is None:
            return False
        place = len(self._items)
        self._items.append(item)
        if _FORMAT not in item:
            self._parse(place)  # raises
        self._places |= dict.fromkeys([item[:_OID_LENGTH], *_NAMES.findall(item)], place)
        if _REVERTS in item:
            self._reverting.append(place)
        return True

    def _parse(self, place: int) -> TimelineCommit:
        if place not in self._parsed:
            self._parsed[place] = parse_log_item(self._items[place].decode())
        return self._parsed[place]

    def _know_above(self, place: int) -> None:
        """A revert that is itself taken back counts no more: so they are taken in from the newest on."""
        while self._known < len(self._reverting) and self._reverting[self._known] < place:
            record = self._parse(self._reverting[self._known]).record
            self._known += 1
            if record.action not in self.reverted:
                self.reverted.update(record.reverts)


def parse_brief(item: str) -> TimelineCommit:
    """The record of an action on a lane, without its text and its files."""
    trailers = item[item.rindex("\n\n") + 1 :]
    if '"' in trailers:
        return parse_log_item(item)  # values that stand there in another form
    said = dict(_TRAILER.findall(trailers))
    header, _, _ = item.partition("\n")
    oid, tree, seconds = header.split(" ")
    record = Record(
        RecordKind(said[message.KIND]),
        "",
        number=int(said[message.NUMBER]),
        action=said[message.ACTION],
        tool=said.get(message.TOOL),
        session=said.get(message.SESSION),
        lane_commit=parse_lane_commit(said),
        reverts=(said[message.REVERTS],) if message.REVERTS in said else (),
    )
    return TimelineCommit(Oid(oid), Oid(tree), int(seconds), record)
