"""Wait for a condition with a deadline, instead of sleeping."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Far longer than any wait takes; it only limits a failing test on a busy machine.
DEADLINE_SECONDS = 20.0


def wait_for(
    look: Callable[[], T | None],
    *,
    what: str = "the condition",
    seconds: float = DEADLINE_SECONDS,
    every: float = 0.002,
) -> T:
    """Return what `look` returns as soon as it is true; fail at the deadline."""
    deadline = time.monotonic() + seconds
    while True:
        if found := look():
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not happen within {seconds:.0f} s; last seen: {found!r}")
        time.sleep(every)
