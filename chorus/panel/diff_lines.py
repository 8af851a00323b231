"""A diff as lines to draw: unified, or side by side.

Receives a parsed patch; gives pieces with style names for one line at a time, so that only what is in
sight is worked on. Text is made inert before anything else looks at it. Syntax styles may come later
and are laid over the text that is already shown.
"""

from dataclasses import dataclass, field
from itertools import pairwise

from chorus.panel.pane import Pieces
from chorus.panel.patch import Line, Patch, changed_span, plan_pairs
from chorus.text.sanitize import expand_tabs, sanitize
from chorus.text.width import cell_width, cut_start, pad

# Two columns of code with their numbers: below this each would be too narrow to read.
SIDE_BY_SIDE_FROM = 110
NUMBERS_FROM = 60
SIGNS = {"added": ("+", "plus"), "removed": ("−", "minus"), "context": (" ", "muted")}

# Where a piece of syntax starts and ends in the shown text, and its style.
Spans = list[tuple[int, int, str]]
Drawn = tuple[Pieces, str]


@dataclass(slots=True)
class DiffDocument:
    patch: Patch
    spans: dict[int, Spans] = field(default_factory=dict)
    _texts: dict[int, str] = field(default_factory=dict)
    _pairs: list[tuple[Line | None, Line | None]] | None = None
    _index: dict[int, int] = field(default_factory=dict)
    _partners: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._index = {id(line): index for index, line in enumerate(self.patch.lines)}
        for left, right in self.pairs():
            if left is not None and right is not None and left is not right:
                one, other = self._index[id(left)], self._index[id(right)]
                self._partners |= {one: other, other: one}

    def pairs(self) -> list[tuple[Line | None, Line | None]]:
        if self._pairs is None:
            self._pairs = plan_pairs(self.patch.lines)
        return self._pairs

    def line_count(self, *, side_by_side: bool) -> int:
        lines = len(self.pairs()) if side_by_side else len(self.patch.lines)
        return lines + (1 if self.patch.left_out else 0)

    def text(self, index: int) -> str:
        """One line's text as it is shown."""
        shown = self._texts.get(index)
        if shown is None:
            shown = self._texts[index] = self._render_text(index)
        return shown

    def render_unified(self, index: int, width: int, offset: int) -> Drawn:
        if index >= len(self.patch.lines):
            return self._render_left_out()
        line = self.patch.lines[index]
        if line.kind not in SIGNS:
            return render_heading(line, width)
        sign, sign_style = SIGNS[line.kind]
        number = f"{line.old or '':>5}{line.new or '':>5} " if width >= NUMBERS_FROM else ""
        gutter: Pieces = [(number, "number"), (f"{sign} ", sign_style)]
        return [*gutter, *self._render_code(index, offset)], _under(line)

    def render_pair(self, index: int, width: int, offset: int) -> Drawn:
        if index >= len(self.pairs()):
            return self._render_left_out()
        left, right = self.pairs()[index]
        if left is not None and left.kind not in SIGNS:
            return render_heading(left, width)
        half = (width - 1) // 2
        old = self._render_side(left, left.old if left else None, half, offset)
        new = self._render_side(right, right.new if right else None, width - 1 - half, offset)
        return [*old, ("│", "line"), *new], ""

    def _render_side(self, line: Line | None, number: int | None, width: int, offset: int) -> Pieces:
        if line is None:
            return [(" " * width, "")]
        sign, sign_style = SIGNS[line.kind]
        under = _under(line)
        code = self._render_code(self._index[id(line)], offset)
        pieces: Pieces = [(f"{number or '':>5} ", "number"), (f"{sign} ", sign_style), *code]
        return [(text, f"{under} {style}") for text, style in _fit(pieces, width)]

    def _render_code(self, index: int, offset: int) -> Pieces:
        """The text in its syntax colours, with the part that differs from its partner marked."""
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
        """Where this line differs from the one it replaces; nowhere when almost nothing is the same."""
        if (partner := self._partners.get(index)) is None:
            return 0, 0
        text, other = self.text(index), self.text(partner)
        start, end, other_end = changed_span(text, other)
        # Lines with little in common need no mark: all of the new one is new.
        alike = end - start < len(text.strip()) * 3 // 5 and other_end - start < len(other.strip()) * 3 // 5
        return (start, end) if alike else (0, 0)

    def _render_text(self, index: int) -> str:
        line = self.patch.lines[index]
        text = sanitize(expand_tabs(line.text))
        partner = self._partners.get(index)
        if partner is not None and line.text != (other := self.patch.lines[partner].text):
            blank_only = line.text.expandtabs().rstrip() == other.expandtabs().rstrip()
            if len(line.text) < len(text) * 2 and blank_only:
                # Only blanks differ: they are shown, or both lines would look the same.
                text = sanitize(line.text.replace("\t", "→   "))
        end = len(text.rstrip(" "))
        return text[:end] + "·" * (len(text) - end) if line.kind == "added" else text

    def _render_left_out(self) -> Drawn:
        return [(f"  … {self.patch.left_out:,} more lines are not shown here", "note")], ""


def render_heading(line: Line, width: int) -> Drawn:
    match line.kind:
        case "file":
            return [(" " + cut_start(sanitize(line.text), width - 2), "")], "file"
        case "hunk":
            where = f" {line.new} " if line.new else " "
            text = f"──{where}"
            context = sanitize(expand_tabs(line.text).strip())
            return [(text, "hunk"), (context, "muted")], ""
        case _:
            return [("  " + sanitize(line.text), "note")], ""


def _under(line: Line) -> str:
    return line.kind if line.kind in {"added", "removed"} else ""


def _fit(pieces: Pieces, width: int) -> Pieces:
    """The pieces in exactly `width` cells."""
    fitted: Pieces = []
    left = width
    for text, style in pieces:
        size = cell_width(text)
        fitted.append((text, style) if size <= left else (pad(text, left), style))
        left -= min(size, left)
        if not left:
            break
    return [*fitted, (" " * left, "")]
