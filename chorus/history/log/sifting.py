"""The timeline's records as git prints them, newest first: read as far as needed, parsed one by one.

Receives where the chain begins. Finds a record by a line of its message, which costs git's reading and little
more: parsing a record takes ten times as long as looking at it. A line that begins as our trailers do is one:
nothing else in a message of the timeline begins so. Never writes.
"""

import re
from collections.abc import Iterator, Sequence

from chorus.history.chain import Recorded, parse_logged, read_items
from chorus.history.records import Kind, Record, parse_placement
from chorus.model import commit_message as message
from chorus.model.ids import Oid
from chorus.store.git_process import Git

_NAMES = re.compile(rf"\n((?:{message.ACTION}|{message.NUMBER}|{message.CONTAINED}): .+)".encode())
_TRAILER = re.compile(rf"\n({message.PREFIX}[A-Za-z]+): (.+)")
_FORMAT = f"\n{message.FORMAT_VERSION}: {message.FORMAT}\n".encode()
_REVERTS = f"\n{message.REVERTS}: ".encode()
_LANE = f"\n{message.LANE}: ".encode()
_OID_LENGTH = 40


class Sieve:
    def __init__(self, git: Git, ref: str) -> None:
        self._source = read_items(git, ref)
        self._items: list[bytes] = []
        self._parsed: dict[int, Recorded] = {}
        self._places: dict[bytes, int] = {}  # by the lines that name a record, and by its commit
        self._reverting: list[int] = []
        self._known = 0  # how many of those are in `reverted`
        # Grows with what is asked for: at least what records newer than the last one given took back.
        self.reverted: set[str] = set()

    def close(self) -> None:
        self._source.close()

    def record(self, place: int) -> Recorded | None:
        """The record at a place, 0 being the newest."""
        while place >= len(self._items):
            if not self._read_on():
                return None
        self._know_above(place)
        return self._parse(place)

    def find(self, *names: str) -> Recorded | None:
        """The newest record with one of these commits, or with one of these lines in its message."""
        keys = [name.encode("utf-8", "surrogateescape") for name in names]
        while True:
            places = [self._places[key] for key in keys if key in self._places]
            if places:
                return self.record(min(places))
            if not self._read_on():
                return None

    def place(self, recorded: Recorded) -> int:
        return self._places[recorded.oid.encode()]

    def holding(self, texts: Sequence[bytes]) -> Iterator[Recorded]:
        """Every record with one of these texts in its message, newest first."""
        place = 0
        while place < len(self._items) or self._read_on():
            if any(text in self._items[place] for text in texts):
                yield self._parse(place)
            place += 1

    def on_lanes(self) -> Iterator[Recorded]:
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

    def _parse(self, place: int) -> Recorded:
        if place not in self._parsed:
            self._parsed[place] = parse_logged(self._items[place].decode())
        return self._parsed[place]

    def _know_above(self, place: int) -> None:
        """A revert that is itself taken back counts no more: so they are taken in from the newest on."""
        while self._known < len(self._reverting) and self._reverting[self._known] < place:
            record = self._parse(self._reverting[self._known]).record
            self._known += 1
            if record.action not in self.reverted:
                self.reverted.update(record.reverts)


def parse_brief(item: str) -> Recorded:
    """The record of an action on a lane, without its text and its files."""
    trailers = item[item.rindex("\n\n") + 1 :]
    if '"' in trailers:
        return parse_logged(item)  # values that stand there in another form
    said = dict(_TRAILER.findall(trailers))
    header, _, _ = item.partition("\n")
    oid, tree, seconds = header.split(" ")
    record = Record(
        Kind(said[message.KIND]),
        "",
        number=int(said[message.NUMBER]),
        action=said[message.ACTION],
        tool=said.get(message.TOOL),
        session=said.get(message.SESSION),
        placement=parse_placement(said),
        reverts=(said[message.REVERTS],) if message.REVERTS in said else (),
    )
    return Recorded(Oid(oid), Oid(tree), int(seconds), record)
