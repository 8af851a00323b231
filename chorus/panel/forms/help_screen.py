"""The help screen: every key, with the command that does the same."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Resize

from chorus.panel.forms.form import Form
from chorus.panel.keys import ANSWER_KEYS, MOVE_KEYS, REVIEW_KEYS, VIEW_KEYS, KeyBinding
from chorus.panel.widgets.line_pane import Pieces, StyledLine, TextPane
from chorus.text.width import pad, wrap

# A narrower screen has no column for the commands.
MIN_COMMANDS_WIDTH = 114
# The widths of the columns.
KEY_WIDTH, MOVE_KEY_WIDTH, HELP_WIDTH = 8, 27, 65
# If the column for the text is narrower, the text is put below its key.
MIN_TEXT_WIDTH = 14


class HelpScreen(Form[None]):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,q,enter", "cancel", "cancel", show=False),
        Binding("j", "scroll(1)", "down", show=False),
        Binding("k", "scroll(-1)", "up", show=False),
    ]

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield TextPane(self.active_palette, id="keys")

    def on_mount(self) -> None:
        pane = self.query_one("#keys", TextPane)
        pane.styles.max_height = "100%"
        pane.focus()

    def on_resize(self, event: Resize) -> None:
        super().on_resize(event)
        width = self.query_one("#keys", TextPane).text_width
        self.show_text("keys", render_help(width, commands=event.size.width >= MIN_COMMANDS_WIDTH))

    def action_scroll(self, rows: int) -> None:
        self.query_one("#keys", TextPane).scroll_relative(y=rows, animate=False)


def render_help(width: int, *, commands: bool) -> list[StyledLine]:
    lines: list[StyledLine] = []
    for title, keys in (("Answer", ANSWER_KEYS), ("Review", REVIEW_KEYS), ("View", VIEW_KEYS)):
        lines.append(([(title, "heading")], ""))
        for key in keys:
            lines += _render_key(key, width, commands=commands)
        lines.append(([], ""))
    lines.append(([("Move", "heading")], ""))
    for label, text in MOVE_KEYS:
        lines += _render_row(label, MOVE_KEY_WIDTH, text, width)
    lines.append(([], ""))
    lines.append(([("esc", "key"), (" back to the panel", "muted")], ""))
    return lines


def _render_key(key: KeyBinding, width: int, *, commands: bool) -> list[StyledLine]:
    if not commands:
        return _render_row(key.label, KEY_WIDTH, key.help, width)
    row = [
        ("  ", ""),
        (pad(key.label, KEY_WIDTH), "key"),
        (pad(key.help, HELP_WIDTH), ""),
        (f" {key.command}", "command"),
    ]
    return [(row, "")]


def _render_row(label: str, column: int, text: str, width: int) -> list[StyledLine]:
    """Render `text`, wrapped, to the right of `label`, or below if there is too little room.

    `column`: the width of the column of labels.
    """
    if width - column - 2 < MIN_TEXT_WIDTH:
        head: Pieces = [("  ", ""), (label, "key")]
        return [(head, ""), *(([("    ", ""), (row, "")], "") for row in wrap(text, width - 4))]
    first, *more = wrap(text, width - column - 2)
    blank = " " * (column + 2)
    return [
        ([("  ", ""), (pad(label, column), "key"), (first, "")], ""),
        *(([(blank, ""), (row, "")], "") for row in more),
    ]
