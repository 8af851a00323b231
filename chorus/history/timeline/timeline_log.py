"""Timeline commits as `git log` prints them.

`LogScanner` reads lazily from the newest end, and parses few records: parsing takes ten times as long as
searching the text. A line that begins with the name of a Chorus trailer is taken for that trailer.
"""

import os
import re
import subprocess
from collections.abc import Generator, Iterator, Sequence
from typing import NamedTuple

from chorus.history.records import Record, RecordKind, parse_lane_commit, parse_record
from chorus.model.commits import commit_message as message
from chorus.model.ids import Oid
from chorus.store.git_process import Git, GitFailed
from chorus.store.loose_refs import HIDDEN_PREFIX
from chorus.system.garbage_collection import garbage_collection_paused

REF_PREFIX = HIDDEN_PREFIX
# Where timelines were until they were hidden from `git log --all`.
OLD_REF_PREFIX = f"refs/{HIDDEN_PREFIX}"
# Commit, tree, seconds, message.
FORMAT = "%H %T %ct%n%B"
LOG = ("log", "--first-parent", "-z", "--encoding=UTF-8", f"--format={FORMAT}")
# How much of git's output is read at a time: about 80 records.
CHUNK_BYTES = 2**16

_NAMES = re.compile(rf"\n((?:{message.ACTION}|{message.NUMBER}|{message.CONTAINED}): .+)".encode())
_TRAILER = re.compile(rf"\n({message.PREFIX}[A-Za-z]+): (.+)")
_FORMAT = f"\n{message.FORMAT_VERSION}: {message.FORMAT}\n".encode()
_REVERTS = f"\n{message.REVERTS}: ".encode()
_LANE = f"\n{message.LANE}: ".encode()
_OID_LENGTH = 40


class TimelineCommit(NamedTuple):
    """A commit of the timeline with its record. `seconds`: when it was written."""

    oid: Oid
    tree: Oid
    seconds: int
    record: Record


class TimelineUnreadable(GitFailed):
    """The timeline cannot be read lazily: it is missing or cut off, or the answer needs all of it."""


def read_timeline(git: Git, tip: Oid) -> list[TimelineCommit]:
    with garbage_collection_paused():
        try:
            return [parse_log_item(item.decode()) for item in read_log_items(git, tip)][::-1]
        except TimelineUnreadable:
            # Run git once more, to raise its own error message.
            items = git.run(*LOG, tip, "--").decode().split("\0")[:-1]
            return [parse_log_item(item) for item in items][::-1]


def read_log_items(git: Git, ref: str) -> Generator[bytes, None, None]:
    """Yield the commits unparsed, newest first. Closing the generator ends git."""
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
    header, _, text = item.partition("\n")
    oid, tree, seconds = header.split(" ")
    return TimelineCommit(Oid(oid), Oid(tree), int(seconds), parse_record(text))


class LogScanner:
    def __init__(self, git: Git, ref: str) -> None:
        self._source = read_log_items(git, ref)
        self._items: list[bytes] = []
        self._parsed: dict[int, TimelineCommit] = {}
        self._positions: dict[bytes, int] = {}  # by commit, and by the lines that name a record
        self._reverting: list[int] = []
        self._reverting_done = 0  # how many of these reverts are in `reverted`
        # The reverted actions. All reverts newer than the last record returned are included.
        self.reverted: set[str] = set()

    def close(self) -> None:
        self._source.close()

    def record(self, position: int) -> TimelineCommit | None:
        """Return the commit at a position (0 is the newest); None if there are fewer."""
        while position >= len(self._items):
            if not self._read_next():
                return None
        self._apply_reverts_above(position)
        return self._parse(position)

    def find(self, *names: str) -> TimelineCommit | None:
        """Return the commit with one of these ids, or with one of these trailers; None if there is none."""
        keys = [name.encode("utf-8", "surrogateescape") for name in names]
        while True:
            positions = [self._positions[key] for key in keys if key in self._positions]
            if positions:
                return self.record(min(positions))
            if not self._read_next():
                return None

    def position(self, recorded: TimelineCommit) -> int:
        return self._positions[recorded.oid.encode()]

    def containing(self, texts: Sequence[bytes]) -> Iterator[TimelineCommit]:
        """Every commit with one of these texts in its message, newest first."""
        position = 0
        while position < len(self._items) or self._read_next():
            if any(text in self._items[position] for text in texts):
                yield self._parse(position)
            position += 1

    def on_lanes(self) -> Iterator[TimelineCommit]:
        """Yield every action that is on any lane, newest first. Text and files may be missing."""
        position = 0
        while position < len(self._items) or self._read_next():
            if _LANE in self._items[position]:
                self._apply_reverts_above(position)
                yield parse_brief(self._items[position].decode())
            position += 1

    def _read_next(self) -> bool:
        item = next(self._source, None)
        if item is None:
            return False
        position = len(self._items)
        self._items.append(item)
        if _FORMAT not in item:
            self._parse(position)  # raises
        self._positions |= dict.fromkeys([item[:_OID_LENGTH], *_NAMES.findall(item)], position)
        if _REVERTS in item:
            self._reverting.append(position)
        return True

    def _parse(self, position: int) -> TimelineCommit:
        if position not in self._parsed:
            self._parsed[position] = parse_log_item(self._items[position].decode())
        return self._parsed[position]

    def _apply_reverts_above(self, position: int) -> None:
        """Add to `reverted` the actions reverted by records newer than the one at `position`.

        A revert that was itself reverted does not count.
        """
        while (
            self._reverting_done < len(self._reverting) and self._reverting[self._reverting_done] < position
        ):
            record = self._parse(self._reverting[self._reverting_done]).record
            self._reverting_done += 1
            if record.action not in self.reverted:
                self.reverted.update(record.reverts)


def parse_brief(item: str) -> TimelineCommit:
    """Parse the record of an action on a lane. The result may lack the text and the files."""
    trailers = item[item.rindex("\n\n") + 1 :]
    if '"' in trailers:
        return parse_log_item(item)  # some values are JSON strings
    pairs = _TRAILER.findall(trailers)
    values = dict(pairs)
    header, _, _ = item.partition("\n")
    oid, tree, seconds = header.split(" ")
    record = Record(
        RecordKind(values[message.KIND]),
        "",
        number=int(values[message.NUMBER]),
        action=values[message.ACTION],
        tool=values.get(message.TOOL),
        session=values.get(message.SESSION),
        lane_commit=parse_lane_commit(values),
        reverts=(values[message.REVERTS],) if message.REVERTS in values else (),
        context=tuple(value for key, value in pairs if key == message.CONTEXT),
    )
    return TimelineCommit(Oid(oid), Oid(tree), int(seconds), record)
