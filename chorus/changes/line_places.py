"""The places of a file's lines, followed through its versions.

Two versions alone do not show which line became which: if one line became two, either may be the added line.
A line keeps its place when it is rewritten. A removed line gets its place back when its text returns there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from chorus.changes.diff import Hunk, hunks_of_lines


class LinePair(NamedTuple):
    """The indexes of the old and the new line at one place. An index is None if there is no such line."""

    old: int | None
    new: int | None


@dataclass(slots=True)
class _Place:
    texts: set[bytes]  # every text it has held
    text: bytes | None  # the text it holds now; None: its line was removed
    index: int = -1  # its position among all places


class LinePlaces(Mapping[bytes, int]):
    """The places of a file's lines, as a mapping from texts to positions.

    A text that several places have held is not in the mapping. Positions are valid until the next version is
    added.
    """

    def __init__(self) -> None:
        self._places: list[_Place] = []
        self._live: list[_Place] = []  # the places that hold a line now
        self._lines: list[bytes] = []  # the texts in `_live`
        self._by_text: dict[bytes, _Place | None] = {}  # None: several places have held it

    def __getitem__(self, text: bytes) -> int:
        place = self._by_text[text]
        if place is None:
            raise KeyError(text)
        return place.index

    def __iter__(self) -> Iterator[bytes]:
        return (text for text, place in self._by_text.items() if place is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def copy(self) -> "LinePlaces":
        found = LinePlaces()
        found._places = [_Place(set(place.texts), place.text, place.index) for place in self._places]
        found._live = [found._places[place.index] for place in self._live]
        found._lines = self._lines
        found._by_text = {
            text: None if place is None else found._places[place.index]
            for text, place in self._by_text.items()
        }
        return found

    def holds(self, lines: Sequence[bytes]) -> bool:
        return self._lines == _line_keys(lines)

    def move(self, lines: Sequence[bytes]) -> None:
        """Add the next version of the file."""
        new = _line_keys(lines)
        found = hunks_of_lines(self._lines, new)
        if not found:
            return
        # All hunks use the positions of the version before. They are applied from the last to the first, so
        # that an insertion does not shift the places of hunks that are still to be applied.
        plans = [self._plan(hunk, new) for hunk in found]
        for own, texts, known, low in reversed(plans):
            self._put(own, texts, known, low)
        for index, place in enumerate(self._places):
            place.index = index
        self._live = [place for place in self._places if place.text is not None]
        self._lines = new

    def _plan(
        self, hunk: Hunk, new: Sequence[bytes]
    ) -> tuple[list[int], Sequence[bytes], list[int | None], int]:
        own = [place.index for place in self._live[hunk.before_start : hunk.before_end]]
        low = self._live[hunk.before_start - 1].index if hunk.before_start else -1
        at_end = hunk.before_end == len(self._live)
        high = len(self._places) if at_end else self._live[hunk.before_end].index
        texts = new[hunk.after_start : hunk.after_end]
        # A line whose text was in this hunk's range before returns to its old place.
        known = (self.get(text) for text in texts)
        return own, texts, [at if at is not None and low < at < high else None for at in known], low

    def _put(self, own: Sequence[int], texts: Sequence[bytes], known: Sequence[int | None], low: int) -> None:
        """Give the places of one hunk their new texts, and insert places for lines without a place.

        All places are given as indexes. `own`: the hunk's current places. `known`: for each text, its former
        place, if known. `low`: the place before the hunk.
        """
        added: list[tuple[int, _Place]] = []
        last = low
        for old, new in pair_lines(own, known):
            if old is not None:
                last = own[old]
            elif new is not None and known[new] is not None:
                last = known[new] or 0
            else:
                assert new is not None
                added.append((last + 1, _Place(set(), None)))
                self._fill(added[-1][1], texts[new])
                continue
            place = self._places[last]
            if new is None:
                place.text = None
            else:
                self._fill(place, texts[new])
        for index, place in reversed(added):
            self._places.insert(index, place)

    def _fill(self, place: _Place, text: bytes) -> None:
        place.text = text
        place.texts.add(text)
        if self._by_text.setdefault(text, place) is not place:
            self._by_text[text] = None


def line_key(line: bytes) -> bytes:
    """Return the line without its CR: line ends on disk and in git may differ."""
    return line.removesuffix(b"\r")


def _line_keys(lines: Sequence[bytes]) -> list[bytes]:
    """Return the `line_key` of every line, without a function call for each."""
    return [line.removesuffix(b"\r") for line in lines]


def find_positions(lines: Sequence[bytes], positions: Mapping[bytes, int]) -> list[int | None]:
    return [positions.get(line_key(line)) for line in lines]


def pair_lines(old: Sequence[int | None], new: Sequence[int | None]) -> list[LinePair]:
    """Pair old lines with the new lines that replaced them. `old` and `new` are the positions of the lines.

    Lines with the same position are a pair. Between two such pairs, the lines are paired in order. Exception:
    if the positions of all these lines are known, the lines have no partner. If the positions of either side
    are not ascending, no positions are used.
    """
    if not (_is_rising(old) and _is_rising(new)):
        old, new = [None] * len(old), [None] * len(new)
    partners = {position: index for index, position in enumerate(new) if position is not None}
    pairs = [
        LinePair(index, partners[position])
        for index, position in enumerate(old)
        if position is not None and position in partners
    ]
    found: list[LinePair] = []
    start, new_start = 0, 0
    for pair in [*pairs, LinePair(len(old), len(new))]:
        assert pair.old is not None
        assert pair.new is not None
        found += _pair_between(old, new, range(start, pair.old), range(new_start, pair.new))
        found.append(pair)
        start, new_start = pair.old + 1, pair.new + 1
    return found[:-1]


def _pair_between(
    old: Sequence[int | None], new: Sequence[int | None], mine: range, other: range
) -> list[LinePair]:
    known = [(position, LinePair(i, None)) for i in mine if (position := old[i]) is not None]
    known += [(position, LinePair(None, j)) for j in other if (position := new[j]) is not None]
    if len(known) == len(mine) + len(other):
        return [pair for _, pair in sorted(known)]
    both = min(len(mine), len(other))
    paired = [LinePair(i, j) for i, j in zip(mine, other, strict=False)]
    return [
        *paired,
        *(LinePair(i, None) for i in mine[both:]),
        *(LinePair(None, j) for j in other[both:]),
    ]


def _is_rising(positions: Sequence[int | None]) -> bool:
    known = [position for position in positions if position is not None]
    return all(one < other for one, other in pairwise(known))
