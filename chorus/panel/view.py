"""The panel's widgets, their contents and their arrangement."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.geometry import Size
from textual.screen import Screen
from textual.widgets import Input

from chorus.panel.details import Details
from chorus.panel.forms.form import PromptForm
from chorus.panel.keys import FILTER_KEYS, bar_keys
from chorus.panel.state.feed import RECONNECTED
from chorus.panel.state.items import PendingPrompt
from chorus.panel.state.model import ModelChange, PanelModel
from chorus.panel.state.watcher_client import WatcherClient
from chorus.panel.style.layout import MIN_BOTH_HEIGHT, MIN_TALL_HEIGHT, plan_arrangement
from chorus.panel.style.theme import ActivePalette
from chorus.panel.widgets.bars import Heading, KeyBar, StatusLine
from chorus.panel.widgets.diff import DiffView
from chorus.panel.widgets.prompt_card import PromptCard
from chorus.panel.widgets.queue import Queue
from chorus.panel.widgets.queue_rows import QueueRow, Scope
from chorus.panel.widgets.sessions_bar import SessionsBar, session_name
from chorus.text.sanitize import sanitize

_LINK_WORDS = {"connecting": "connecting to the watcher…", "lost": "no watcher; reopen the panel"}
_SCOPE_WORDS = {Scope.CHANGES: "changes", Scope.OPEN: "only open", Scope.EVERYTHING: "all"}


class Window(Protocol):
    """The part of the application that the view uses."""

    @property
    def size(self) -> Size: ...
    @property
    def screen(self) -> Screen[Any]: ...
    @property
    def screen_stack(self) -> Sequence[Screen[Any]]: ...
    def batch_update(self) -> AbstractContextManager[None]: ...
    def call_after_refresh(self, callback: Callable[[], None]) -> bool: ...


class PanelView:
    def __init__(
        self, window: Window, model: PanelModel, client: WatcherClient, active_palette: ActivePalette
    ) -> None:
        self._window = window
        self._model = model
        self._client = client
        self.sessions = SessionsBar(active_palette, model, id="sessions")
        self.card = PromptCard(active_palette, id="prompt")
        self.queue_heading = Heading(active_palette, id="queue-heading")
        self.filter = Input(placeholder="filter: words, paths, tools, numbers", id="filter", compact=True)
        self.queue = Queue(active_palette, model, id="queue")
        self.diff_heading = Heading(active_palette, id="diff-heading")
        self.diff = DiffView(active_palette, id="diff")
        self.status = StatusLine(active_palette, id="status")
        self.key_bar = KeyBar(active_palette, id="keys")
        self.left = Vertical(self.queue_heading, self.filter, self.queue, id="left")
        self.right = Vertical(self.diff_heading, self.diff, id="right")
        self.body = Container(self.left, self.right, id="body")
        self.details = Details(self.diff, self.diff_heading, model, client)
        self._prompt: str | None = None
        self._prompt_folded = False
        self._diff_open = False
        self._zoomed = False
        self._was_lost = False
        self.can_undo: Callable[[], bool] = lambda: False

    def compose(self) -> ComposeResult:
        yield from (self.sessions, self.card, self.body, self.status, self.key_bar)

    def update(self, change: ModelChange) -> None:
        with self._window.batch_update():
            if ModelChange.LINK in change:
                self._update_link()
            if ModelChange.QUEUE in change:
                self.queue.replan()
                self.details.update_heading()
            elif ModelChange.NOTES in change:
                self.queue.refresh()
                self.details.update_heading()
            if ModelChange.LOADED in change:
                self.queue.fold_reviewed()
            if ModelChange.PROMPTS in change or ModelChange.SESSIONS in change:
                self._update_prompt()
            shows_sessions = ModelChange.SESSIONS | ModelChange.PROMPTS | ModelChange.QUEUE | ModelChange.LINK
            if change & shows_sessions:
                self.sessions.update_from_model(picked=self.queue.view.session)
            self.refresh_progress()
            self.refresh_bars()
            if change & (ModelChange.SESSIONS | ModelChange.PROMPTS):
                self.arrange()

    def refresh(self) -> None:
        self.update(ModelChange.SESSIONS | ModelChange.PROMPTS | ModelChange.QUEUE)
        self.details.select(self.queue.row)

    def arrange(self, size: Size | None = None) -> None:
        """Lay out the widgets. `size`: the new size of the window, while it is being resized."""
        width, height = size or self._window.size
        plan = plan_arrangement(
            width,
            height,
            prompt_rows=self.card.wanted_rows(width) if self.card.shown else 0,
            queue_rows=len(self.queue.rows),
            sessions=len(self.sessions.sessions),
            diff_open=self._diff_open,
            prompt_folded=self._prompt_folded,
            zoomed=self._zoomed,
        )
        if not self.body.has_class(plan.body):  # the toolkit restyles everything, changed or not
            self.body.set_classes(plan.body)
        self._window.screen_stack[0].set_class(plan.short, "-short")
        self.sessions.set_room(plan.sessions)
        self.card.set_room(plan.prompt, small=plan.prompt_small, keys=not plan.short)
        self.refresh_bars()
        self._window.call_after_refresh(self._finish_arranging)

    def select_row(self, row: QueueRow | None) -> None:
        if self.right.display:
            self.details.select(row)
        self.refresh_bars()

    def open_diff(self) -> None:
        self._diff_open = True
        self.arrange()
        self._window.screen.set_focus(self.diff)

    def close_diff(self) -> None:
        self._show_queue()
        self._window.screen.set_focus(self.queue)

    def zoom(self) -> None:
        """Fill the panel with the diff, or go back to the queue."""
        if self.body.has_class("-diff"):
            self.close_diff()
        else:
            self._zoomed = True
            self.arrange()
            self._window.screen.set_focus(self.diff)

    def open_filter(self) -> None:
        self._show_queue()
        self.filter.display = True
        self._window.screen.set_focus(self.filter)

    def set_filter(self, text: str) -> None:
        self.queue.set_view(needle=text)
        self.refresh_bars()

    def back(self) -> None:
        """Close the filter if it is open, otherwise the diff or the zoom."""
        if self.filter.display:
            self.filter.value = ""
            self.filter.display = False
            self._window.screen.set_focus(self.queue)
        else:
            self.close_diff()

    def next_scope(self) -> None:
        self.queue.set_view(scope=self.queue.view.scope.next())
        self.refresh_bars()

    def pick_session(self, session: str | None) -> None:
        """Show the actions of `session` only, or those of all sessions if `session` is None."""
        self.queue.set_session(session)
        self.sessions.update_from_model(picked=session)
        self.refresh_bars()

    def next_session(self) -> None:
        ids: list[str | None] = [None, *(session.id for session in self.sessions.sessions)]
        at = self.queue.view.session
        self.pick_session(ids[(ids.index(at) + 1) % len(ids)] if at in ids else None)

    def next_prompt(self) -> None:
        ids = list(self._model.prompts)
        if len(ids) < 2:
            self.status.show("no other prompt is pending" if ids else "no prompt is pending")
            return
        at = ids.index(self._prompt) if self._prompt in ids else -1
        self._prompt = ids[(at + 1) % len(ids)]
        self._update_prompt()
        self.arrange()

    def fold_prompt(self) -> bool:
        """Switch between prompt and queue if the screen is too short for both. Return True if switched."""
        if self.card.shown is None or self._zoomed or self._window.size.height >= MIN_BOTH_HEIGHT:
            return False
        self._prompt_folded = not self._prompt_folded
        self.arrange()
        return True

    def show_prompt(self) -> None:
        self._prompt_folded = self._zoomed = False
        self.arrange()

    def refresh_progress(self) -> None:
        progress = [*self._client.progress(), *self._model.progress.values()]
        self.status.show_progress(progress, _LINK_WORDS.get(self._model.link, ""))

    def refresh_bars(self) -> None:
        view, entry = self.queue.view, self.queue.entry
        count = self._model.open_count
        right = [] if view.scope is Scope.CHANGES else [(_SCOPE_WORDS[view.scope], "muted")]
        if view.needle:
            right = [(f"/{sanitize(view.needle)}", "waiting"), *([(" ", ""), *right] if right else [])]
        if not self._model.complete and self._model.link == "live":
            right = [("loading the log…", "muted")]
        text, style = (f"{count} open", "open") if count else ("nothing open", "muted")
        self.queue_heading.show([("Queue ", "heading"), (text, style)], right)
        if self.filter.has_focus:
            self.key_bar.show([*FILTER_KEYS])
            return
        self.key_bar.show(
            bar_keys(
                answers=self.card.answer_keys() if self._window.size.height < MIN_TALL_HEIGHT else (),
                entry_open=entry is None or entry.open,
                reverted=entry is not None and entry.status == "reverted",
                undo=self.can_undo(),
                drafts=self._model.draft_count > 0,
            )
        )

    def _show_queue(self) -> None:
        self._diff_open = self._zoomed = False
        self.arrange()

    def _update_link(self) -> None:
        text = self._model.link_text
        if self._model.link == "lost" and not self._was_lost:
            self._was_lost = True
            self.status.show(text, "warning")
        elif self._model.link == "live":
            self._was_lost = False
            if text:
                self.status.show(text, "done" if text == RECONNECTED else "warning")

    def _update_prompt(self) -> None:
        """Show the current prompt or, once it is no longer pending, the first pending one."""
        prompts = self._model.prompts
        if self._prompt not in prompts:
            self._prompt = next(iter(prompts), None)
            self._prompt_folded = False
            self._zoomed &= self._prompt is None  # a new prompt ends the zoom
        prompt = prompts.get(self._prompt) if self._prompt else None
        self.card.show(prompt, session=self._session_name(prompt), position=self._prompt_position())
        for screen in self._window.screen_stack[1:]:
            if isinstance(screen, PromptForm):
                screen.refresh_foot()

    def _session_name(self, prompt: PendingPrompt | None) -> str:
        session = self._model.sessions.get(prompt.session) if prompt else None
        return session_name(session, self._model) if session else ""

    def _prompt_position(self) -> str:
        ids = list(self._model.prompts)
        return f"{ids.index(self._prompt) + 1} of {len(ids)}" if len(ids) > 1 and self._prompt in ids else ""

    def _finish_arranging(self) -> None:
        self.queue.reveal(self.queue.cursor)
        only_screen = len(self._window.screen_stack) == 1
        if only_screen and self._window.screen.focused is None and self.queue.is_on_screen:
            self.queue.focus()
        if self.right.display:
            self.details.ensure(self.queue.row)
