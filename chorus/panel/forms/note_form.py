"""The form for a note to the agent, on an action or on one line of it."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input

from chorus.panel import command_lines
from chorus.panel.forms.form import CANCEL_KEY, Form
from chorus.panel.style.theme import ActivePalette
from chorus.text.sanitize import sanitize


class NoteForm(Form[str]):
    """Asks for the text of a note. Returns the text, or None if cancelled."""

    placeholder: ClassVar = "What should the agent know or change?"

    def __init__(self, active_palette: ActivePalette, what: str, place: str, quote: str = "") -> None:
        super().__init__(active_palette)
        self.what, self.place, self.quote = what, place, quote

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield self.text_pane("title")
            yield Input(placeholder=self.placeholder, id="note", compact=True)
            yield self.text_pane("foot")

    def on_mount(self) -> None:
        title = [([("Note on ", "waiting"), (sanitize(self.what), "title")], "")]
        title += [([("> ", "muted"), (sanitize(self.quote), "")], "")] if self.quote else []
        self.show_text("title", [*title, ([], "")])
        self._render_foot()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._render_foot()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self.dismiss(event.value.strip())

    def _render_foot(self) -> None:
        text = self.query_one("#note", Input).value
        command = command_lines.note(self.place, text or "\u2026")
        keys = [("enter", "key"), (" save as draft   ", "muted"), *CANCEL_KEY]
        self.show_text("foot", [([(sanitize(command), "command")], ""), (keys, "")])
