"""A dictionary and a set of limited size."""

from collections import OrderedDict
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

_set = OrderedDict.__setitem__  # calling `super()` would take as long as the rest of the method


class LruDict(OrderedDict[Key, Value]):
    """A dictionary of at most `max_size` entries: it drops the entry that was set or touched longest ago."""

    __slots__ = ("_max_size",)

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size  # no `super().__init__()`: it only adds entries

    def __setitem__(self, key: Key, value: Value) -> None:
        if key in self:
            self.move_to_end(key)
        elif len(self) >= self._max_size:
            self.popitem(last=False)
        _set(self, key, value)

    def touch(self, key: Key) -> Value | None:
        """Return the value, if any, and mark the entry as the newest."""
        value = self.get(key)
        if value is not None:
            self.move_to_end(key)
        return value


class RecentKeys(Generic[Key]):
    """A set that remembers at least the newest `size` keys, and at most twice as many."""

    __slots__ = ("_newest", "_older", "_size")

    def __init__(self, size: int) -> None:
        self._size = size
        self._newest: set[Key] = set()
        self._older: set[Key] = set()

    def add(self, key: Key) -> bool:
        """Remember a key. Return False if the key was already known."""
        if key in self._newest or key in self._older:
            return False
        self._newest.add(key)
        if len(self._newest) >= self._size:
            self._older, self._newest = self._newest, set()
        return True
