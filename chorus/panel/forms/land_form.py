"""The form for landing a lane: by turn, by action or in one commit, onto which branch, with which message."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Click
from textual.message import Message
from textual.widgets import Input

from chorus.panel import command_lines
from chorus.panel.background import start_task
from chorus.panel.forms.form import CANCEL_KEY, Form
from chorus.panel.theme import Appearance
from chorus.panel.widgets.line_pane import LinePane, Pieces, StyledLine
from chorus.text.sanitize import sanitize

GROUPINGS = {"turn": "by turn", "action": "by action", "all": "all in one"}


class ChoiceBar(LinePane):
    """A few choices on one line: left, right or a click chooses."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,space,l", "step(1)", "next", show=False),
        Binding("left,h", "step(-1)", "previous", show=False),
    ]

    class Changed(Message):
        """Another choice was made."""

    def __init__(self, appearance: Appearance, labels: Mapping[str, str], *, id: str | None = None) -> None:
        super().__init__(appearance, id=id)
        self._labels = labels
        self.chosen = next(iter(labels))

    def line_count(self) -> int:
        return 1

    def line(self, index: int, width: int) -> StyledLine:
        pieces: Pieces = []
        for _, name, label in self._columns():
            chosen = name == self.chosen
            style = "muted" if not chosen else "strong cursor" if self.has_focus else "strong"
            pieces += [("● " if chosen else "○ ", "open" if chosen else "muted"), (label, style), ("   ", "")]
        return pieces, ""

    def action_step(self, step: int) -> None:
        names = list(self._labels)
        self._choose(names[(names.index(self.chosen) + step) % len(names)])

    def on_click(self, event: Click) -> None:
        for start, name, label in self._columns():
            if start <= event.x < start + len(label) + 2:
                self._choose(name)

    def _choose(self, name: str) -> None:
        if name != self.chosen:
            self.chosen = name
            self.refresh()
            self.post_message(self.Changed())

    def _columns(self) -> Iterator[tuple[int, str, str]]:
        """Yield each choice with the column it starts at."""
        at = 0
        for name, label in self._labels.items():
            yield at, name, label
            at += len(label) + 5


class LandForm(Form[dict[str, str]]):
    """How to land a lane, with a preview of the commits."""

    Preview = Callable[[dict[str, str]], Awaitable[list[StyledLine]]]

    def __init__(self, appearance: Appearance, lane: str, preview: Preview) -> None:
        super().__init__(appearance)
        self.lane = lane
        self._preview = preview

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield self.text_pane("title")
            yield ChoiceBar(self.appearance, GROUPINGS, id="by")
            yield Input(placeholder="onto: the current branch", id="onto", compact=True)
            yield Input(placeholder="message: from the turns", id="message", compact=True)
            yield self.text_pane("commits")
            yield self.text_pane("foot")

    def on_mount(self) -> None:
        self.show_text("title", [([("Land ", "waiting"), (sanitize(self.lane), "title")], ""), ([], "")])
        self.query_one("#by").focus()
        self._changed()

    def choices(self) -> dict[str, str]:
        fields = {name: self.query_one(f"#{name}", Input).value.strip() for name in ("onto", "message")}
        by = self.query_one("#by", ChoiceBar).chosen
        return {"by": by, **{name: value for name, value in fields.items() if value}}

    def on_choice_bar_changed(self, event: ChoiceBar.Changed) -> None:
        self._changed()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._changed()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(self.choices())

    def key_ctrl_l(self) -> None:
        self.dismiss(self.choices())

    def _changed(self) -> None:
        choices = self.choices()
        command = command_lines.land(
            self.lane, choices["by"], onto=choices.get("onto"), message=choices.get("message")
        )
        keys = [
            ("ctrl+l", "key"),
            (" land   ", "muted"),
            ("tab", "key"),
            (" next field   ", "muted"),
            *CANCEL_KEY,
        ]
        self.show_text("foot", [([(sanitize(command), "command")], ""), (keys, "")])
        start_task(self, "preview", self._show_commits, choices)

    async def _show_commits(self, choices: dict[str, str]) -> None:
        lines = await self._preview(choices)
        self.show_text("commits", [*lines, ([], "")])
