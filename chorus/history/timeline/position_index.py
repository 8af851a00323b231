"""Positions by key, in a compact form: only the hash of each key is kept.

A key takes about twelve bytes. Two keys may have the same hash, once in billions of histories, so callers
check the result.
"""

from array import array
from bisect import bisect_left
from collections.abc import Hashable

CHUNK = 2048


class PositionIndex:
    def __init__(self) -> None:
        self._newest: dict[int, int] = {}
        self._older: list[tuple[array[int], array[int]]] = []  # hashes in order, and the position of each

    def get(self, key: Hashable) -> int | None:
        wanted = hash(key)
        position = self._newest.get(wanted)
        if position is not None:
            return position
        for hashes, positions in reversed(self._older):
            at = bisect_left(hashes, wanted)
            if at < len(hashes) and hashes[at] == wanted:
                return positions[at]
        return None

    def __setitem__(self, key: Hashable, position: int) -> None:
        self._newest[hash(key)] = position
        if len(self._newest) >= CHUNK:
            hashes = sorted(self._newest)
            self._older.append((array("q", hashes), array("I", (self._newest[one] for one in hashes))))
            self._newest = {}
