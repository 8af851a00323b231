"""Forms for text to the agent: a denial with a message, or an answer in the user's own words."""

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input

from chorus.panel import command_lines
from chorus.panel.forms.form import CANCEL_KEY, Form
from chorus.panel.state.items import PendingPrompt
from chorus.panel.style.theme import ActivePalette
from chorus.text.sanitize import sanitize


class DenyForm(Form[str]):
    """A denial with a message. Bound to one prompt: once that is gone or has changed, nothing is sent."""

    heading: ClassVar = "Deny: "
    placeholder: ClassVar = "What should the agent do instead?"
    verb: ClassVar = "deny"

    def __init__(
        self,
        active_palette: ActivePalette,
        prompt: PendingPrompt,
        current: Callable[[], PendingPrompt | None],
    ) -> None:
        super().__init__(active_palette)
        self.prompt = prompt
        self._current = current

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield self.text_pane("title")
            yield Input(placeholder=self.placeholder, id="message", compact=True)
            yield self.text_pane("foot")

    def on_mount(self) -> None:
        about = sanitize(self.prompt.question or self.prompt.title)
        self.show_text("title", [([(self.heading, "waiting"), (about, "title")], ""), ([], "")])
        self.refresh_foot()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.refresh_foot()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if self.is_pending() and event.value.strip():
            self.dismiss(event.value.strip())
        else:
            self.refresh_foot()

    def is_pending(self) -> bool:
        current = self._current()
        return current is not None and current.fingerprint == self.prompt.fingerprint

    def refresh_foot(self) -> None:
        """Show the command, or that the prompt is gone. Call it also when the prompts changed."""
        if not self.is_pending():
            gone = ("This prompt is gone: nothing will be sent.  ", "error")
            self.show_text("foot", [([gone, *CANCEL_KEY], "")])
            return
        text = self.query_one("#message", Input).value
        keys = [("enter", "key"), (f" {self.verb}   ", "muted"), *CANCEL_KEY]
        self.show_text("foot", [([(sanitize(self.command(text or "…")), "command")], ""), (keys, "")])

    def command(self, text: str) -> str:
        return command_lines.answer(self.prompt.id, "deny", message=text)


class AnswerForm(DenyForm):
    """An answer in the user's own words instead of one of the options."""

    heading: ClassVar = "Answer: "
    placeholder: ClassVar = "Your answer"
    verb: ClassVar = "answer"

    def command(self, text: str) -> str:
        return command_lines.answer_text(self.prompt.id, self.prompt.kind, text)
