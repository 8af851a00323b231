"""A line diff of two byte strings, as hunks.

A line includes its newline, so a last line without one differs from the same text with one.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

# Limit of the search for the shortest edit script between two anchors. Beyond this many edits, the search
# costs more than a reader gains from it, and the whole stretch counts as replaced.
MAX_EDITS = 400


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines `before_start:before_end` became lines `after_start:after_end`. Counted from 0."""

    before_start: int
    before_end: int
    after_start: int
    after_end: int

    @property
    def removed(self) -> int:
        return self.before_end - self.before_start

    @property
    def added(self) -> int:
        return self.after_end - self.after_start


def split_lines(data: bytes) -> list[bytes]:
    """Split into lines with their newline. Only `\\n` ends a line, as in git."""
    lines = data.split(b"\n")
    last = lines.pop()
    whole = [line + b"\n" for line in lines]
    return [*whole, last] if last else whole


def hunks(before: bytes, after: bytes) -> tuple[Hunk, ...]:
    """Return the hunks in order, with at least one unchanged line between two of them."""
    head, tail = common_ends(before, after)
    skipped = before.count(b"\n", 0, head)
    found = hunks_of_lines(
        split_lines(before[head : len(before) - tail]), split_lines(after[head : len(after) - tail])
    )
    return tuple(
        Hunk(h.before_start + skipped, h.before_end + skipped, h.after_start + skipped, h.after_end + skipped)
        for h in found
    )


def hunks_of_lines(before: Sequence[bytes], after: Sequence[bytes]) -> list[Hunk]:
    head = _common_prefix(before, after)
    tail = _common_suffix(before, after, min(len(before), len(after)) - head)
    a_end, b_end = len(before) - tail, len(after) - tail
    if head in (a_end, b_end):
        return [Hunk(head, a_end, head, b_end)] if a_end != b_end else []
    pairs = [*_matches(before, after, (head, a_end, head, b_end)), (a_end, b_end)]
    found = []
    i = j = head
    for a, b in pairs:
        if a > i or b > j:
            found.append(Hunk(i, a, j, b))
        i, j = a + 1, b + 1
    return found


def common_ends(a: bytes, b: bytes) -> tuple[int, int]:
    """Return the sizes in bytes of the common first lines and the common last lines, without overlap."""
    head = _common_prefix(a, b)
    if not head == len(a) == len(b):
        head = a.rfind(b"\n", 0, head) + 1
    tail = _common_suffix(a, b, min(len(a), len(b)) - head)
    i, j = len(a) - tail, len(b) - tail
    if not (_starts_line(a, i, head) and _starts_line(b, j, head)):
        newline = a.find(b"\n", i)
        tail = len(a) - newline - 1 if newline >= 0 else 0
    return head, tail


def _starts_line(data: bytes, position: int, head: int) -> bool:
    return position == head or data[position - 1 : position] == b"\n"


def _common_prefix(a: Sequence[Any], b: Sequence[Any]) -> int:
    done, step = 0, 64
    limit = min(len(a), len(b))
    while done < limit and step:
        if a[done : done + step] == b[done : done + step] and done + step <= limit:
            done += step
            step *= 2
        else:
            step //= 2
    return done


def _common_suffix(a: Sequence[Any], b: Sequence[Any], limit: int) -> int:
    done, step = 0, 64
    i, j = len(a), len(b)
    while done < limit and step:
        if done + step <= limit and a[i - step : i] == b[j - step : j]:
            done, i, j = done + step, i - step, j - step
            step *= 2
        else:
            step //= 2
    return done


def _matches(
    before: Sequence[bytes], after: Sequence[bytes], within: tuple[int, int, int, int]
) -> list[tuple[int, int]]:
    """Return the indexes of equal lines as (before, after) pairs, in the same order on both sides.

    `within`: start and end in `before`, then start and end in `after`.
    """
    found: list[tuple[int, int]] = []
    work = [within]
    while work:
        a, a_end, b, b_end = work.pop()
        while a < a_end and b < b_end and before[a] == after[b]:
            found.append((a, b))
            a, b = a + 1, b + 1
        while a < a_end and b < b_end and before[a_end - 1] == after[b_end - 1]:
            a_end, b_end = a_end - 1, b_end - 1
            found.append((a_end, b_end))
        if a == a_end or b == b_end:
            continue
        old, new = before[a:a_end], after[b:b_end]
        if set(old).isdisjoint(new):
            continue
        anchors = _anchors(old, new)
        if anchors:
            marks = [(0, 0), *anchors, (a_end - a, b_end - b)]
            work += [(a + i, a + k, b + j, b + m) for (i, j), (k, m) in pairwise(marks)]
        else:
            found += [(a + i, b + j) for i, j in _shortest(old, new)]
    return sorted(found)


def _anchors(before: Sequence[bytes], after: Sequence[bytes]) -> list[tuple[int, int]]:
    """Return the longest common series of lines that occur once on each side, as (before, after) indexes."""
    here, there = Counter(before), Counter(after)
    where = {line: j for j, line in enumerate(after) if there[line] == 1}
    pairs = [(i, where[line]) for i, line in enumerate(before) if here[line] == 1 and line in where]
    ends: list[int] = []  # the smallest partner that ends a rising run of each length
    chain: list[int] = []  # index into pairs, per length
    previous: list[int] = []
    for k, (_, j) in enumerate(pairs):
        slot = bisect_left(ends, j)
        ends[slot : slot + 1] = [j]
        chain[slot : slot + 1] = [k]
        previous.append(chain[slot - 1] if slot else -1)
    rising = []
    k = chain[-1] if chain else -1
    while k >= 0:
        rising.append(pairs[k])
        k = previous[k]
    return rising[::-1]


def _shortest(before: Sequence[bytes], after: Sequence[bytes]) -> list[tuple[int, int]]:
    """Find equal lines, as (before, after) indexes, by Myers' greedy search.

    Return no lines if the texts differ by more than `MAX_EDITS` edits.
    """
    n, m = len(before), len(after)
    furthest = {1: 0}
    rounds: list[dict[int, int]] = []
    for edits in range(min(n + m, MAX_EDITS) + 1):
        rounds.append(dict(furthest))
        for diagonal in range(-edits, edits + 1, 2):
            x = _step(furthest, diagonal, edits)
            while x < n and x - diagonal < m and before[x] == after[x - diagonal]:
                x += 1
            furthest[diagonal] = x
            if x >= n and x - diagonal >= m:
                return _trace(rounds, n, m)
    return []


def _step(furthest: dict[int, int], diagonal: int, edits: int) -> int:
    down = diagonal == -edits or (diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1])
    return furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1


def _trace(rounds: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    pairs = []
    for edits in range(len(rounds) - 1, 0, -1):
        furthest, diagonal = rounds[edits], x - y
        start = _step(furthest, diagonal, edits)
        while x > start:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        down = diagonal == -edits or (diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1])
        x, y = (x, y - 1) if down else (x - 1, y)
    pairs += [(i, i) for i in range(x)]
    return pairs


def terminated(data: bytes) -> bytes:
    """Add a newline at the end if it is missing and the text is not empty."""
    return data if not data or data.endswith(b"\n") else data + b"\n"
