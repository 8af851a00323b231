"""When to ring: once for every prompt that begins to wait.

Receives the prompts that are open, each time they change; says whether one of them is new. Those that
wait when the panel opens are seen by whoever opened it.
"""

from collections.abc import Iterable


class Bell:
    def __init__(self) -> None:
        self._known: set[str] | None = None

    def rings_for(self, prompts: Iterable[str]) -> bool:
        known, now = self._known, set(prompts)
        self._known = (known or set()) | now
        return known is not None and not now <= known
