"""The places of a file's lines, followed through its versions.

Two contents alone do not tell which line became which: of two lines where one was, either may be the new one.
The versions in between do. A line keeps its place when it is rewritten; a removed line leaves its place
behind and gets it back when its text returns. Pure: versions in, positions out.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from chorus.changes.diff import hunks_of_lines


class LinePair(NamedTuple):
    """Two lines at one place, by index; None: that side has none there."""

    old: int | None
    new: int | None


@dataclass(slots=True)
class _Place:
    texts: set[bytes]  # everything it ever held
    text: bytes | None  # what it holds now; None: nothing


class LinePlaces:
    """Every place of a file, in order, with all texts it has held."""

    def __init__(self, lines: Sequence[bytes] = ()) -> None:
        keys = map(line_key, lines)
        self._places = [_Place({key}, key) for key in keys]

    def copy(self) -> "LinePlaces":
        found = LinePlaces()
        found._places = [_Place(set(place.texts), place.text) for place in self._places]
        return found

    def positions(self) -> dict[bytes, int]:
        """The position of each text that only one place has held."""
        counts = Counter(text for place in self._places for text in place.texts)
        return {
            text: index
            for index, place in enumerate(self._places)
            for text in place.texts
            if counts[text] == 1
        }

    def move(self, lines: Sequence[bytes]) -> None:
        """The next version of the file."""
        new = [line_key(line) for line in lines]
        live = [index for index, place in enumerate(self._places) if place.text is not None]
        found = hunks_of_lines([self._places[index].text or b"" for index in live], new)
        if not found:
            return
        positions = self.positions()
        ends = [-1, *live, len(self._places)]
        for hunk in reversed(found):
            own = live[hunk.before_start : hunk.before_end]
            low, high = ends[hunk.before_start], ends[hunk.before_end + 1]
            texts = new[hunk.after_start : hunk.after_end]
            # A line whose text was here before returns to its place.
            known = [positions.get(text) for text in texts]
            known = [index if index is not None and low < index < high else None for index in known]
            self._put(own, texts, known, low)

    def _put(self, own: Sequence[int], texts: Sequence[bytes], known: Sequence[int | None], low: int) -> None:
        """Give the places of one hunk their new texts; add the places that are new."""
        added: list[tuple[int, _Place]] = []
        last = low
        for old, new in pair_lines(own, known):
            if old is not None:
                last = own[old]
            elif new is not None and known[new] is not None:
                last = known[new] or 0
            else:
                assert new is not None
                added.append((last + 1, _Place({texts[new]}, texts[new])))
                continue
            place = self._places[last]
            place.text = None if new is None else texts[new]
            if place.text is not None:
                place.texts.add(place.text)
        for index, place in reversed(added):
            self._places.insert(index, place)


def line_key(line: bytes) -> bytes:
    """The text by which a line is known: disk and git may differ in its line end."""
    return line.removesuffix(b"\r")


def find_positions(lines: Sequence[bytes], positions: Mapping[bytes, int]) -> list[int | None]:
    """The position of each line; None where it is not known."""
    return [positions.get(line_key(line)) for line in lines]


def pair_lines(old: Sequence[int | None], new: Sequence[int | None]) -> list[LinePair]:
    """Pair the lines of a replaced run with those that replaced it, given their positions.

    Lines at one place are one pair. Where every position is known, the others have no partner. Otherwise the
    first old line became the first new one, and so on.
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
