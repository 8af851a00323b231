"""Decide which JSON objects found in a stream are documents, and which documents are new.

A document is a whole object that is not inside another one. If its text may differ from what was printed, it
is passed on only on request, marked as inexact.
"""

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from chorus.agents.claude_code.terminal.json_objects import parse_object, parse_unusual_object
from chorus.agents.claude_code.terminal.line_wrap import AMBIGUOUS, JoinedRows, LineWrap
from chorus.agents.interface import Document
from chorus.model.lru import LruDict

# Text, value, and whether the text is certainly what was printed.
Give = Callable[[bytes, dict[str, Any], bool], None]


@dataclass(frozen=True, slots=True)
class ObjectLocation:
    """The position of an object's first row, the object's start in that row, and its last row."""

    position: int
    start: int
    last_row: bytes


@dataclass(slots=True)
class BrokenObject:
    """An object that broke off before row `until`. Its rows are read again for other objects.

    A row is identified by its position in bytes from the start of the source.
    """

    until: int = 0
    # Rows that begin with an object inside the broken one: a part of it, not a document.
    inner_rows: set[int] = field(default_factory=set)
    # For each row: the start of the next object in it, because the broken one could not continue there.
    next_starts: dict[int, int] = field(default_factory=dict)
    # Objects that are either the last part of the broken one or follow it: (row, start).
    disputed: set[tuple[int, int]] = field(default_factory=set)
    # Starts of objects that broke off: (row, start).
    abandoned: set[tuple[int, int]] = field(default_factory=set)

    def is_sure(self, row: int, start: int) -> bool:
        """Return whether an object at this place cannot be a part of the object that broke off."""
        return row >= self.until or (self.next_starts.get(row) == start and (row, start) not in self.disputed)

    def abandon(self, row: int, start: int) -> None:
        """Note that an object broke off that started at this place. No object is read from there again."""
        self.abandoned.add((row, start))
        if self.next_starts.get(row) == start:
            del self.next_starts[row]

    def add_next_start(self, row: int, start: int, *, sure: bool) -> None:
        """Note that another object starts at this place. It is read when the row is read again.

        `sure`: the other object is a document. If it is not sure, the other object may also be the last part
        of the object that broke off. It is then ignored if another start in the row is known.
        """
        if sure:
            self.next_starts[row] = start
            self.disputed.discard((row, start))
        elif row not in self.next_starts:
            self.next_starts[row] = start
            self.disputed.add((row, start))
            self.inner_rows.discard(row)


class DocumentCollector:
    def __init__(self, wrap: LineWrap, give: Give, problems: Counter[str], *, allow_inexact: bool) -> None:
        self.give = give
        self.broken = BrokenObject()
        self._wrap = wrap
        self._problems = problems
        self._doubtful = allow_inexact
        # The rows of noise right above the current row, as many as `LineWrap.looks_full` needs.
        self._above: deque[bytes] = deque(maxlen=2)
        self._started = False

    @property
    def expects_documents(self) -> bool:
        """Whether an object that fills a row can only be a document."""
        return self._started and not self._above and not self.broken.until

    def on_object_start(self) -> None:
        """Note that an object has started. Later rows without objects count as noise, not as cut off."""
        self._started = True

    def add_noise(self, row: bytes, position: int) -> None:
        if not row or row.isspace():
            self._above.clear()
            return
        self._above.append(row)
        if position >= self.broken.until:  # else it is counted with the broken object
            cut = not self._started and row.endswith(b"}") and not row.startswith(b"{")
            self._problems["cut-off" if cut else "noise"] += 1

    def add_row_object(self, text: bytes, place: ObjectLocation) -> None:
        value = parse_object(text)
        if value is None:
            value = parse_unusual_object(text)
        if value is None:
            self._problems["malformed"] += 1
        else:
            self.add_decoded(text, value, place)

    def add_joined_object(self, joined: JoinedRows | None, place: ObjectLocation) -> None:
        if self._is_disputed(place) and (joined is None or joined.problem is not None):
            return
        if joined is None:
            self._problems["unknown-width"] += 1
            self._above.clear()
            return
        self._wrap.learn(joined)
        text = joined.text[place.start :]
        if joined.problem is None:
            self.add_row_object(text, place)
            return
        self._problems[joined.problem] += 1
        value = parse_object(text) if joined.problem == AMBIGUOUS and self._doubtful else None
        if value is not None:
            self.add_decoded(text, value, place, exact=False)

    def add_decoded(
        self, text: bytes, value: dict[str, Any], place: ObjectLocation, *, exact: bool = True
    ) -> None:
        self._started = True
        if not self._is_part(value, place):
            self._above.clear()
            self.give(text, value, exact)

    def _is_part(self, value: dict[str, Any], place: ObjectLocation) -> bool:
        """Return whether the object may be a part of a larger object that is not complete."""
        if isinstance(value.get("uuid"), str):
            return False  # only events of the client have one
        if self._is_disputed(place):
            return True
        if place.position < self.broken.until:
            # It was first read as a part of the broken object. Unless that is now excluded, it is in doubt.
            doubt = not self.broken.is_sure(place.position, place.start)
        else:
            doubt = self._wrap.looks_full(self._above, place.last_row)
        if doubt:
            self._problems[AMBIGUOUS] += 1
        return doubt

    def _is_disputed(self, place: ObjectLocation) -> bool:
        """Return whether the object may be the last part of an object that broke off."""
        return (place.position, place.start) in self.broken.disputed


# An event takes at least one row, and no scrollback in use has this many.
DEFAULT_LIMIT = 100_000


class SeenDocuments:
    """Recognises documents that were seen before, in overlapping captures or in a capture and a pipe.

    A document is identified by its uuid or, if it has none, by its exact text. Only the last `limit`
    documents are remembered.
    """

    def __init__(self, *, limit: int = DEFAULT_LIMIT) -> None:
        self._known: LruDict[str | bytes, bool] = LruDict(limit)

    def is_new(self, document: Document) -> bool:
        """Return whether the document is new, and remember it."""
        key = _key(document)
        if self._known.touch(key):
            return False
        self._known[key] = True
        return True


def _key(document: Document) -> str | bytes:
    uuid = document.value.get("uuid")
    if isinstance(uuid, str) and uuid:
        return uuid
    return blake2b(document.text, digest_size=16).digest()
