"""A dictionary that remembers the newest and forgets the oldest."""

from collections import OrderedDict
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class LruDict(OrderedDict[Key, Value]):
    """At most `bound` entries; what was set or touched longest ago goes first."""

    def __init__(self, bound: int) -> None:
        super().__init__()
        self._bound = bound

    def __setitem__(self, key: Key, value: Value) -> None:
        if key in self:
            self.move_to_end(key)
        OrderedDict.__setitem__(self, key, value)  # `super()` would cost as much as the rest
        if len(self) > self._bound:
            self.popitem(last=False)

    def touch(self, key: Key) -> Value | None:
        """The value, and the entry counts as new again."""
        value = self.get(key)
        if value is not None:
            self.move_to_end(key)
        return value
