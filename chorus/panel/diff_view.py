"""The diff of one action, or what a turn was about.

Receives a heading and a patch; draws the lines in sight, side by side where there is room. Colours
the syntax in a thread once the diff stands, so that moving through the queue never waits for it.
"""

from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.message import Message

from chorus.panel.diff_lines import SIDE_BY_SIDE_FROM, DiffDocument, Drawn, Spans
from chorus.panel.pane import LinePane, Look, Pieces
from chorus.panel.patch import Patch
from chorus.panel.syntax import read_spans
from chorus.panel.work import in_background

# Columns moved by one press of left or right.
SIDEWAYS = 8


class DiffView(LinePane):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j,ctrl+n", "scroll_down", "down", show=False),
        Binding("up,ctrl+p", "scroll_up", "up", show=False),
        Binding("pagedown,space,ctrl+d,ctrl+f", "page_down", "page down", show=False),
        Binding("pageup,ctrl+u,ctrl+b", "page_up", "page up", show=False),
        Binding("g,home", "scroll_home", "first", show=False),
        Binding("G,end", "scroll_end", "last", show=False),
        Binding("right", "sideways(1)", "right", show=False),
        Binding("left", "sideways(-1)", "left", show=False),
        Binding("v", "switch", "side by side", show=False),
        Binding("enter", "leave", "back", show=False),
    ]

    class Left(Message):
        """Enough seen: back to the queue."""

    def __init__(self, look: Look, *, id: str | None = None) -> None:
        super().__init__(look, id=id)
        self.document = DiffDocument(Patch(()))
        self.heading: list[Drawn] = []
        self.unified_always = False
        self.aside = 0
        self._sides = False

    @property
    def side_by_side(self) -> bool:
        return self.size.width >= SIDE_BY_SIDE_FROM and not self.unified_always

    def show(self, heading: list[Drawn], patch: Patch | None = None) -> None:
        self.heading = heading
        self.document = DiffDocument(patch or Patch(()))
        self.aside = 0
        self.resize_lines()
        self.scroll_to(0, 0, animate=False)
        if patch is not None and patch.lines and not self.look.palette.plain:
            document = self.document
            in_background(partial(read_spans, document), partial(self._coloured, document))

    def reheading(self, heading: list[Drawn]) -> None:
        """Say something else above the same diff, without moving in it."""
        self.heading = heading
        self.resize_lines()

    def line_count(self) -> int:
        return len(self.heading) + self.document.line_count(side_by_side=self.side_by_side)

    def line(self, index: int, width: int) -> tuple[Pieces, str]:
        if index < len(self.heading):
            return self.heading[index]
        index -= len(self.heading)
        if self.side_by_side:
            return self.document.render_pair(index, width, self.aside)
        return self.document.render_unified(index, width, self.aside)

    def action_sideways(self, steps: int) -> None:
        self.aside = max(0, self.aside + steps * SIDEWAYS)
        self.refresh()

    def action_switch(self) -> None:
        self.unified_always = not self.unified_always
        self.resize_lines()

    def action_leave(self) -> None:
        self.post_message(self.Left())

    def on_resize(self, event: Resize) -> None:
        if self._sides != self.side_by_side:
            self._sides = self.side_by_side
            self.resize_lines()

    def _coloured(self, document: DiffDocument, spans: dict[int, Spans]) -> None:
        document.spans = spans
        if document is self.document:
            self.refresh()
