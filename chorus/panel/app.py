"""The side panel: shows the sessions' actions and prompts, and sends reviews and answers to the watcher."""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar

from textual.app import App, ComposeResult, SuspendNotSupported, SystemCommand
from textual.events import DescendantFocus, Key, Resize
from textual.filter import LineFilter
from textual.geometry import Size
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from chorus.errors import ChorusError
from chorus.model.api.json_api import LandedCommitJson
from chorus.model.api.requests import LandMessage
from chorus.panel import command_lines, keys
from chorus.panel.answers import Answers
from chorus.panel.background import start_task
from chorus.panel.forms.help_screen import HelpScreen
from chorus.panel.review import Review
from chorus.panel.state.feed import FeedReader
from chorus.panel.state.model import ModelChange, PanelModel
from chorus.panel.state.watcher_client import WatcherClient
from chorus.panel.style.theme import CSS, ActivePalette, AsciiFilter, choose_palette, toolkit_theme
from chorus.panel.view import PanelView
from chorus.panel.widgets.bars import KeyBar
from chorus.panel.widgets.diff import DiffView
from chorus.panel.widgets.prompt_card import GUARD_SECONDS, PromptCard
from chorus.panel.widgets.queue import Queue
from chorus.panel.widgets.sessions_bar import SessionsBar
from chorus.system.editor import EditorFailed, edit_messages, editor_command
from chorus.wire.home import Home, list_work_trees

# Keys that act on the row under the cursor.
ROW_KEYS = frozenset({"keep", "keep_turn", "revert", "revert_turn", "hunks", "note", "edit", "copy"})
# Keys that only change what is shown, or close the panel: they work even if the panel has just grown.
SAFE_KEYS = frozenset({"next_prompt", "scope", "session", "zoom", "back", "help", "quit"})
# When the client ends, its pane closes and tmux gives the panel its place and the keyboard: the panel grows.
# What the user goes on typing for the client or a shell must not act here, until there is a pause this long.
PAUSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class PanelSettings:
    home: Home
    work_tree: Path
    dark: bool = True
    colours: int = 2**24
    ascii: bool = False
    bell: bool = False
    here: bool = False  # show only the panel's own work tree


