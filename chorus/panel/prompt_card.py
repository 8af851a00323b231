"""The open prompt, large, with its options; and which prompt a key press answers.

Receives the prompt to show. What it shows is what is answered: the prompt is bound, with its
fingerprint, when it is drawn, and a key pressed before the person could have seen it is refused.
"""

from dataclasses import dataclass
from time import monotonic
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Click, MouseScrollDown, MouseScrollUp, Resize
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from chorus.panel.items import Option, Prompt
from chorus.panel.pane import Backdrop, Look, Pieces, render_strip
from chorus.panel.prompt_lines import PromptLines, render_prompt

# A key pressed sooner after the prompt changed was meant for what stood there before: people need
# longer than this to see and react.
GUARD_SECONDS = 0.25
# The bar on the left, a blank after it, and one on the right.
MARGIN = 3


@dataclass(frozen=True, slots=True)
class Shown:
    """One prompt on screen. `since`: when it was drawn; None until it was."""

    prompt: Prompt
    whose: str
    place: str
    since: float | None = None


class PromptCard(Widget, can_focus=True):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j,ctrl+n", "scroll_body(1)", "down", show=False),
        Binding("up,ctrl+p", "scroll_body(-1)", "up", show=False),
        Binding("pagedown,space,ctrl+d,ctrl+f", "scroll_body(10)", "page down", show=False),
        Binding("pageup,ctrl+u,ctrl+b", "scroll_body(-10)", "page up", show=False),
        Binding("g,home", "scroll_body(-100000)", "first", show=False),
        Binding("G,end", "scroll_body(100000)", "last", show=False),
    ]

    class Chosen(Message):
        """An option was clicked."""

        def __init__(self, option: Option, pressed: float) -> None:
            super().__init__()
            self.option = option
            self.pressed = pressed

    def __init__(self, look: Look, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.look = look
        self._backdrop = Backdrop(self)
        self.shown: Shown | None = None
        self.small = False
        self.note = ""
        self._lines = PromptLines([], [], [], {})
        self._offset = 0
        self._most_height = 0
        self._keys = True

    def show(self, prompt: Prompt | None, *, whose: str = "", place: str = "") -> None:
        """Show this prompt, or none. The same one again keeps its place and its clock."""
        if prompt is None:
            self.shown = None
            self.display = False
            return
        if self.shown and self.shown.prompt == prompt:
            self.shown = Shown(prompt, whose, place, self.shown.since)
        else:
            self.shown = Shown(prompt, whose, place)
            self._offset, self.note = 0, ""
            self.call_after_refresh(self._drawn, prompt)
        self.display = True
        self._lay_out()

    def ready(self, pressed: float) -> bool:
        """Whether a key pressed at `pressed` can be meant for what is shown."""
        return (
            self.shown is not None
            and self.shown.since is not None
            and pressed >= self.shown.since + GUARD_SECONDS
        )

    def wanted_rows(self, width: int) -> int:
        """How many rows would show all of it at this width."""
        if self.shown is None:
            return 0
        lines = render_prompt(self.shown.prompt, max(width - MARGIN, 10), whose="", place="", keys=True)
        return len(lines.head) + len(lines.body) + len(lines.foot) + (2 if lines.body else 1)

    def set_room(self, rows: int, *, small: bool, keys: bool) -> None:
        """How many rows the card may take, whether it has to make do with one, and has room for keys."""
        self._most_height, self.small, self._keys = rows, small, keys
        self._lay_out()

    def set_note(self, text: str) -> None:
        """What happens with the answer, in place of the keys."""
        self.note = text
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        pieces: Pieces = [("┃ ", "card-bar"), *self._line(y)]
        if self.note and y == 0:
            pieces = [("┃ ", "card-bar"), (self.note, "waiting")]
        return render_strip(pieces, "card", width, self.look, self._backdrop.style())

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._backdrop.forget()

    def action_scroll_body(self, lines: int) -> None:
        most = max(len(self._lines.body) - self._body_height(), 0)
        self._offset = min(max(self._offset + lines, 0), most)
        self.refresh()

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self.action_scroll_body(2)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.action_scroll_body(-2)

    def on_click(self, event: Click) -> None:
        line = event.y - (self.size.height - len(self._lines.foot))
        if not self.small and (option := self._lines.options.get(line)):
            self.post_message(self.Chosen(option, event.time))

    def on_resize(self, event: Resize) -> None:
        self._lay_out()

    def _drawn(self, prompt: Prompt) -> None:
        if self.shown and self.shown.prompt == prompt and self.shown.since is None:
            self.shown = Shown(prompt, self.shown.whose, self.shown.place, monotonic())

    def _lay_out(self) -> None:
        if self.shown is None:
            return
        width = max(self.size.width - MARGIN, 10)
        shown = self.shown
        self._lines = render_prompt(
            shown.prompt, width, whose=shown.whose, place=shown.place, keys=self._keys
        )
        self.styles.height = max(self._most_height, 1)
        self.action_scroll_body(0)

    def _body_height(self) -> int:
        return max(self.size.height - len(self._lines.head) - len(self._lines.foot), 0)

    def _line(self, y: int) -> Pieces:
        head, body, foot = self._lines.head, self._lines.body, self._lines.foot
        if self.small or self.size.height <= 1:
            return head[0] if head else []
        from_foot = y - (self.size.height - len(foot))
        if from_foot >= 0:
            return foot[from_foot]
        if y < len(head):
            return head[y]
        room = self._body_height()
        # With room to spare, what is asked about stands apart from the rest.
        index = y - len(head) + self._offset - (1 if room >= len(body) + 2 else 0)
        below = len(body) - index - 1
        if y == len(head) + room - 1 and below > 0:
            return [(f"… {below + 1} more lines", "muted")]
        return body[index] if 0 <= index < len(body) else []
