"""The base of the panel's forms. A form returns the user's choice, or None if it is cancelled.

A form never requests a change itself.
"""

from collections.abc import Callable
from typing import ClassVar, Generic, TypeVar

from textual.binding import Binding, BindingType
from textual.events import Resize
from textual.screen import ModalScreen
from textual.widgets import Input

from chorus.errors import ChorusError
from chorus.panel.state.items import PendingPrompt
from chorus.panel.style.theme import ActivePalette
from chorus.panel.widgets.line_pane import LinePane, Pieces, StyledLine, TextPane
from chorus.text.sanitize import sanitize

Result = TypeVar("Result")
# On a screen with fewer rows, a form has no margins.
MIN_MARGIN_HEIGHT = 20
CANCEL_KEY: Pieces = [("esc", "key"), (" cancel", "muted")]


def render_problem(problem: Exception) -> list[StyledLine]:
    """Render the message and, below it, the hint."""
    hint = problem.hint if isinstance(problem, ChorusError) else None
    hints = (hint or "").splitlines()
    return [*render_message(problem), *(([(sanitize(line), "muted")], "") for line in hints)]


def render_message(problem: Exception) -> list[StyledLine]:
    return [([(sanitize(line.strip()), "error")], "") for line in str(problem).splitlines()]


class Form(ModalScreen[Result], Generic[Result]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "cancel", show=False)]

    def __init__(self, active_palette: ActivePalette) -> None:
        super().__init__()
        self.active_palette = active_palette

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.height < MIN_MARGIN_HEIGHT, "-short")

    def fit_box(self) -> None:
        """Make the box as tall as its lines. The style sheet sets a maximum."""
        box = self.query_one("#box")
        box.styles.height = sum(pane.line_count() for pane in self.query(LinePane)) + box.gutter.height

    def action_cancel(self) -> None:
        self.dismiss(None)

    def show_text(self, name: str, lines: list[StyledLine]) -> None:
        self.query_one(f"#{name}", TextPane).show(lines)

    def text_pane(self, name: str) -> TextPane:
        pane = TextPane(self.active_palette, id=name)
        pane.can_focus = False
        return pane


class PromptForm(Form[Result]):
    """A form that answers one prompt. If the prompt is gone or has changed, the form sends nothing."""

    def __init__(
        self,
        active_palette: ActivePalette,
        prompt: PendingPrompt,
        current: Callable[[], PendingPrompt | None],
    ) -> None:
        super().__init__(active_palette)
        self.prompt = prompt
        self._current = current

    def on_input_changed(self, event: Input.Changed) -> None:
        self.refresh_foot()

    def is_pending(self) -> bool:
        current = self._current()
        return current is not None and current.fingerprint == self.prompt.fingerprint

    def refresh_foot(self) -> None:
        """Show the answer's command line and the keys, or a message that the prompt is gone."""
        if not self.is_pending():
            gone = ("This prompt is gone: nothing will be sent.  ", "error")
            self.show_text("foot", [([gone, *CANCEL_KEY], "")])
            return
        keys = [("enter", "key"), (f" {self.enter_label()}   ", "muted"), *CANCEL_KEY]
        self.show_text("foot", [([(sanitize(self.command()), "command")], ""), (keys, "")])

    def command(self) -> str:
        """Return the command line of the answer typed so far."""
        raise NotImplementedError

    def enter_label(self) -> str:
        """Return the label of the enter key."""
        raise NotImplementedError
