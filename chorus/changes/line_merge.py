"""Apply one change of a file to another version of it, line by line.

Two changes conflict if they change the same base line differently, or insert different lines at one place of
the file's history (`line_places`). Changes of neighbouring lines do not conflict.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from chorus.changes.diff import Hunk, common_ends, hunks, terminated
from chorus.changes.line_places import find_positions, line_key, pair_lines

# Returns the position of each line in the file's history, by its text (`line_places`). Called only if needed.
Positions: TypeAlias = Callable[[], Mapping[bytes, int]]


def unknown_positions() -> Mapping[bytes, int]:
    """Return no positions; lines are then paired in order."""
    return {}


@dataclass(frozen=True, slots=True)
class LineRange:
    """Base lines from `start` up to, but not including, `end`. An empty range is the point before `start`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Overlap:
    """The base lines that both sides changed differently. If `ranges` is empty, the content is binary.

    `positions`: the places of the file's history at which both sides inserted different lines. The ranges of
    such insertions are empty.
    """

    ranges: tuple[LineRange, ...]
    positions: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class PlacedChange:
    """The content after a change.

    The change may need lines by other authors. Then `context` is the content with these lines but without the
    change, and `lines` are the indexes of these lines in the base.
    """

    content: bytes
    context: bytes | None = None
    lines: tuple[int, ...] = ()


def merge_lines(
    base: bytes,
    ours: bytes,
    theirs: bytes,
    *,
    order: bytes = b"",
    positions: Positions = unknown_positions,
) -> bytes | Overlap:
    """Return `ours` with the change from `base` to `theirs` applied, or the overlap if the changes conflict.

    `order` is a text that contains lines in the wanted order. It is used for lines that are inserted at one
    point and whose positions are unknown.
    """
    if ours in (theirs, base):
        return theirs
    if theirs == base:
        return ours
    if any(b"\0" in side for side in (base, ours, theirs)):
        return Overlap(())
    if (apart := _merge_apart(base, ours, theirs)) is not None:
        return apart
    mine, other, known = _read_both(base, ours, theirs, positions)
    clashes = _find_clashes(mine, other, known)
    if overlap := (*_find_overlap(mine, other), *(LineRange(index, index) for index in clashes)):
        return Overlap(overlap, frozenset().union(*clashes.values()))
    return _render(mine, other, _Order(order, known))


def place_change(
    base: bytes, ours: bytes, theirs: bytes, *, positions: Positions = unknown_positions
) -> PlacedChange:
    """Apply to `ours` the change from `base` to `theirs`.

    First, the lines of `base` that the change needs are added to `ours`. A line that the change removes is
    needed too: if `ours` already lacks the line, nothing would show the removal.
    """
    if ours == base:
        return PlacedChange(theirs)
    if (apart := _merge_apart(base, ours, theirs)) is not None:
        return PlacedChange(apart)
    mine, other, known = _read_both(base, ours, theirs, positions)
    missing = [
        index
        for index in sorted(mine.changed.keys() & other.changed.keys())
        if mine.changed[index] != other.changed[index] or not other.changed[index]
    ]
    clashes = _find_clashes(mine, other, known)
    order = _Order(theirs, known)
    is_newline_there = bool(base) and other.newline != other.base_newline and mine.newline == other.newline
    if not missing and not clashes and not is_newline_there:
        return PlacedChange(_render(mine, other, order))
    for index in missing:
        mine.changed.pop(index)
    for index in clashes:
        taken = set(find_positions(other.inserted[index], known))
        own = mine.inserted[index]
        places = find_positions(own, known)
        mine.inserted[index] = [line for line, place in zip(own, places, strict=True) if place not in taken]
    if is_newline_there:
        mine.newline = other.base_newline
        missing = sorted({*missing, len(mine.base) - 1})
    return PlacedChange(_render(mine, other, order), _render(mine, None, None), tuple(missing))


