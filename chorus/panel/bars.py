"""The lines at the foot of the panel: what was done or goes on, and the keys there are.

Receives what to say; gives one line each. Everything the panel does is said here with the command
that does the same.
"""

from dataclasses import dataclass

from textual.events import Click, Resize
from textual.message import Message

from chorus.panel.model import Progress
from chorus.panel.pane import LinePane, Look, Pieces
from chorus.text.sanitize import sanitize
from chorus.text.width import cell_width, cut, wrap

SIGNS = {"done": "✓ ", "error": "✗ ", "warning": "! ", "info": ""}
# Why nothing was done is said to its end, over so many rows where one is too short.
MOST_ROWS = 4
# Where words and command do not fit, and half of the row would say nothing of either, the words have it.
COMMAND_FROM = 48
# What stands in the way now may not do so in a while: it is not said for ever.
LASTS_SECONDS = {"warning": 10.0, "error": 60.0}


@dataclass(frozen=True, slots=True)
class Said:
    """One thing said to the person. `command`: what does the same on the command line."""

    text: str
    level: str = "info"
    command: str = ""


class StatusLine(LinePane, can_focus=False):
    def __init__(self, look: Look, *, id: str | None = None) -> None:
        super().__init__(look, id=id)
        self.said = Said("")
        self.progress: list[Progress] = []
        self.link = ""

    def say(self, said: Said) -> None:
        self.said = said
        self._fit()
        if said.level in LASTS_SECONDS:
            self.set_timer(LASTS_SECONDS[said.level], lambda: self._forget(said))

    def show_progress(self, progress: list[Progress], link: str) -> None:
        self.progress, self.link = progress, link
        self._fit()

    def on_resize(self, event: Resize) -> None:
        self._fit()

    def line_count(self) -> int:
        return len(self._rows(self.size.width))

    def line(self, index: int, width: int) -> tuple[Pieces, str]:
        return self._rows(width)[index], ""

    def _rows(self, width: int) -> list[Pieces]:
        lead: Pieces = [(" ", "")]
        for progress in self.progress:
            lead.append((f"{render_progress(progress)}  ", "waiting"))
        if self.link:
            lead.append((f"{self.link}  ", "warning"))
        used = sum(cell_width(text) for text, _ in lead)
        first, *more = render_said(self.said, width - used)
        return [[*lead, *first], *([(" " * used, ""), *row] for row in more)]

    def _fit(self) -> None:
        self.styles.height = self.line_count()
        self.refresh()

    def _forget(self, said: Said) -> None:
        if self.said is said:
            self.say(Said(""))


def render_said(said: Said, width: int) -> list[Pieces]:
    """The words first; the command on the right where there is room, else after them."""
    text = SIGNS.get(said.level, "") + sanitize(said.text)
    if said.level in LASTS_SECONDS and cell_width(text) > width > 0:
        # Why something went wrong matters more than how it is typed.
        rows = wrap(text, width)
        if len(rows) > MOST_ROWS:
            rows[MOST_ROWS - 1 :] = [cut("".join(rows[MOST_ROWS - 1 :]), width)]
        return [[(row, said.level)] for row in rows]
    if not said.command or (width < COMMAND_FROM and cell_width(text + said.command) + 3 > width):
        return [[(cut(text, width), said.level)]]
    command = sanitize(said.command)
    room = width - cell_width(command) - 3
    if cell_width(text) > room:
        text = cut(text, width if said.level == "error" else max(room, width // 2))
        command = cut(command, max(width - cell_width(text) - 3, 0))
    gap = width - cell_width(text) - cell_width(command) - 1
    return [[(text, said.level), (" " * max(gap, 1), ""), (command, "command")]]


def render_progress(progress: Progress) -> str:
    what = sanitize(progress.what)
    if not progress.total:
        return f"{what}…" + (f" {progress.done:,}" if progress.done else "")
    filled = progress.done * 10 // progress.total
    return f"{what} {'━' * filled}{'╌' * (10 - filled)} {progress.done:,}/{progress.total:,}"


class KeyBar(LinePane, can_focus=False):
    """The keys that matter now; a click on one presses it."""

    class Pressed(Message):
        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, look: Look, *, id: str | None = None) -> None:
        super().__init__(look, id=id)
        self.keys: list[tuple[str, str]] = []

    def show(self, keys: list[tuple[str, str]]) -> None:
        if keys != self.keys:
            self.keys = keys
            self.refresh()

    def line_count(self) -> int:
        return 1

    def line(self, index: int, width: int) -> tuple[Pieces, str]:
        pieces: Pieces = [(" ", "")]
        for _, key, word in self._fitting(width):
            pieces += [(key, "key"), (f" {word}  ", "muted")]
        return pieces, "bar"

    def on_click(self, event: Click) -> None:
        for start, key, word in self._fitting(self.size.width):
            if start <= event.x < start + len(key) + len(word) + 1:
                self.post_message(self.Pressed(key))

    def _fitting(self, width: int) -> list[tuple[int, str, str]]:
        """Where each key starts; help is always there, the rest as far as it fits."""
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


class Rule(LinePane, can_focus=False):
    """A heading over a part of the panel, drawn out to a line."""

    def __init__(self, look: Look, *, id: str | None = None) -> None:
        super().__init__(look, id=id)
        self.left: Pieces = []
        self.right: Pieces = []

    def show(self, left: Pieces, right: Pieces) -> None:
        if (left, right) != (self.left, self.right):
            self.left, self.right = left, right
            self.refresh()

    def line_count(self) -> int:
        return 1

    def line(self, index: int, width: int) -> tuple[Pieces, str]:
        room = width - 5 - sum(cell_width(text) for text, _ in self.right)
        left: Pieces = []
        for text, style in self.left:
            left.append((cut(text, room), style))
            room -= cell_width(left[-1][0])
        line = " " + "─" * max(room, 0) + " " if room > 0 else "  "
        return [("─ ", "line"), *left, (line, "line"), *self.right, (" ", "")], ""
