"""The status line and the key bar at the bottom of the panel, and the headings over its parts."""

from dataclasses import dataclass

from textual.events import Click, Resize
from textual.message import Message

from chorus.errors import ChorusError, in_one_line
from chorus.panel.state.model import TaskProgress
from chorus.panel.style.theme import ActivePalette
from chorus.panel.widgets.line_pane import LinePane, Pieces, StyledLine
from chorus.text.sanitize import sanitize
from chorus.text.width import cell_width, cut, wrap

_SYMBOLS = {"done": "✓ ", "error": "✗ ", "warning": "! ", "info": ""}
# Any text but a confirmation, which is cut, is wrapped over at most this many rows.
MAX_ROWS = 4
# In a narrower panel, a command that does not fit next to the text is left out.
MIN_COMMAND_WIDTH = 48
# A command that would be cut to less is left out.
MIN_CUT_COMMAND_WIDTH = 16
# How long a text is shown. Even a warning is cleared, because its cause may be gone.
SHOWN_SECONDS = {"info": 10.0, "done": 10.0, "warning": 10.0, "error": 60.0}
# What needs no attention is drawn faintly after this long.
FADE_SECONDS = 4.0
_FADING = frozenset({"info", "done"})


@dataclass(frozen=True, slots=True)
class StatusText:
    """The content of the status line. `command`: the command line that does the same as the key pressed."""

    text: str
    level: str = "info"
    command: str = ""


class StatusLine(LinePane, can_focus=False):
    def __init__(self, active_palette: ActivePalette, *, id: str | None = None) -> None:
        super().__init__(active_palette, id=id)
        self.current = StatusText("")
        self.progress: list[TaskProgress] = []
        self.link = ""
        self._faded = False

    def show(self, text: str, level: str = "info", command: str = "") -> None:
        self.current = status = StatusText(text, level, command)
        self._faded = False
        self._fit()
        if text and level in SHOWN_SECONDS:
            self.set_timer(SHOWN_SECONDS[level], lambda: self._clear(status))
        if text and level in _FADING:
            self.set_timer(FADE_SECONDS, lambda: self._fade(status))

    def show_error(self, error: ChorusError, command: str) -> None:
        self.show(in_one_line(error), "error", command)

    def show_progress(self, progress: list[TaskProgress], link: str) -> None:
        self.progress, self.link = progress, link
        self._fit()

    def on_resize(self, event: Resize) -> None:
        self._fit()

    def line_count(self) -> int:
        return len(self._rows(self.size.width))

    def line(self, index: int, width: int) -> StyledLine:
        return self._rows(width)[index], ""

    def _rows(self, width: int) -> list[Pieces]:
        lead: Pieces = [(" ", "")]
        for progress in self.progress:
            lead.append((f"{render_progress(progress)}  ", "waiting"))
        if self.link:
            lead.append((f"{self.link}  ", "warning"))
        used = sum(cell_width(text) for text, _ in lead)
        rows = render_status(self.current, width - used)
        if self._faded:
            rows = [[(text, "muted") for text, _ in row] for row in rows]
        first, *more = rows
        return [[*lead, *first], *([(" " * used, ""), *row] for row in more)]

    def _fit(self) -> None:
        self.styles.height = self.line_count()
        self.refresh()

    def _fade(self, status: StatusText) -> None:
        if self.current is status:
            self._faded = True
            self.refresh()

    def _clear(self, status: StatusText) -> None:
        if self.current is status:
            self.show("")


def render_status(status: StatusText, width: int) -> list[Pieces]:
    """Render the text, and the command at the right. A command without enough room is cut or left out."""
    text = _SYMBOLS.get(status.level, "") + sanitize(status.text)
    if status.level != "done" and cell_width(text) > width > 0:
        # Why something went wrong matters more than the command.
        rows = wrap(text, width)
        if len(rows) > MAX_ROWS:
            rows[MAX_ROWS - 1 :] = [cut("".join(rows[MAX_ROWS - 1 :]), width)]
        return [[(row, status.level)] for row in rows]
    if not status.command or (width < MIN_COMMAND_WIDTH and cell_width(text + status.command) + 3 > width):
        return [[(cut(text, width), status.level)]]
    command = sanitize(status.command)
    room = width - cell_width(command) - 3
    if cell_width(text) > room:
        # What was done matters more than the command.
        text = cut(text, width)
        left = width - cell_width(text) - 3
        command = cut(command, left) if left >= MIN_CUT_COMMAND_WIDTH else ""
    gap = width - cell_width(text) - cell_width(command) - 1
    return [[(text, status.level), (" " * max(gap, 1), ""), (command, "command")]]


def render_progress(progress: TaskProgress) -> str:
    what = sanitize(progress.what)
    if not progress.total:
        return f"{what}…" + (f" {progress.done:,}" if progress.done else "")
    filled = progress.done * 10 // progress.total
    return f"{what} {'━' * filled}{'╌' * (10 - filled)} {progress.done:,}/{progress.total:,}"


class KeyBar(LinePane, can_focus=False):
    """The keys that are useful now. A click presses a key."""

    class Pressed(Message):
        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, active_palette: ActivePalette, *, id: str | None = None) -> None:
        super().__init__(active_palette, id=id)
        self.keys: list[tuple[str, str]] = []

    def show(self, keys: list[tuple[str, str]]) -> None:
        if keys != self.keys:
            self.keys = keys
            self.refresh()

    def line_count(self) -> int:
        return 1

    def line(self, index: int, width: int) -> StyledLine:
        pieces: Pieces = [(" ", "")]
        for _, key, word in self._fitting(width):
            pieces += [(key, "key"), (f" {word}  ", "muted")]
        return pieces, "bar"

    def on_click(self, event: Click) -> None:
        for start, key, word in self._fitting(self.size.width):
            if start <= event.x < start + len(key) + len(word) + 1:
                self.post_message(self.Pressed(key))

    def _fitting(self, width: int) -> list[tuple[int, str, str]]:
        """Return the keys that fit, each with its column. The last key, for help, is always included."""
        fitting: list[tuple[int, str, str]] = []
        at = 1
        room = width - sum(len(part) for part in self.keys[-1]) - 4 if self.keys else width
        for index, (key, word) in enumerate(self.keys):
            size = len(key) + len(word) + 3
            if at + size - 2 > room and index < len(self.keys) - 1:
                continue
            fitting.append((at, key, word))
            at += size
        return fitting


class Heading(LinePane, can_focus=False):
    """A heading over a part of the panel, followed by a horizontal line."""

    def __init__(self, active_palette: ActivePalette, *, id: str | None = None) -> None:
        super().__init__(active_palette, id=id)
        self.left: Pieces = []
        self.right: Pieces = []

    def show(self, left: Pieces, right: Pieces) -> None:
        if (left, right) != (self.left, self.right):
            self.left, self.right = left, right
            self.refresh()

    def line_count(self) -> int:
        return 1

    def line(self, index: int, width: int) -> StyledLine:
        room = width - 5 - sum(cell_width(text) for text, _ in self.right)
        left: Pieces = []
        for text, style in self.left:
            left.append((cut(text, room), style))
            room -= cell_width(left[-1][0])
        line = " " + "─" * max(room, 0) + " " if room > 0 else "  "
        return [("─ ", "line"), *left, (line, "line"), *self.right, (" ", "")], ""
