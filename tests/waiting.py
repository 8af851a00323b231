"""Waiting for a condition, with a deadline instead of a sleep."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Far longer than anything waited for takes: it only bounds a failing test on a busy machine.
DEADLINE_SECONDS = 20.0


def wait_for(
    look: Callable[[], T | None],
    *,
    what: str = "the condition",
    seconds: float = DEADLINE_SECONDS,
    every: float = 0.002,
) -> T:
    """What `look` gives as soon as that is something; fails when it never is."""
    deadline = time.monotonic() + seconds
    while True:
        if found := look():
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come within {seconds:.0f} s; last seen: {found!r}")
        time.sleep(every)
