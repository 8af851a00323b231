"""How to land a lane: by turn, by action or in one commit, onto which branch, with which message.

Shows the commits it would make. Gives the choices, or None when the person leaves.
"""

from collections.abc import Awaitable, Callable

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input

from chorus.panel import equivalents
from chorus.panel.choice import Choice
from chorus.panel.diff_lines import Drawn
from chorus.panel.forms import Form
from chorus.panel.pane import Look
from chorus.panel.work import start_work
from chorus.text.sanitize import sanitize

WAYS = {"turn": "by turn", "action": "by action", "all": "all in one"}


class LandForm(Form[dict[str, str]]):
    """How to land a lane, with the commits it would make."""

    Preview = Callable[[dict[str, str]], Awaitable[list[Drawn]]]

    def __init__(self, look: Look, lane: str, preview: Preview) -> None:
        super().__init__(look)
        self.lane = lane
        self._preview = preview

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield self.text_pane("title")
            yield Choice(self.look, WAYS, id="by")
            yield Input(placeholder="onto: the current branch", id="onto", compact=True)
            yield Input(placeholder="message: made from the turns", id="message", compact=True)
            yield self.text_pane("commits")
            yield self.text_pane("foot")

    def on_mount(self) -> None:
        self.show_text("title", [([("Land ", "waiting"), (sanitize(self.lane), "title")], ""), ([], "")])
        self.query_one("#by").focus()
        self._changed()

    def choices(self) -> dict[str, str]:
        fields = {name: self.query_one(f"#{name}", Input).value.strip() for name in ("onto", "message")}
        by = self.query_one("#by", Choice).chosen
        return {"by": by, **{name: value for name, value in fields.items() if value}}

    def on_choice_changed(self, event: Choice.Changed) -> None:
        self._changed()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._changed()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(self.choices())

    def key_ctrl_l(self) -> None:
        self.dismiss(self.choices())

    def _changed(self) -> None:
        choices = self.choices()
        command = equivalents.land(
            self.lane, choices["by"], onto=choices.get("onto"), message=choices.get("message")
        )
        keys = [
            ("ctrl+l", "key"),
            (" land   ", "muted"),
            ("tab", "key"),
            (" next field   ", "muted"),
            ("esc", "key"),
            (" leave", "muted"),
        ]
        self.show_text("foot", [([(sanitize(command), "command")], ""), (keys, "")])
        start_work(self, "preview", self._show_commits, choices)

    async def _show_commits(self, choices: dict[str, str]) -> None:
        lines = await self._preview(choices)
        self.show_text("commits", [*lines, ([], "")])
