"""The diff of one action, unified or side by side, with syntax colours.

Text is sanitized before it is measured or drawn. Syntax is coloured in a thread once the diff is drawn, so
that moving through the queue does not wait.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.message import Message

from chorus.panel.background import run_in_thread
from chorus.panel.style.theme import ActivePalette
from chorus.panel.widgets.line_pane import LinePane, Pieces, StyledLine, fit_pieces
from chorus.panel.widgets.patch import DiffLine, Patch, changed_span, plan_pairs
from chorus.panel.widgets.syntax import Spans, find_spans
from chorus.text.sanitize import expand_tabs, sanitize
from chorus.text.width import cut_start

# Two columns of code with their line numbers: in a narrower view each would be hard to read.
MIN_SIDE_BY_SIDE_WIDTH = 110
MIN_NUMBERS_WIDTH = 60
_SIGNS = {"added": ("+", "plus"), "removed": ("−", "minus"), "context": (" ", "muted")}
# Columns scrolled by one press of left or right.
SIDEWAYS_COLUMNS = 8
# Renders the lines above a diff, for a width.
RenderHeading = Callable[[int], list[StyledLine]]


@dataclass(slots=True)
class DiffDocument:
    """A patch, rendered line by line. `spans`: syntax styles, by the index of the line in the patch."""

    patch: Patch
    spans: dict[int, Spans] = field(default_factory=dict)
    _texts: dict[int, str] = field(default_factory=dict)
    _pairs: list[tuple[DiffLine | None, DiffLine | None]] | None = None
    _index: dict[int, int] = field(default_factory=dict)
    _partners: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._index = {id(line): index for index, line in enumerate(self.patch.lines)}
        for left, right in self.pairs():
            if left is not None and right is not None and left is not right:
                one, other = self._index[id(left)], self._index[id(right)]
                self._partners |= {one: other, other: one}

    def pairs(self) -> list[tuple[DiffLine | None, DiffLine | None]]:
        if self._pairs is None:
            self._pairs = plan_pairs(self.patch.lines)
        return self._pairs

    def line_count(self, *, side_by_side: bool) -> int:
        lines = len(self.pairs()) if side_by_side else len(self.patch.lines)
        return lines + (1 if self.patch.left_out else 0)

    def text(self, index: int) -> str:
        shown = self._texts.get(index)
        if shown is None:
            shown = self._texts[index] = self._render_text(index)
        return shown

    def render_unified(self, index: int, width: int, offset: int) -> StyledLine:
        if index >= len(self.patch.lines):
            return self._render_left_out()
        line = self.patch.lines[index]
        if line.kind not in _SIGNS:
            return _render_heading(line, width)
        sign, sign_style = _SIGNS[line.kind]
        number = f"{line.old or '':>5}{line.new or '':>5} " if width >= MIN_NUMBERS_WIDTH else ""
        gutter: Pieces = [(number, "number"), (f"{sign} ", sign_style)]
        return fit_pieces([*gutter, *self._render_code(index, offset)], width), _background(line)

    def render_pair(self, index: int, width: int, offset: int) -> StyledLine:
        if index >= len(self.pairs()):
            return self._render_left_out()
        left, right = self.pairs()[index]
        if left is not None and left.kind not in _SIGNS:
            return _render_heading(left, width)
        half = (width - 1) // 2
        old = self._render_side(left, left.old if left else None, half, offset)
        new = self._render_side(right, right.new if right else None, width - 1 - half, offset)
        return [*old, ("│", "line"), *new], ""

    def place(self, index: int, *, side_by_side: bool) -> tuple[str, DiffLine] | None:
        """Return the path and the line in this row; None if the row is not a line of the new file."""
        if side_by_side:
            line = self.pairs()[index][1] if index < len(self.pairs()) else None
        else:
            line = self.patch.lines[index] if index < len(self.patch.lines) else None
        if line is None or line.kind not in _SIGNS or line.new is None:
            return None
        above = self.patch.lines[: self._index[id(line)]]
        path = next((each.text for each in reversed(above) if each.kind == "file"), "")
        return path, line

    def _render_side(self, line: DiffLine | None, number: int | None, width: int, offset: int) -> Pieces:
        if line is None:
            return [(" " * width, "")]
        sign, sign_style = _SIGNS[line.kind]
        under = _background(line)
        code = self._render_code(self._index[id(line)], offset)
        pieces: Pieces = [(f"{number or '':>5} ", "number"), (f"{sign} ", sign_style), *code]
        return [(text, f"{under} {style}") for text, style in fit_pieces(pieces, width)]

    def _render_code(self, index: int, offset: int) -> Pieces:
        """Render a line in its syntax colours, and mark the part that differs from its paired line."""
        text = self.text(index)
        line = self.patch.lines[index]
        start, end = self._difference(index)
        cuts = {0, len(text), start, end}
        spans = self.spans.get(index, [])
        for first, last, _ in spans:
            cuts |= {first, last}
        pieces: Pieces = []
        ordered = sorted(cut for cut in cuts if 0 <= cut <= len(text))
        at = 0
        for first, last in pairwise(ordered):
            while at < len(spans) and spans[at][1] <= first:
                at += 1
            style = spans[at][2] if at < len(spans) and spans[at][0] <= first else ""
            strong = f"{line.kind}-strong" if start <= first and last <= end else ""
            pieces.append((text[max(first, offset) : last], f"{style} {strong}"))
        return pieces

    def _difference(self, index: int) -> tuple[int, int]:
        """Return the span that differs from the paired line; (0, 0) if unpaired, or if too much differs."""
        if (partner := self._partners.get(index)) is None:
            return 0, 0
        text, other = self.text(index), self.text(partner)
        start, end, other_end = changed_span(text, other)
        alike = end - start < len(text.strip()) * 3 // 5 and other_end - start < len(other.strip()) * 3 // 5
        return (start, end) if alike else (0, 0)

    def _render_text(self, index: int) -> str:
        line = self.patch.lines[index]
        text = sanitize(expand_tabs(line.text))
        partner = self._partners.get(index)
        if partner is not None and line.text != (other := self.patch.lines[partner].text):
            blank_only = line.text.expandtabs().rstrip() == other.expandtabs().rstrip()
            if len(line.text) < len(text) * 2 and blank_only:
                # Only blanks differ: both lines would look the same without a symbol for tabs.
                text = sanitize(line.text.replace("\t", "→   "))
        end = len(text.rstrip(" "))
        return text[:end] + "·" * (len(text) - end) if line.kind == "added" else text

    def _render_left_out(self) -> StyledLine:
        return [(f"  … {self.patch.left_out:,} more lines are not shown here", "header")], ""


class DiffView(LinePane):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j,ctrl+n", "move(1)", "down", show=False),
        Binding("up,k,ctrl+p", "move(-1)", "up", show=False),
        Binding("pagedown,space,ctrl+d,ctrl+f", "page(1)", "page down", show=False),
        Binding("pageup,ctrl+u,ctrl+b", "page(-1)", "page up", show=False),
        Binding("g,home", "move(-1000000)", "first", show=False),
        Binding("G,end", "move(1000000)", "last", show=False),
        Binding("right", "sideways(1)", "right", show=False),
        Binding("left", "sideways(-1)", "left", show=False),
        Binding("v", "switch", "side by side", show=False),
        Binding("enter", "leave", "back", show=False),
    ]

    class Leave(Message):
        """The user pressed enter to leave the diff."""

    class TooNarrow(Message):
        """The view is not wide enough for two columns of code."""

        def __init__(self, needed: int, width: int) -> None:
            super().__init__()
            self.text = f"side by side needs {needed} columns; the diff has {width}"

    def __init__(self, active_palette: ActivePalette, *, id: str | None = None) -> None:
        super().__init__(active_palette, id=id)
        self.document = DiffDocument(Patch(()))
        self.heading: list[StyledLine] = []
        self._render_heading: RenderHeading = lambda _: []
        self.always_unified = False
        self.column_offset = 0
        self.cursor = 0  # the line that a note is written on, while the diff has the focus

    @property
    def side_by_side(self) -> bool:
        return self.size.width >= MIN_SIDE_BY_SIDE_WIDTH and not self.always_unified

    def show(self, heading: RenderHeading, patch: Patch | None = None) -> None:
        self._render_heading = heading
        self.heading = heading(self.text_width)
        self.document = DiffDocument(patch or Patch(()))
        self.column_offset = 0
        self.cursor = 0
        self.resize_lines()
        self.scroll_to(0, 0, animate=False)
        if self.has_focus:
            self._go_to_first_change()
        if patch is not None and patch.lines and not self.active_palette.current.plain:
            document = self.document
            run_in_thread(partial(find_spans, document.patch, document.text), partial(self._colour, document))

    def set_heading(self, heading: RenderHeading) -> None:
        """Change the lines above the diff. The cursor stays on its line."""
        self._render_heading = heading
        self._draw_heading()

    def _draw_heading(self) -> None:
        lines = self._render_heading(self.text_width)
        if self.cursor >= len(self.heading):
            self.cursor += len(lines) - len(self.heading)
        self.heading = lines
        self.resize_lines()
        if self.has_focus:
            self.reveal(self.cursor)

    def line_count(self) -> int:
        return len(self.heading) + self.document.line_count(side_by_side=self.side_by_side)

    def line(self, index: int, width: int) -> StyledLine:
        pieces, under = self._plain_line(index, self.text_width)
        return pieces, f"{under} cursor" if self.has_focus and index == self.cursor else under

    def _plain_line(self, index: int, width: int) -> StyledLine:
        if index < len(self.heading):
            return self.heading[index]
        index -= len(self.heading)
        if self.side_by_side:
            return self.document.render_pair(index, width, self.column_offset)
        return self.document.render_unified(index, width, self.column_offset)

    def place(self) -> tuple[str, DiffLine] | None:
        index = self.cursor - len(self.heading)
        if index < 0 or index >= self.document.line_count(side_by_side=self.side_by_side):
            return None
        return self.document.place(index, side_by_side=self.side_by_side)

    def on_focus(self) -> None:
        if self.cursor == 0:
            self._go_to_first_change()

    def _go_to_first_change(self) -> None:
        """Put the cursor on the first added line, unless it is below the screen."""
        count = min(
            self.document.line_count(side_by_side=self.side_by_side),
            self.scroll_offset.y + self.size.height - len(self.heading),
        )
        places = (self.document.place(index, side_by_side=self.side_by_side) for index in range(count))
        first = next((at for at, place in enumerate(places) if place and place[1].kind == "added"), None)
        if first is not None:
            self.action_move(len(self.heading) + first - self.cursor)

    def action_move(self, rows: int) -> None:
        self.cursor = min(max(self.cursor + rows, 0), max(self.line_count() - 1, 0))
        self.reveal(self.cursor)
        self.refresh()

    def action_page(self, pages: int) -> None:
        self.action_move(pages * max(self.size.height - 1, 1))

    def action_sideways(self, steps: int) -> None:
        self.column_offset = max(0, self.column_offset + steps * SIDEWAYS_COLUMNS)
        self.refresh()

    def action_switch(self) -> None:
        if self.size.width < MIN_SIDE_BY_SIDE_WIDTH:
            self.post_message(self.TooNarrow(MIN_SIDE_BY_SIDE_WIDTH, self.size.width))
            return
        self.always_unified = not self.always_unified
        self.resize_lines()

    def action_leave(self) -> None:
        self.post_message(self.Leave())

    def on_resize(self, event: Resize) -> None:
        self._draw_heading()

    def _colour(self, document: DiffDocument, spans: dict[int, Spans]) -> None:
        document.spans = spans
        if document is self.document:
            self.refresh()


def _render_heading(line: DiffLine, width: int) -> StyledLine:
    match line.kind:
        case "file":
            return [(" " + cut_start(sanitize(line.text), width - 2), "")], "file"
        case "hunk":
            where = f" {line.new} " if line.new else " "
            text = f"──{where}"
            context = sanitize(expand_tabs(line.text).strip())
            return [(text, "hunk"), (context, "muted")], ""
        case _:
            return [("  " + sanitize(line.text), "header")], ""


def _background(line: DiffLine) -> str:
    return line.kind if line.kind in {"added", "removed"} else ""