class Panel(App[None]):
    CSS = CSS
    TITLE = "chorus"
    COMMAND_PALETTE_BINDING = "f1"
    ESCAPE_TO_MINIMIZE: ClassVar[bool] = False

    class FeedReady(Message):
        """The feed has messages."""

    def __init__(self, settings: PanelSettings, reader: FeedReader) -> None:
        palette = choose_palette(dark=settings.dark, colours=settings.colours)
        super().__init__(ansi_color=True if palette.plain else None)
        self.settings = settings
        self.active_palette = ActivePalette(palette)
        self.model = PanelModel()
        self._reader = reader
        self._ascii = AsciiFilter() if settings.ascii else None
        self._known_prompts: set[str] | None = None
        self._size: Size | None = None
        self._typed_until = 0.0  # keys before this time may be meant for another pane
        self._client = client = WatcherClient(
            settings.home, settings.work_tree, on_change=self._refresh_progress
        )
        self.view = view = PanelView(self, self.model, client, self.active_palette)
        self._answers = Answers(view.card, view.status, self.model, client, view.show_prompt)
        self._review = Review(
            view.queue, view.status, self.model, client, self.edit_messages, here=settings.here
        )
        view.card.root = str(settings.work_tree)
        view.can_undo = lambda: self._review.can_undo
        self._answer_keys = self._bind_answer_keys()
        self._keys = self._bind_keys()
        self._set_theme(dark=settings.dark)

    def compose(self) -> ComposeResult:
        return self.view.compose()

    def on_mount(self) -> None:
        self.view.queue.focus()
        self.view.refresh()
        self._reader.listen(lambda: self.post_message(self.FeedReady()))

    def on_unmount(self) -> None:
        self._reader.stop()

    def on_panel_feed_ready(self) -> None:
        change = ModelChange.NOTHING
        for message in self._reader.drain():
            changed = self.model.feed(message)
            if ModelChange.ALERT in changed and (alert := self.model.alert) is not None:
                self.view.status.show(alert.text, "warning" if alert.level == "warning" else "info")
            change |= changed
        if not self.screen_stack:
            return  # the panel is being closed
        if ModelChange.PROMPTS in change and self._has_new_prompt() and self.settings.bell:
            self.bell()
        self.view.update(change)
        if ModelChange.QUEUE in change and self.model.notes:
            start_task(self.view.queue, "notes", self._read_notes)

    async def _read_notes(self) -> None:
        """Read the notes again, because an action may have changed their lines."""
        with suppress(ChorusError):
            notes = await self._client.request(
                "notes", {"here": self.settings.here}, label="reading the notes", start_watcher=False
            )
            self.view.update(self.model.feed({"event": "notes", "notes": notes}))

    def on_resize(self, event: Resize) -> None:
        before, self._size = self._size, event.size
        if before is not None and (event.size.width > before.width or event.size.height > before.height):
            self._typed_until = event.time + PAUSE_SECONDS
        self.view.arrange(event.size)  # under a form, the app's own size is not up to date yet

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        self.view.queue.refresh()
        self.view.refresh_bars()

    def on_key(self, event: Key) -> None:
        if len(self.screen_stack) > 1 or (self.view.filter.has_focus and event.key != "escape"):
            return
        if event.key == "tab" and self.view.fold_prompt():
            event.stop()
        elif event.key == "space" and self.view.diff.has_focus:
            return  # a page down, as in a pager
        elif binding := keys.BY_KEY.get(event.key):
            event.stop()
            event.prevent_default()
            self._run_key(binding.name, event.key, event.time)

    def on_key_bar_pressed(self, event: KeyBar.Pressed) -> None:
        if binding := keys.BY_LABEL.get(event.key):
            self._run_key(binding.name, event.key, event.time)

    def on_prompt_card_chosen(self, event: PromptCard.Chosen) -> None:
        self._answers.option(event.option.digit, event.pressed)

    def on_queue_moved(self, event: Queue.Moved) -> None:
        self.view.select_row(event.row)

    def on_queue_opened(self, event: Queue.Opened) -> None:
        self.view.open_diff()

    def on_diff_view_leave(self) -> None:
        self.view.close_diff()

    def on_diff_view_too_narrow(self, event: DiffView.TooNarrow) -> None:
        self.view.status.show(event.text, "warning")

    def on_sessions_bar_picked(self, event: SessionsBar.Picked) -> None:
        picked = self.view.queue.view.session
        self.view.pick_session(None if picked == event.session else event.session)

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.input is self.view.filter:
            self.view.set_filter(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.input is self.view.filter:
            self.view.queue.focus()

    def get_line_filters(self) -> list[LineFilter]:
        filters = list(super().get_line_filters())
        return [*filters, self._ascii] if self._ascii else filters

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        for key in keys.ALL_KEYS:
            if key.name not in {"option", "palette"}:
                help_text = f"{key.label}   {key.command}" if key.command else key.label
                yield SystemCommand(key.help, help_text, self._key_runner(key.name))
        for dark, name in ((False, "light"), (True, "dark")):
            help_text = f"for a terminal with a {name} background"
            yield SystemCommand(f"{name} colours", help_text, self._theme_changer(dark=dark))

    def _bind_answer_keys(self) -> dict[str, Callable[[float], None]]:
        answers = self._answers
        return {
            "approve": answers.approve,
            "always": answers.always,
            "deny": answers.deny,
            "deny_with_message": answers.deny_with_message,
        }

    def _bind_keys(self) -> dict[str, Callable[[], object]]:
        review, view = self._review, self.view
        return {
            "next_prompt": view.next_prompt,
            "keep": review.keep,
            "keep_turn": lambda: review.keep(turn=True),
            "revert": review.revert,
            "revert_turn": lambda: review.revert(turn=True),
            "hunks": review.choose_hunks,
            "undo": review.undo,
            "note": lambda: review.note(view.diff.place() if view.diff.has_focus else None),
            "send_notes": review.send_notes,
            "land": review.land,
            "edit": self._edit,
            "copy": self._copy,
            "filter": view.open_filter,
            "scope": view.next_scope,
            "session": view.next_session,
            "zoom": view.zoom,
            "back": view.back,
            "help": lambda: self.push_screen(HelpScreen(self.active_palette)),
            "palette": self.action_command_palette,
            "quit": self.exit,
        }

    def _run_key(self, name: str, key: str, pressed: float) -> None:
        """Run the binding of a key.

        Refuse a key for the row under the cursor if the cursor has just moved by itself. After the panel has
        grown, refuse every key outside SAFE_KEYS until there is a pause.
        """
        if name not in SAFE_KEYS and pressed < self._typed_until:
            self._typed_until = pressed + PAUSE_SECONDS
            self.view.status.show("the panel has just grown: pause for a second, then press again", "warning")
        elif name == "option":
            self._answers.option(key, pressed)
        elif name in self._answer_keys:
            self._answer_keys[name](pressed)
        elif name in ROW_KEYS and pressed < self.view.queue.auto_moved_at + GUARD_SECONDS:
            self.view.status.show(
                "the cursor has just moved to a new action: check it, then press again", "warning"
            )
        else:
            self._keys[name]()

    def _copy(self) -> None:
        """Copy the action's commit, or else the action's id. On a turn, copy the turn's id."""
        entry, group = self.view.queue.entry, self.view.queue.group
        text = (entry.commit or entry.id) if entry else (group[1] if group else "")
        if text:
            self.copy_to_clipboard(text)
            self.view.status.show(f"copied {text}", "done", command_lines.show(text) if entry else "")

    def _edit(self) -> None:
        """Suspend the panel, and open the action's first file in the editor."""
        status, entry = self.view.status, self.view.queue.entry
        if entry is None or not entry.paths:
            status.show("put the cursor on an action that changed a file", "warning")
            return
        trees = list_work_trees(self.settings.home) if entry.elsewhere else {}
        path = Path(trees.get(entry.worktree, self.settings.work_tree), entry.paths[0])
        if not path.exists():
            status.show(f"{entry.paths[0]} no longer exists", "warning")
            return
        patch = self.view.details.patch
        command = editor_command(os.environ, path, patch.first_changed_line() if patch else 1)
        try:
            with self._suspended():
                subprocess.run(command, cwd=self.settings.work_tree)
        except SuspendNotSupported:
            status.show("an editor cannot be opened in this terminal", "warning")
        except OSError as error:
            why = f"cannot start {command[0]}: {error.strerror}"
            status.show(f"{why}; set VISUAL or EDITOR to your editor", "error")
        else:
            status.show(f"opened {entry.paths[0]}", "done", shlex.join(command))

    def edit_messages(self, commits: Sequence[LandedCommitJson], onto: str) -> list[LandMessage]:
        """Let the user edit commit messages in the editor, with the panel suspended."""
        try:
            with (
                self._suspended(),
                tempfile.TemporaryDirectory(prefix="message-", dir=self.settings.home.root) as directory,
            ):
                return edit_messages(commits, onto, Path(directory))
        except SuspendNotSupported:
            raise EditorFailed(
                "an editor cannot be opened in this terminal",
                hint="Run `chorus land LANE --edit` in another terminal.",
            ) from None

    @contextmanager
    def _suspended(self) -> Iterator[None]:
        """Give the terminal to another program, and take it back at the end, even after an error.

        After an error, the toolkit's `suspend` alone would not take it back.
        """
        failed: Exception | None = None
        with self.suspend():
            try:
                yield
            except Exception as error:  # noqa: BLE001  raised again below
                failed = error
        if failed is not None:
            raise failed

    def _has_new_prompt(self) -> bool:
        """Return True if a prompt is new since the last call. The first call returns False."""
        known, pending = self._known_prompts, set(self.model.prompts)
        self._known_prompts = (known or set()) | pending
        return known is not None and not pending <= known

    def _refresh_progress(self) -> None:
        self.view.refresh_progress()

    def _key_runner(self, name: str) -> Callable[[], None]:
        return lambda: self._run_key(name, "", monotonic())

    def _theme_changer(self, *, dark: bool) -> Callable[[], None]:
        def change() -> None:
            self.active_palette.current = choose_palette(dark=dark, colours=self.settings.colours)
            self._set_theme(dark=dark)
            self.screen.refresh(layout=True)
            self.view.refresh()

        return change

    def _set_theme(self, *, dark: bool) -> None:
        theme = toolkit_theme(self.active_palette.current, dark=dark)
        if not isinstance(theme, str):
            self.register_theme(theme)
            theme = theme.name
        self.theme = theme
