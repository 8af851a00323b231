"""The side panel: what the sessions did and ask, in a pane beside them.

A client of the agent and nothing more: it shows what the feed says, and every key becomes a request.
Closing it never stops the watching; several may be open at once.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar

from textual.app import App, ComposeResult, SystemCommand
from textual.containers import Container, Vertical
from textual.events import DescendantFocus, Resize
from textual.events import Key as KeyEvent
from textual.filter import LineFilter
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from chorus.errors import ChorusError
from chorus.panel import asking, keys
from chorus.panel.answering import Answering
from chorus.panel.bars import KeyBar, Rule, Said, StatusLine
from chorus.panel.bell import Bell
from chorus.panel.deeds import Deeds
from chorus.panel.diff_view import DiffView
from chorus.panel.feed import Inbox
from chorus.panel.landing import Landing
from chorus.panel.model import Change, Model
from chorus.panel.palette import choose_palette
from chorus.panel.pane import Look
from chorus.panel.prompt_card import PromptCard
from chorus.panel.queue import Queue
from chorus.panel.reading import Reading
from chorus.panel.reviewing import Reviewing
from chorus.panel.sessions_bar import SessionsBar
from chorus.panel.stage import Stage
from chorus.panel.themes import CSS, AsciiFilter, render_theme
from chorus.panel.waiting import Waiting
from chorus.wire.home import Home

# Requests about a prompt of the repository, whichever work tree it is in; the others are about ours.
EVERYWHERE = frozenset({"answer"})


@dataclass(frozen=True, slots=True)
class Settings:
    home: Home
    work_tree: Path
    dark: bool = True
    colours: int = 2**24
    ascii: bool = False
    bell: bool = False


class Panel(App[None]):
    CSS = CSS
    TITLE = "chorus"
    COMMAND_PALETTE_BINDING = "f1"
    ESCAPE_TO_MINIMIZE: ClassVar[bool] = False

    class News(Message):
        """The feed has messages."""

    class Asked(Message):
        """A request left for the agent."""

        def __init__(self, do: str, arguments: dict[str, Any]) -> None:
            super().__init__()
            self.do = do
            self.arguments = arguments

    def __init__(self, settings: Settings, inbox: Inbox) -> None:
        palette = choose_palette(dark=settings.dark, colours=settings.colours)
        super().__init__(ansi_color=True if palette.plain else None)
        self.settings = settings
        self.look = Look(palette)
        self.model = Model()
        self._inbox = inbox
        self._bell = Bell()
        self._ascii = AsciiFilter() if settings.ascii else None
        self.sessions = SessionsBar(self.look, self.model, id="sessions")
        self.card = PromptCard(self.look, id="prompt")
        self.queue = Queue(self.look, self.model, id="queue")
        self.queue_rule = Rule(self.look, id="queue-rule")
        self.diff = DiffView(self.look, id="diff")
        self.diff_rule = Rule(self.look, id="diff-rule")
        self.filter = Input(placeholder="filter: words, paths, tools, numbers", id="filter", compact=True)
        self.status = StatusLine(self.look, id="status")
        self.key_bar = KeyBar(self.look, id="keys")
        self.left = Vertical(self.queue_rule, self.filter, self.queue, id="left")
        self.right = Vertical(self.diff_rule, self.diff, id="right")
        self.body = Container(self.left, self.right, id="body")
        self.stage = Stage(self)
        self.reading = Reading(self, self.diff, self.diff_rule)
        self.answering = Answering(self, self.card)
        self.reviewing = Reviewing(self, self.queue)
        self.landing = Landing(self, self.queue)
        self.waiting = Waiting(self)
        self.deeds = Deeds(self)
        self._choose_theme()

    def compose(self) -> ComposeResult:
        yield self.sessions
        yield self.card
        yield self.body
        yield self.status
        yield self.key_bar

    def on_mount(self) -> None:
        self.queue.focus()
        self.stage.refresh()
        self._inbox.listen(lambda: self.post_message(self.News()))

    def on_unmount(self) -> None:
        self._inbox.stop()

    def on_panel_news(self) -> None:
        change = Change.NOTHING
        for message in self._inbox.drain():
            one = self.model.feed(message)
            if Change.NOTICE in one and self.model.notice is not None:
                level = "warning" if self.model.notice.level == "warning" else "info"
                self.say(Said(self.model.notice.text, level))
            change |= one
        if not self.screen_stack:
            return  # the panel is being closed
        if Change.PROMPTS in change and self._bell.rings_for(self.model.prompts) and self.settings.bell:
            self.bell()
        self.stage.update(change)

    def on_resize(self, event: Resize) -> None:
        self.stage.arrange(event.size)  # the panel's own is still the one of before, under a form

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        self.queue.refresh()

    def on_key(self, event: KeyEvent) -> None:
        if len(self.screen_stack) > 1 or (self.filter.has_focus and event.key != "escape"):
            return
        if event.key == "tab" and self.stage.fold_prompt():
            event.stop()
        elif key := keys.BY_KEY.get(event.key):
            event.stop()
            event.prevent_default()
            self.deeds.do(key.deed, event.key, event.time)

    def on_key_bar_pressed(self, event: KeyBar.Pressed) -> None:
        if key := keys.BY_LABEL.get(event.key):
            self.deeds.do(key.deed, event.key, event.time)

    def on_prompt_card_chosen(self, event: PromptCard.Chosen) -> None:
        self.answering.choose(event.option, event.pressed)

    def on_queue_moved(self, event: Queue.Moved) -> None:
        self.stage.cursor_moved(event.row)

    def on_queue_opened(self, event: Queue.Opened) -> None:
        self.stage.open_diff()

    def on_diff_view_left(self) -> None:
        self.stage.close_diff()

    def on_sessions_bar_picked(self, event: SessionsBar.Picked) -> None:
        self.stage.pick_session(None if self.queue.view.session == event.session else event.session)

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input is self.filter:
            self.queue.set_view(needle=event.value)
            self.stage.refresh_rules()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input is self.filter:
            self.queue.focus()

    async def ask(
        self, do: str, arguments: dict[str, Any], *, label: str, starts: bool = True
    ) -> dict[str, Any]:
        """Ask the agent; what takes longer than half a second is shown as going on."""
        if do not in EVERYWHERE:
            arguments = {"cwd": str(self.settings.work_tree), **arguments}
        self.post_message(self.Asked(do, arguments))
        with self.waiting.during(label):
            answer = await asking.ask(self.settings.home, do, starts=starts, **arguments)
        return answer if isinstance(answer, dict) else {}

    def say(self, said: Said) -> None:
        self.status.say(said)

    def say_error(self, error: ChorusError, command: str) -> None:
        text = f"{error} {error.hint}" if error.hint else str(error)
        self.say(Said(text, "error", command))

    def unfold_prompt(self) -> None:
        self.stage.unfold_prompt()

    def get_line_filters(self) -> list[LineFilter]:
        filters = list(super().get_line_filters())
        return [*filters, self._ascii] if self._ascii else filters

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        for key in keys.ALL:
            if key.deed not in {"option", "palette"}:
                help_text = f"{key.label}   {key.command}" if key.command else key.label
                yield SystemCommand(key.help, help_text, self._deed(key.deed))
        yield SystemCommand(
            "light colours", "for a terminal with a light background", self._theme(dark=False)
        )
        yield SystemCommand("dark colours", "for a terminal with a dark background", self._theme(dark=True))

    def _deed(self, deed: str) -> Callable[[], None]:
        return lambda: self.deeds.do(deed, "", monotonic())

    def _theme(self, *, dark: bool) -> Callable[[], None]:
        def change() -> None:
            self.look.palette = choose_palette(dark=dark, colours=self.settings.colours)
            self._choose_theme(dark=dark)
            self.screen.refresh(layout=True)
            self.stage.refresh()

        return change

    def _choose_theme(self, *, dark: bool | None = None) -> None:
        dark = self.settings.dark if dark is None else dark
        theme = render_theme(self.look.palette, dark=dark)
        if not isinstance(theme, str):
            self.register_theme(theme)
            theme = theme.name
        self.theme = theme
