"""A limit on answers given without a person.

Receives the time of each approval that is about to be given. Says whether it may still be given without
asking. Never looks at a clock.
"""

from collections import deque

_WINDOW_SECONDS = 60.0


class Throttle:
    def __init__(self) -> None:
        self._given: deque[float] = deque()

    def admit(self, now_seconds: float, per_minute: int) -> bool:
        """Count one approval if there is room for it in the minute that ends now."""
        while self._given and now_seconds - self._given[0] >= _WINDOW_SECONDS:
            self._given.popleft()
        if len(self._given) >= per_minute:
            return False
        self._given.append(now_seconds)
        return True
