"""The keys, with the command that does the same as each."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Resize

from chorus.panel.diff_lines import Drawn
from chorus.panel.forms import Form
from chorus.panel.keys import ANSWERING, MOVING, REVIEWING, SEEING, Key
from chorus.panel.pane import Pieces, TextPane
from chorus.text.width import pad, wrap

COMMANDS_FROM = 84
# The columns of the keys, by their longest label.
KEYS, MOVING_KEYS = 5, 27
# Words in a column narrower than this are hard to read.
LEAST_BESIDE = 14


class HelpScreen(Form[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,q,enter", "leave", "leave", show=False),
        Binding("j", "down", "down", show=False),
    ]

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield TextPane(self.look, id="keys")

    def on_mount(self) -> None:
        pane = self.query_one("#keys", TextPane)
        pane.styles.max_height = "100%"
        pane.focus()

    def on_resize(self, event: Resize) -> None:
        super().on_resize(event)
        width = self.query_one("#keys", TextPane).size.width or event.size.width
        self.show_text("keys", render_help(width, commands=event.size.width >= COMMANDS_FROM))

    def action_down(self) -> None:
        self.query_one("#keys", TextPane).scroll_relative(y=1, animate=False)


def render_help(width: int, *, commands: bool) -> list[Drawn]:
    lines: list[Drawn] = []
    for title, keys in (("Answer", ANSWERING), ("Review", REVIEWING), ("See", SEEING)):
        lines.append(([(title, "heading")], ""))
        for key in keys:
            lines += _render_key(key, width, commands=commands)
        lines.append(([], ""))
    lines.append(([("Move", "heading")], ""))
    for label, words in MOVING:
        lines += _render_row(label, MOVING_KEYS, words, width)
    lines.append(([], ""))
    lines.append(([("esc", "key"), (" back to the panel", "muted")], ""))
    return lines


def _render_key(key: Key, width: int, *, commands: bool) -> list[Drawn]:
    if not commands:
        return _render_row(key.label, KEYS, key.help, width)
    row = [("  ", ""), (pad(key.label, KEYS), "key"), (pad(key.help, 48), ""), (f" {key.command}", "command")]
    return [(row, "")]


def _render_row(label: str, column: int, words: str, width: int) -> list[Drawn]:
    """The words beside their keys, wrapped there; below them where there is no room beside."""
    if width - column - 2 < LEAST_BESIDE:
        head: Pieces = [("  ", ""), (label, "key")]
        return [(head, ""), *(([("    ", ""), (row, "")], "") for row in wrap(words, width - 4))]
    first, *more = wrap(words, width - column - 2)
    blank = " " * (column + 2)
    return [
        ([("  ", ""), (pad(label, column), "key"), (first, "")], ""),
        *(([(blank, ""), (row, "")], "") for row in more),
    ]
