"""The keys, with the command that does the same as each."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from chorus.panel.cells import pad
from chorus.panel.diff_lines import Drawn
from chorus.panel.forms import Form
from chorus.panel.keys import ANSWERING, MOVING, REVIEWING, SEEING, Key
from chorus.panel.pane import TextPane

COMMANDS_FROM = 84


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
        lines = render_help(commands=self.app.size.width >= COMMANDS_FROM)
        pane.show(lines)
        pane.styles.height = len(lines)
        pane.styles.max_height = "100%"
        pane.focus()

    def action_down(self) -> None:
        self.query_one("#keys", TextPane).scroll_relative(y=1, animate=False)


def render_help(*, commands: bool) -> list[Drawn]:
    lines: list[Drawn] = []
    for title, keys in (("Answer", ANSWERING), ("Review", REVIEWING), ("See", SEEING)):
        lines.append(([(title, "heading")], ""))
        lines += [(_render_key(key, commands=commands), "") for key in keys]
        lines.append(([], ""))
    lines.append(([("Move", "heading")], ""))
    lines += [([("  ", ""), (pad(keys, 27), "key"), (words, "")], "") for keys, words in MOVING]
    lines.append(([], ""))
    lines.append(([("esc", "key"), (" back to the panel", "muted")], ""))
    return lines


def _render_key(key: Key, *, commands: bool) -> list[tuple[str, str]]:
    words = pad(key.help, 48) if commands else key.help
    return [
        ("  ", ""),
        (pad(key.label, 5), "key"),
        (words, ""),
        (f" {key.command}" if commands else "", "command"),
    ]
