"""The base of the widgets that draw lines. A subclass renders one line at a time.

Text is never read as markup. Control and hidden characters are made visible, even if a subclass forgot to
sanitize its text.
"""

from rich.segment import Segment
from rich.style import Style
from textual.events import Resize
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from chorus.panel.style.theme import ActivePalette
from chorus.text.sanitize import sanitize
from chorus.text.width import cell_width, first_cells, pad, wrap

# A piece is text and the names of its styles, joined by blanks.
Pieces = list[tuple[str, str]]
# A line is its pieces, and the names of the styles for the whole line.
StyledLine = tuple[Pieces, str]


class BackgroundStyle:
    """Caches a widget's background, which the toolkit would compute at every call."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._style: Style | None = None

    def style(self) -> Style:
        if self._style is None:
            self._style = Style(bgcolor=self._widget.rich_style.bgcolor)
        return self._style

    def clear(self) -> None:
        self._style = None


def render_strip(
    pieces: Pieces, base: str, width: int, active_palette: ActivePalette, background: Style
) -> Strip:
    """Render one line, exactly `width` cells wide. The styles in `base` apply to every piece."""
    style = active_palette.current.style
    under = background + style(base)
    segments = [Segment(sanitize(text), background + style(f"{base} {names}")) for text, names in pieces]
    return Strip(segments).crop_extend(0, width, under)


def fit_pieces(pieces: Pieces, width: int) -> Pieces:
    """Pad the pieces to exactly `width` cells, or cut them and end with an ellipsis."""
    total = sum(cell_width(text) for text, _ in pieces)
    if total <= width:
        return [*pieces, (" " * (width - total), "")]
    fitted: Pieces = []
    left = width - 1  # the last cell is for the ellipsis
    for text, style in pieces:
        size = cell_width(text)
        if size > left:
            # Other pieces may follow, so this piece gets the ellipsis even if it would just fit.
            return [*fitted, (pad(first_cells(text, left) + "…", left + 1), style)]
        fitted.append((text, style))
        left -= size
    return fitted


class LinePane(ScrollView, can_focus=True):
    DEFAULT_CSS = """
    LinePane { overflow-x: hidden; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    """

    def __init__(self, active_palette: ActivePalette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.active_palette = active_palette
        self._background_style = BackgroundStyle(self)

    @property
    def text_width(self) -> int:
        """The columns for text, without those reserved for a scroll bar."""
        return max((self.size.width or self.app.size.width) - self.styles.scrollbar_size_vertical, 1)

    def line_count(self) -> int:
        raise NotImplementedError

    def line(self, index: int, width: int) -> StyledLine:
        raise NotImplementedError

    def resize_lines(self) -> None:
        """Adjust the scrollable height to the number of lines, and redraw."""
        size = Size(0, self.line_count())
        scrolls = size.height > self.size.height
        if size.height >= self.virtual_size.height and scrolls is self.show_vertical_scrollbar:
            # Nothing around this pane moves (space for the scroll bar is reserved), so Textual need not lay
            # out and draw everything around the pane.
            self.set_reactive(LinePane.virtual_size, size)
            if scrolls:
                self.vertical_scrollbar.window_virtual_size = size.height
        else:
            self.virtual_size = size
        self.refresh()

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:
        """Set the position of a scroll bar that appears only after the lines were scrolled."""
        if shown:
            self.vertical_scrollbar.position = self.scroll_y

    def render_line(self, y: int) -> Strip:
        index = self.scroll_offset.y + y
        width = self.size.width
        background = self._background_style.style()
        if index >= self.line_count():
            return Strip.blank(width, background)
        pieces, base = self.line(index, width)
        if cell_width("".join(text for text, _ in pieces).rstrip()) > width:
            pieces = fit_pieces(pieces, self.text_width)
        return render_strip(pieces, base, width, self.active_palette, background)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._background_style.clear()

    def reveal(self, index: int) -> None:
        """Scroll no further than needed to make the line visible."""
        self.scroll_to_region(Region(0, index, 1, 1), animate=False, force=True, x_axis=False)


class TextPane(LinePane):
    """A pane of given lines, wrapped to its width."""

    def __init__(self, active_palette: ActivePalette, *, id: str | None = None) -> None:
        super().__init__(active_palette, id=id)
        self.lines: list[StyledLine] = []
        self._unwrapped: list[StyledLine] = []

    def show(self, lines: list[StyledLine]) -> None:
        self._unwrapped = lines
        self._wrap()

    def on_resize(self, event: Resize) -> None:
        self._wrap()

    def line_count(self) -> int:
        return len(self.lines)

    def line(self, index: int, width: int) -> StyledLine:
        return self.lines[index]

    def _wrap(self) -> None:
        width = self.text_width
        self.lines = [(row, base) for pieces, base in self._unwrapped for row in wrap_pieces(pieces, width)]
        self.styles.height = len(self.lines)
        self.resize_lines()


def wrap_text(text: str, style: str, width: int, *, indent: int = 1) -> list[StyledLine]:
    rows = wrap(text, max(width - indent, 1))
    return [([(" " * indent + row.rstrip(), style)], "") for row in rows]


def wrap_pieces(pieces: Pieces, width: int) -> list[Pieces]:
    """Break one line into rows, at blanks if possible. Each piece keeps its style."""
    text = "".join(text for text, _ in pieces)
    if cell_width(text) <= width:
        return [pieces]
    rows: list[Pieces] = []
    left = list(pieces)
    for row in wrap(text, width):
        rows.append([])
        room = len(row)
        while room and left:
            piece, style = left.pop(0)
            rows[-1].append((piece[:room], style))
            if len(piece) > room:
                left.insert(0, (piece[room:], style))
            room -= min(room, len(piece))
    return rows
