"""A limit on approvals given without asking the user. The caller passes the time."""

from collections import deque

_WINDOW_SECONDS = 60.0


class ApprovalRateLimit:
    def __init__(self) -> None:
        self._given: deque[float] = deque()

    def try_acquire(self, now_seconds: float, per_minute: int) -> bool:
        """Count one approval and return True.

        If the last minute already had `per_minute` approvals, return False and count nothing.
        """
        while self._given and now_seconds - self._given[0] >= _WINDOW_SECONDS:
            self._given.popleft()
        if len(self._given) >= per_minute:
            return False
        self._given.append(now_seconds)
        return True
