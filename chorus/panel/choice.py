"""One of a few, side by side on one line: left and right choose, a click does too."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Click
from textual.message import Message

from chorus.panel.pane import LinePane, Look, Pieces


class Choice(LinePane):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,space,l", "step(1)", "next", show=False),
        Binding("left,h", "step(-1)", "previous", show=False),
    ]

    class Changed(Message):
        """Another one is chosen."""

    def __init__(self, look: Look, words: Mapping[str, str], *, id: str | None = None) -> None:
        super().__init__(look, id=id)
        self._words = words
        self.chosen = next(iter(words))

    def line_count(self) -> int:
        return 1

    def line(self, index: int, width: int) -> tuple[Pieces, str]:
        pieces: Pieces = []
        for _, name, words in self._places():
            chosen = name == self.chosen
            style = "muted" if not chosen else "strong cursor" if self.has_focus else "strong"
            pieces += [("● " if chosen else "○ ", "open" if chosen else "muted"), (words, style), ("   ", "")]
        return pieces, ""

    def action_step(self, step: int) -> None:
        names = list(self._words)
        self._choose(names[(names.index(self.chosen) + step) % len(names)])

    def on_click(self, event: Click) -> None:
        for start, name, words in self._places():
            if start <= event.x < start + len(words) + 2:
                self._choose(name)

    def _choose(self, name: str) -> None:
        if name != self.chosen:
            self.chosen = name
            self.refresh()
            self.post_message(self.Changed())

    def _places(self) -> Iterator[tuple[int, str, str]]:
        """Where each one starts."""
        at = 0
        for name, words in self._words.items():
            yield at, name, words
            at += len(words) + 5
