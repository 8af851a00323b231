"""A dictionary of limited size."""

from collections import OrderedDict
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class LruDict(OrderedDict[Key, Value]):
    """Keeps at most `max_size` entries. The one that was set or touched longest ago is dropped first."""

    def __init__(self, max_size: int) -> None:
        super().__init__()
        self._max_size = max_size

    def __setitem__(self, key: Key, value: Value) -> None:
        if key in self:
            self.move_to_end(key)
        OrderedDict.__setitem__(self, key, value)  # `super()` would take as long as the rest
        if len(self) > self._max_size:
            self.popitem(last=False)

    def touch(self, key: Key) -> Value | None:
        """Return the value, if any, and mark the entry as the newest."""
        value = self.get(key)
        if value is not None:
            self.move_to_end(key)
        return value
