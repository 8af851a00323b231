"""A pane of lines: what every part of the panel draws with.

A subclass says how many lines there are and gives one line as pieces of text with style names; this
draws the visible ones. Pieces are shown as they are: no markup is read, and no control character
leaves this module even if a subclass forgot to make its text inert.
"""

from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.events import Resize
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from chorus.panel.palette import Palette
from chorus.text.sanitize import sanitize
from chorus.text.width import cell_width, wrap

# A piece is text and the names of its styles, joined by blanks.
Pieces = list[tuple[str, str]]


@dataclass(slots=True)
class Look:
    """How everything is drawn; the same object in every pane, so that a change reaches all."""

    palette: Palette


class Backdrop:
    """The colour behind a widget, kept: the toolkit works it out anew at every call."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._style: Style | None = None

    def style(self) -> Style:
        if self._style is None:
            self._style = Style(bgcolor=self._widget.rich_style.bgcolor)
        return self._style

    def forget(self) -> None:
        """Call when the widget's styles changed."""
        self._style = None


def render_strip(pieces: Pieces, base: str, width: int, look: Look, backdrop: Style) -> Strip:
    """One line, exactly `width` cells; the names in `base` lie under every piece."""
    under = backdrop + look.palette.style(base)
    segments = [
        Segment(
            text if text.isprintable() else sanitize(text), backdrop + look.palette.style(f"{base} {names}")
        )
        for text, names in pieces
    ]
    return Strip(segments).crop_extend(0, width, under)


class LinePane(ScrollView, can_focus=True):
    DEFAULT_CSS = """
    LinePane { overflow-x: hidden; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    """

    def __init__(self, look: Look, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.look = look
        self._backdrop = Backdrop(self)

    def line_count(self) -> int:
        raise NotImplementedError

    def line(self, index: int, width: int) -> tuple[Pieces, str]:
        """The pieces of one line, and the style under the whole of it."""
        raise NotImplementedError

    def resize_lines(self) -> None:
        """Call after the number of lines changed."""
        size = Size(0, self.line_count())
        scrolls = size.height > self.size.height
        if size.height >= self.virtual_size.height and scrolls is self.show_vertical_scrollbar:
            # Nothing around this pane moves (the scroll bar has its place either way), so nothing around
            # it is laid out and drawn anew.
            self.set_reactive(LinePane.virtual_size, size)
            if scrolls:
                self.vertical_scrollbar.window_virtual_size = size.height
        else:
            self.virtual_size = size
        self.refresh()

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:
        """A bar that comes after the lines were scrolled is not told where they are."""
        if shown:
            self.vertical_scrollbar.position = self.scroll_y

    def render_line(self, y: int) -> Strip:
        index = self.scroll_offset.y + y
        width = self.size.width
        backdrop = self._backdrop.style()
        if index >= self.line_count():
            return Strip.blank(width, backdrop)
        pieces, base = self.line(index, width)
        return render_strip(pieces, base, width, self.look, backdrop)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._backdrop.forget()

    def reveal(self, index: int) -> None:
        """Scroll so that the line can be seen, no further than needed."""
        self.scroll_to_region(Region(0, index, 1, 1), animate=False, force=True, x_axis=False)


class TextPane(LinePane):
    """A pane of lines that are given once. A line too long for it goes on in the next row."""

    def __init__(self, look: Look, *, id: str | None = None) -> None:
        super().__init__(look, id=id)
        self.lines: list[tuple[Pieces, str]] = []
        self._given: list[tuple[Pieces, str]] = []

    def show(self, lines: list[tuple[Pieces, str]]) -> None:
        self._given = lines
        self._fold()

    def on_resize(self, event: Resize) -> None:
        self._fold()

    def line_count(self) -> int:
        return len(self.lines)

    def line(self, index: int, width: int) -> tuple[Pieces, str]:
        return self.lines[index]

    def _fold(self) -> None:
        width = self.size.width or self.app.size.width
        self.lines = [(row, base) for pieces, base in self._given for row in fold(pieces, width)]
        self.styles.height = len(self.lines)
        self.resize_lines()


def fold(pieces: Pieces, width: int) -> list[Pieces]:
    """One line over as many rows as it needs, broken at blanks. Each piece keeps its style."""
    text = "".join(text for text, _ in pieces)
    if cell_width(text) <= width:
        return [pieces]
    rows: list[Pieces] = []
    left = list(pieces)
    for row in wrap(text, width):
        rows.append([])
        room = len(row)
        while room and left:
            words, style = left.pop(0)
            rows[-1].append((words[:room], style))
            if len(words) > room:
                left.insert(0, (words[room:], style))
            room -= min(room, len(words))
    return rows
