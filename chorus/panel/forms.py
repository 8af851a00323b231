"""What every form of the panel has in common.

A form shows what will be done with the command that does the same, and gives back the person's
choice, or None when they leave. A form never asks the agent to change anything by itself.
"""

from typing import ClassVar, Generic, TypeVar

from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.screen import ModalScreen

from chorus.panel.diff_lines import Drawn
from chorus.panel.pane import Look, TextPane

Result = TypeVar("Result")
# Below this many rows a form has no room for its own margins.
SHORT_BELOW = 20


class Form(ModalScreen[Result], Generic[Result]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "leave", show=False)]

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.look = look

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.height < SHORT_BELOW, "-short")

    def action_leave(self) -> None:
        self.dismiss(None)

    def show_text(self, name: str, lines: list[Drawn]) -> None:
        self.query_one(f"#{name}", TextPane).show(lines)

    def text_pane(self, name: str) -> TextPane:
        pane = TextPane(self.look, id=name)
        pane.can_focus = False
        return pane