@dataclass(slots=True)
class _Version:
    """One side of a merge, as changes of single base lines and insertions between them."""

    base: list[bytes]
    base_newline: bool
    newline: bool  # whether this side ends with a newline
    changed: dict[int, list[bytes]] = field(
        default_factory=dict
    )  # by base line: its replacement, empty if removed
    inserted: dict[int, list[bytes]] = field(default_factory=dict)  # by the base line after them

    @classmethod
    def read(
        cls,
        base: bytes,
        side: bytes,
        changes: Sequence[Hunk],
        touched: Collection[int],
        positions: Mapping[bytes, int],
    ) -> "_Version":
        """Read the changes of one side.

        The hunks with an index in `touched` are split into changes of single base lines and insertions. The
        other hunks are kept whole.
        """
        version = cls(_lines(base), base.endswith(b"\n"), side.endswith(b"\n"))
        lines = _lines(side)
        for index, hunk in enumerate(changes):
            added = lines[hunk.after_start : hunk.after_end]
            if index in touched:
                version._add_lines(hunk, added, positions)
            elif not hunk.removed:
                version.inserted[hunk.before_start] = added
            else:
                version.changed |= {line: [] for line in range(hunk.before_start, hunk.before_end)}
                version.changed[hunk.before_start] = added
        return version

    def _add_lines(self, hunk: Hunk, added: Sequence[bytes], positions: Mapping[bytes, int]) -> None:
        """Add a hunk as changes of single lines, paired by their `positions`."""
        removed = self.base[hunk.before_start : hunk.before_end]
        at = hunk.before_start
        for old, new in pair_lines(find_positions(removed, positions), find_positions(added, positions)):
            if old is None:
                assert new is not None
                self.inserted.setdefault(at, []).append(added[new])
            else:
                self.changed[hunk.before_start + old] = [] if new is None else [added[new]]
                at = hunk.before_start + old + 1


def _read_both(
    base: bytes, ours: bytes, theirs: bytes, positions: Positions
) -> tuple[_Version, _Version, Mapping[bytes, int]]:
    mine = hunks(terminated(base), terminated(ours))
    other = hunks(terminated(base), terminated(theirs))
    touching = list(_touching(mine, other))
    is_ambiguous = any(_is_ambiguous(mine[one], other[two]) for one, two in touching)
    known = positions() if is_ambiguous else {}
    return (
        _Version.read(base, ours, mine, {one for one, _ in touching}, known),
        _Version.read(base, theirs, other, {two for _, two in touching}, known),
        known,
    )


def _touching(mine: Sequence[Hunk], other: Sequence[Hunk]) -> Iterator[tuple[int, int]]:
    """Yield pairs of hunks, one from each side, that overlap or have no base line between them.

    A pair has the index of a hunk in `mine` and the index of a hunk in `other`.
    """
    i = j = 0
    while i < len(mine) and j < len(other):
        one, two = mine[i], other[j]
        if one.before_start <= two.before_end and two.before_start <= one.before_end:
            yield i, j
        if one.before_end <= two.before_end:
            i += 1
        else:
            j += 1


def _is_ambiguous(one: Hunk, two: Hunk) -> bool:
    return bool((one.removed and one.added) or (two.removed and two.added) or (one.added and two.added))


class _Order:
    """Decides the order of two insertions at one point: by positions, or by the text `order`."""

    def __init__(self, order: bytes, positions: Mapping[bytes, int]) -> None:
        self._text = order
        self._positions = positions

    def join(self, mine: list[bytes], other: list[bytes]) -> list[bytes]:
        """Join two insertions: by position if all lines have one, else in the order of the text `order`.

        Without positions, an insertion that contains the other insertion is used alone, unless `order` has
        the two insertions one after the other.
        """
        places = find_positions([*mine, *other], self._positions)
        if None not in places:
            by_place = dict(zip(places, [*mine, *other], strict=True))
            return [line for _, line in sorted(by_place.items(), key=lambda item: item[0] or 0)]
        if self._in_text([*mine, *other]):
            return [*mine, *other]
        if self._in_text([*other, *mine]):
            return [*other, *mine]
        if _contains(other, mine):
            return other
        if _contains(mine, other):
            return mine
        return self._interleave(mine, other)

    def _in_text(self, lines: list[bytes]) -> bool:
        return b"\n" + b"\n".join(lines) + b"\n" in b"\n" + terminated(self._text)

    def _interleave(self, mine: list[bytes], other: list[bytes]) -> list[bytes]:
        """Merge in the order of the text `order`. A line that `order` lacks follows the line before it."""
        positions: dict[bytes, int] = {}
        for position, line in enumerate(_lines(self._text)):
            positions.setdefault(line, position)
        joined: list[bytes] = []
        left, right = _placed(mine, positions), _placed(other, positions)
        while left and right:
            joined.append((left if left[0][0] <= right[0][0] else right).pop(0)[1])
        return joined + [line for _, line in (*left, *right)]


