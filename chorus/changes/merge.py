"""A three-way merge of lines that never differs from git's.

Gives the merged bytes where the two changes are separated by lines that no diff of these files can count as
changed, whatever it chooses among equal lines. Otherwise the result is `UNDECIDED` (run git then), or
`CONFLICT` for binary contents. Never writes conflict markers.

Why a stretch is safe. git diffs base and side by the shortest edit script, after cutting off equal ends and
ignoring some lines that occur very often, then slides each group of changed lines past equal lines. Take any
script of D edits whose unchanged blocks each hold a line that occurs once on both sides. No line of such a
block is ignored (that needs lines without a partner on both sides of it, and the single line ends the
search), so git's script has at most D edits too. A single line that it does not match costs two edits, so it
leaves at most D/2 of them unmatched: of the first D/2 + 1 in a block one is matched, and of the last
D/2 + 1. Between those two the block is the same on both sides, so the shortest script changes nothing there;
and no group slides past a line that occurs once.
"""

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from chorus.changes.diff import Hunk, common_ends, hunks_of_lines, split_lines

# git's search is exact below 256 edits from either end; this is safely below.
MAX_EDITS = 200
# Above this size running `git merge-file` is faster than looking at every line here.
MAX_LINE_BYTES = 128 * 1024
# Lines of a gap tried to find one that occurs once, the longest first.
MAX_ANCHORS_TRIED = 8
# Bytes of a gap searched for such a line.
GAP_SAMPLE_BYTES = 8192


@dataclass(frozen=True, slots=True)
class Merged:
    data: bytes


class Verdict(Enum):
    CONFLICT = "conflict"
    UNDECIDED = "undecided"


CONFLICT = Verdict.CONFLICT
UNDECIDED = Verdict.UNDECIDED


def merge(base: bytes, ours: bytes, theirs: bytes) -> Merged | Verdict:
    if ours in (theirs, base):
        return Merged(theirs)
    if theirs == base:
        return Merged(ours)
    if any(b"\0" in side for side in (base, ours, theirs)):
        return CONFLICT
    return _merge_apart(base, ours, theirs) or _merge_zones(base, ours, theirs) or UNDECIDED


def _merge_apart(base: bytes, ours: bytes, theirs: bytes) -> Merged | None:
    """Merge if one side's whole change is before the other's: no single line has to be compared."""
    head_ours, tail_ours = common_ends(base, ours)
    head_theirs, tail_theirs = common_ends(base, theirs)
    if len(base) - tail_ours < head_theirs:
        first, tail, second, head = ours, tail_ours, theirs, head_theirs
    elif len(base) - tail_theirs < head_ours:
        first, tail, second, head = theirs, tail_theirs, ours, head_ours
    else:
        return None
    gap = base[len(base) - tail : head]
    if not _holds_single_line(gap, (base, ours, theirs)):
        return None
    return Merged(first[: len(first) - tail] + gap + second[head:])


def _holds_single_line(gap: bytes, sides: tuple[bytes, ...]) -> bool:
    """Whether a line of `gap` occurs once in each side, even counting where it ends another line."""
    sample = gap if len(gap) <= 2 * GAP_SAMPLE_BYTES else gap[:GAP_SAMPLE_BYTES]
    lines = [line + b"\n" for line in sample.split(b"\n")[:-1]]
    lines.sort(key=len, reverse=True)
    return any(all(side.count(line) == 1 for side in sides) for line in lines[:MAX_ANCHORS_TRIED])


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Base lines `start:end` that one side may have changed, and what it has there."""

    start: int
    end: int
    lines: list[bytes]


def _merge_zones(base: bytes, ours: bytes, theirs: bytes) -> Merged | None:
    """Merge changes of both sides that alternate, line by line."""
    if max(len(base), len(ours), len(theirs)) > MAX_LINE_BYTES:
        return None
    sides = [split_lines(side) for side in (base, ours, theirs)]
    single = _single_lines(sides)
    stretches = []
    for side in sides[1:]:
        stretches += _stretches(sides[0], side, single)
    stretches.sort(key=lambda stretch: stretch.start)
    merged: list[bytes] = []
    done = -1
    for stretch in stretches:
        if stretch.start <= done:
            return None
        merged += sides[0][max(done, 0) : stretch.start]
        merged += stretch.lines
        done = stretch.end
    return Merged(b"".join(merged + sides[0][done:]))


def _single_lines(sides: list[list[bytes]]) -> set[bytes]:
    """Lines that occur exactly once on every side."""
    single = {line for line, count in Counter(sides[0]).items() if count == 1}
    for side in sides[1:]:
        counts = Counter(side)
        single = {line for line in single if counts[line] == 1}
    return single


@dataclass(frozen=True, slots=True)
class _Zone:
    """Base lines `start:end` that a side certainly has unchanged, `shift` lines further on."""

    start: int
    end: int
    shift: int


def _stretches(base: list[bytes], side: list[bytes], single: set[bytes]) -> list[_Stretch]:
    """Where git may see a change of this side: everything between two zones."""
    zones = _zones(base, hunks_of_lines(base, side), single)
    return [_Stretch(a.end, b.start, side[a.end + a.shift : b.start + b.shift]) for a, b in pairwise(zones)]


def _zones(base: list[bytes], hunks: list[Hunk], single: set[bytes]) -> list[_Zone]:
    apart = _joined(hunks, base, single)
    edits = sum(hunk.removed + hunk.added for hunk in apart)
    ahead = _single_in(base, 0, apart[0].before_start, single)
    zones = [_Zone(0, ahead[-1] + 1 if ahead else 0, 0)]
    for hunk, following in pairwise(apart):
        sure = _single_in(base, hunk.before_end, following.before_start, single)
        slack = edits // 2
        if edits <= MAX_EDITS and len(sure) > 2 * slack:
            shift = hunk.after_end - hunk.before_end
            zones.append(_Zone(sure[slack], sure[-1 - slack] + 1, shift))
    behind = _single_in(base, apart[-1].before_end, len(base), single)
    shift = apart[-1].after_end - apart[-1].before_end
    return [*zones, _Zone(behind[0] if behind else len(base), len(base), shift)]


def _joined(hunks: list[Hunk], base: list[bytes], single: set[bytes]) -> list[Hunk]:
    """Join hunks with no single line between them."""
    apart = hunks[:1]
    for hunk in hunks[1:]:
        last = apart[-1]
        if _single_in(base, last.before_end, hunk.before_start, single):
            apart.append(hunk)
        else:
            apart[-1] = Hunk(last.before_start, hunk.before_end, last.after_start, hunk.after_end)
    return apart


def _single_in(lines: list[bytes], start: int, end: int, single: set[bytes]) -> list[int]:
    return [i for i in range(start, end) if lines[i] in single]
