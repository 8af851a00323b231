"""What the panel waits for: shown once it takes longer than a person wants to wonder."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from textual.timer import Timer

from chorus.panel.model import Progress

if TYPE_CHECKING:
    from chorus.panel.app import Panel

FELT_SECONDS = 0.5


@dataclass(slots=True, eq=False)
class _Wait:
    label: str
    since: float


class Waiting:
    def __init__(self, panel: "Panel") -> None:
        self._panel = panel
        self._waits: list[_Wait] = []
        self._timer: Timer | None = None

    @contextmanager
    def during(self, label: str) -> Iterator[None]:
        """Show `label` while the block runs, if it runs for long."""
        wait = _Wait(label, monotonic())
        self._waits.append(wait)
        if self._timer is None:
            self._timer = self._panel.set_interval(FELT_SECONDS, self._panel.stage.refresh_progress)
        try:
            yield
        finally:
            self._waits.remove(wait)
            if not self._waits and self._timer is not None:
                self._timer.stop()
                self._timer = None
            self._panel.stage.refresh_progress()

    def progress(self) -> list[Progress]:
        """What goes on for long, with the seconds it took so far."""
        now = monotonic()
        return [
            Progress(f"{wait.label} {now - wait.since:.0f} s", 0, None)
            for wait in self._waits
            if now - wait.since >= FELT_SECONDS * 0.9
        ]