def _placed(lines: list[bytes], positions: dict[bytes, int]) -> list[tuple[int, bytes]]:
    found: list[tuple[int, bytes]] = []
    last = -1
    for line in lines:
        last = max(last, positions.get(line, last))
        found.append((last, line))
    return found


def _contains(whole: list[bytes], part: list[bytes]) -> bool:
    return any(whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1))


def _merge_apart(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Merge without splitting into lines. Return None unless one change ends before the other one starts."""
    head_ours, tail_ours = common_ends(base, ours)
    head_theirs, tail_theirs = common_ends(base, theirs)
    if len(base) - tail_ours < head_theirs:
        return (
            ours[: len(ours) - tail_ours] + base[len(base) - tail_ours : head_theirs] + theirs[head_theirs:]
        )
    if len(base) - tail_theirs < head_ours:
        return (
            theirs[: len(theirs) - tail_theirs] + base[len(base) - tail_theirs : head_ours] + ours[head_ours:]
        )
    return None


def _find_overlap(mine: _Version, other: _Version) -> tuple[LineRange, ...]:
    both = [
        index for index in sorted(mine.changed.keys() & other.changed.keys())
        if mine.changed[index] != other.changed[index]
    ]  # fmt: skip
    ranges: list[LineRange] = []
    for index in both:
        if ranges and ranges[-1].end == index:
            ranges[-1] = LineRange(ranges[-1].start, index + 1)
        else:
            ranges.append(LineRange(index, index + 1))
    return tuple(ranges)


def _find_clashes(mine: _Version, other: _Version, positions: Mapping[bytes, int]) -> dict[int, set[int]]:
    """Find the places at which both sides inserted different lines, keyed by the next base line."""
    clashes: dict[int, set[int]] = {}
    for index in sorted(mine.inserted.keys() & other.inserted.keys()):
        own, theirs = mine.inserted[index], other.inserted[index]
        places = {place: line for line in own if (place := positions.get(line_key(line))) is not None}
        found = {positions.get(line_key(line), -1): line for line in theirs}
        clashing = {place for place, line in found.items() if places.get(place, line) != line}
        if clashing:
            clashes[index] = clashing
    return clashes


def _render(mine: _Version, other: _Version | None, order: _Order | None) -> bytes:
    lines: list[bytes] = []
    sides = (mine,) if other is None else (mine, other)
    done = 0  # base lines
    for index in sorted({index for side in sides for index in (*side.changed, *side.inserted)}):
        lines += mine.base[done:index]
        lines += _insertion(mine, other, order, index)
        replaced = next((side.changed[index] for side in sides if index in side.changed), None)
        lines += mine.base[index : index + 1] if replaced is None else replaced
        done = index + 1
    lines += mine.base[done:]
    newline = mine.newline
    if other is not None and other.newline != other.base_newline:
        newline = other.newline
    return b"\n".join(lines) + (b"\n" if newline and lines else b"")


def _insertion(mine: _Version, other: _Version | None, order: _Order | None, index: int) -> list[bytes]:
    own = mine.inserted.get(index, [])
    theirs = other.inserted.get(index, []) if other is not None else []
    if own and theirs and order is not None:
        return order.join(own, theirs)
    return own + theirs


def _lines(data: bytes) -> list[bytes]:
    return data.removesuffix(b"\n").split(b"\n") if data else []
