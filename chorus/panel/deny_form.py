"""Words for the model: a denial with a message, or an answer of the person's own.

Gives the words, or None when the person leaves. Bound to one prompt: when that one goes or changes
while the person types, nothing is sent.
"""

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input

from chorus.panel import equivalents
from chorus.panel.forms import Form
from chorus.panel.items import Prompt
from chorus.panel.pane import Look
from chorus.text.sanitize import sanitize


class DenyForm(Form[str]):
    """A message for the agent. Bound to one prompt: when that one goes or changes, nothing is sent."""

    lead: ClassVar = "Deny: "
    wanted: ClassVar = "What should the agent do instead?"
    deed: ClassVar = "deny"

    def __init__(self, look: Look, prompt: Prompt, current: Callable[[], Prompt | None]) -> None:
        super().__init__(look)
        self.prompt = prompt
        self._current = current

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield self.text_pane("title")
            yield Input(placeholder=self.wanted, id="message", compact=True)
            yield self.text_pane("foot")

    def on_mount(self) -> None:
        about = sanitize(self.prompt.question or self.prompt.title)
        self.show_text("title", [([(self.lead, "waiting"), (about, "title")], ""), ([], "")])
        self.refresh_foot()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.refresh_foot()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if self.still_there() and event.value.strip():
            self.dismiss(event.value.strip())
        else:
            self.refresh_foot()

    def still_there(self) -> bool:
        current = self._current()
        return current is not None and current.fingerprint == self.prompt.fingerprint

    def refresh_foot(self) -> None:
        """Call also when the prompts changed: a message has nowhere to go once its prompt is gone."""
        if not self.still_there():
            self.show_text(
                "foot",
                [
                    (
                        [
                            ("This prompt is gone: nothing will be sent.  ", "error"),
                            ("esc", "key"),
                            (" leave", "muted"),
                        ],
                        "",
                    )
                ],
            )
            return
        text = self.query_one("#message", Input).value
        command = self.command(text or "…")
        keys = [("enter", "key"), (f" {self.deed}   ", "muted"), ("esc", "key"), (" leave", "muted")]
        self.show_text("foot", [([(sanitize(command), "command")], ""), (keys, "")])

    def command(self, text: str) -> str:
        return equivalents.answer(self.prompt.id, "deny", message=text)


class WordsForm(DenyForm):
    """The person's own words in place of the choices."""

    lead: ClassVar = "Answer: "
    wanted: ClassVar = "Your answer"
    deed: ClassVar = "answer"

    def command(self, text: str) -> str:
        return equivalents.words(self.prompt.id, self.prompt.kind, text)
