"""Forms for text to the agent: a denial with a message, or an answer in the user's own words."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input

from chorus.panel import command_lines
from chorus.panel.forms.form import PromptForm
from chorus.text.sanitize import sanitize


class DenyForm(PromptForm[str]):
    """A denial with a message."""

    heading: ClassVar = "Deny: "
    placeholder: ClassVar = "What should the agent do instead?"
    verb: ClassVar = "deny"

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield self.text_pane("title")
            yield Input(placeholder=self.placeholder, id="message", compact=True)
            yield self.text_pane("foot")

    def on_mount(self) -> None:
        about = sanitize(self.about())
        self.show_text("title", [([(self.heading, "waiting"), (about, "title")], ""), ([], "")])
        self.refresh_foot()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if self.is_pending() and event.value.strip():
            self.dismiss(event.value.strip())
        else:
            self.refresh_foot()

    def command(self) -> str:
        return command_lines.answer(self.prompt.id, "deny", message=self.typed())

    def enter_label(self) -> str:
        return self.verb

    def about(self) -> str:
        return self.prompt.title or self.prompt.question

    def typed(self) -> str:
        return self.query_one("#message", Input).value or "…"


class AnswerForm(DenyForm):
    """An answer in the user's own words instead of one of the options."""

    heading: ClassVar = "Answer: "
    placeholder: ClassVar = "Your answer"
    verb: ClassVar = "answer"

    def about(self) -> str:
        return self.prompt.question or self.prompt.title

    def command(self) -> str:
        return command_lines.answer_text(self.prompt.id, self.prompt.kind, self.typed())
