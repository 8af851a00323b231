"""`chorus inbox` on a terminal: every repository in one live view, with the panel's prompt card and diff."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from time import monotonic
from typing import ClassVar, Literal, cast

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.events import Click, Key, Resize
from textual.filter import LineFilter
from textual.message import Message

from chorus.errors import ChorusError, NotFound
from chorus.inbox.live_inbox import LiveInbox
from chorus.inbox.repositories import mapping
from chorus.model.api.json_api import AnswerJson
from chorus.model.api.requests import AnswerArguments
from chorus.panel.answers import Answers
from chorus.panel.background import start_task
from chorus.panel.forms.form import PromptForm
from chorus.panel.inbox.rows import InboxRow, plan_rows, render_row
from chorus.panel.state.items import PendingPrompt, parse_prompt
from chorus.panel.style.theme import CSS, ActivePalette, AsciiFilter, choose_palette, toolkit_theme
from chorus.panel.widgets.bars import KeyBar, StatusLine
from chorus.panel.widgets.diff import DiffView
from chorus.panel.widgets.line_pane import LinePane, StyledLine
from chorus.panel.widgets.patch import parse_patch
from chorus.panel.widgets.prompt_card import GUARD_SECONDS, PromptCard

# From this width on, the list and the diff are side by side.
MIN_SIDE_WIDTH = 100
# The rows that a long prompt leaves to the list.
MIN_LIST_ROWS = 5
# A second press within this time confirms a revert.
CONFIRM_SECONDS = 4.0

INBOX_CSS = """
#body { height: 1fr; layout: horizontal; }
#rows { height: 1fr; width: 1fr; }
#diff { height: 1fr; width: 1fr; display: none; }
"""


@dataclass(frozen=True, slots=True)
class InboxSettings:
    dark: bool = True
    colours: int = 2**24
    ascii: bool = False


@dataclass(slots=True)
class InboxPrompts:
    """The pending prompts of all repositories, by ids that are unique across watchers."""

    prompts: dict[str, PendingPrompt]
    # Id in `prompts` -> the repository's key, the repository's name, the prompt's id in its watcher.
    places: dict[str, tuple[str, str, str]]


class InboxClient:
    """Sends each answer to the watcher of the prompt's repository."""

    def __init__(self, inbox: LiveInbox, model: InboxPrompts) -> None:
        self._inbox = inbox
        self._model = model

    async def request(self, do: Literal["answer"], arguments: AnswerArguments, *, label: str) -> AnswerJson:
        place = self._model.places.get(arguments["prompt"])
        if place is None:
            raise NotFound("the prompt was answered or withdrawn; nothing was sent")
        key, _, own = place
        sent: Mapping[str, object] = {**arguments, "prompt": own, "by": "inbox"}
        return cast("AnswerJson", await self._inbox.request(key, do, sent))


class InboxList(LinePane):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j,ctrl+n", "move(1)", "down", show=False),
        Binding("up,k,ctrl+p", "move(-1)", "up", show=False),
        Binding("pagedown,ctrl+d", "move(10)", "page down", show=False),
        Binding("pageup,ctrl+u", "move(-10)", "page up", show=False),
        Binding("g,home", "move(-100000)", "first", show=False),
        Binding("G,end", "move(100000)", "last", show=False),
    ]

    class Moved(Message):
        """The cursor may be on another row."""

    def __init__(self, active_palette: ActivePalette, *, id: str | None = None) -> None:
        super().__init__(active_palette, id=id)
        self.rows: list[InboxRow] = []
        self.cursor = 0
        self.moved_at = 0.0  # when the row under the cursor changed without a key

    @property
    def row(self) -> InboxRow | None:
        return self.rows[self.cursor] if self.rows else None

    def show(self, rows: list[InboxRow]) -> None:
        """Show these rows. The cursor stays on its row, or at its position if the row is gone."""
        before = self.row
        self.rows = rows
        names = [row.name for row in rows]
        if before is not None and before.name in names:
            self.cursor = names.index(before.name)
        else:
            self.cursor = min(self.cursor, max(len(rows) - 1, 0))
            self.moved_at = monotonic()
            self.post_message(self.Moved())
        self.resize_lines()

    def line_count(self) -> int:
        return len(self.rows)

    def line(self, index: int, width: int) -> StyledLine:
        cursor = "cursor" if self.has_focus else "cursor-blurred"
        return render_row(self.rows[index], width), cursor if index == self.cursor else ""

    def action_move(self, rows: int) -> None:
        self.cursor = min(max(self.cursor + rows, 0), max(len(self.rows) - 1, 0))
        self.reveal(self.cursor)
        self.refresh()
        self.post_message(self.Moved())

    def on_click(self, event: Click) -> None:
        index = event.y + self.scroll_offset.y
        if index < len(self.rows):
            self.action_move(index - self.cursor)


class Inbox(App[None]):
    CSS = CSS + INBOX_CSS
    TITLE = "chorus inbox"
    ENABLE_COMMAND_PALETTE = False
    ESCAPE_TO_MINIMIZE: ClassVar[bool] = False

    class Changed(Message):
        """The state of a repository has changed."""

    def __init__(
        self, settings: InboxSettings, inbox: Callable[[Callable[[], None]], LiveInbox] = LiveInbox
    ) -> None:
        palette = choose_palette(dark=settings.dark, colours=settings.colours)
        super().__init__(ansi_color=True if palette.plain else None)
        self.active_palette = ActivePalette(palette)
        self._ascii = AsciiFilter() if settings.ascii else None
        self.inbox = inbox(self._note_change)
        self.model = InboxPrompts({}, {})
        self.card = PromptCard(self.active_palette, id="prompt")
        self.list = InboxList(self.active_palette, id="rows")
        self.diff = DiffView(self.active_palette, id="diff")
        self.status = StatusLine(self.active_palette, id="status")
        self.key_bar = KeyBar(self.active_palette, id="keys")
        self._prompt: str | None = None
        self._diff_open = False
        self._revert_asked: tuple[tuple[str, str, str], float] | None = None
        self._undo: Callable[[], None] | None = None
        client = InboxClient(self.inbox, self.model)
        self.answers = Answers(self.card, self.status, self.model, client, self._arrange)
        theme = toolkit_theme(palette, dark=settings.dark)
        if not isinstance(theme, str):
            self.register_theme(theme)
            theme = theme.name
        self.theme = theme

    def compose(self) -> ComposeResult:
        yield self.card
        yield Container(self.list, self.diff, id="body")
        yield self.status
        yield self.key_bar

    def on_mount(self) -> None:
        self.list.focus()
        self.run_worker(self.inbox.run(), group="inbox")
        self._show()

    def on_inbox_changed(self) -> None:
        if self.screen_stack:
            self._show()

    def on_resize(self, event: Resize) -> None:
        self._arrange(event.size.width, event.size.height)

    def on_inbox_list_moved(self) -> None:
        row = self.list.row
        if row is not None and row.kind == "prompt":
            place = next(
                (name for name, at in self.model.places.items() if (at[0], at[2]) == (row.key, row.id)), None
            )
            self._prompt = place or self._prompt
            self._show_prompt()
        self._revert_asked = None
        self._load_diff()
        self._show_keys()

    def on_diff_view_leave(self) -> None:
        self._close_diff()

    def on_diff_view_too_narrow(self, event: DiffView.TooNarrow) -> None:
        self.status.show(event.text, "warning")

    def on_prompt_card_chosen(self, event: PromptCard.Chosen) -> None:
        self.answers.option(event.option.digit, event.pressed)

    def on_key_bar_pressed(self, event: KeyBar.Pressed) -> None:
        self._press(event.key, event.time)

    def on_key(self, event: Key) -> None:
        if len(self.screen_stack) > 1:
            return
        key = {"question_mark": "?", "enter": "⏎", "escape": "esc", "ctrl+c": "q"}.get(event.key, event.key)
        if self._press(key, event.time):
            event.stop()
            event.prevent_default()

    def get_line_filters(self) -> list[LineFilter]:
        filters = list(super().get_line_filters())
        return [*filters, self._ascii] if self._ascii else filters

    def _note_change(self) -> None:
        self.post_message(self.Changed())

    def _press(self, key: str, pressed: float) -> bool:
        """Run the function of a key. Return False if the key has none."""
        answers: dict[str, Callable[[float], None]] = {
            "a": self.answers.approve,
            "A": self.answers.always,
            "d": self.answers.deny,
            "D": self.answers.deny_with_message,
        }
        plain: dict[str, Callable[[], object]] = {
            "p": self._next_prompt,
            "⏎": self._open_diff,
            "esc": self._close_diff,
            "u": self._undo_last,
            "?": self._show_help,
            "q": self.exit,
        }
        if key in answers:
            answers[key](pressed)
        elif key in ("x", "space", "r"):
            self._review("revert" if key == "r" else "keep", pressed)
        elif key in plain:
            plain[key]()
        elif key.isdigit() and key != "0":
            self.answers.option(key, pressed)
        else:
            return False
        return True

    def _show(self) -> None:
        repositories = self.inbox.repositories()
        self.model.prompts.clear()
        self.model.places.clear()
        for key, repository in repositories.items():
            for prompt in repository["prompts"]:
                if parsed := parse_prompt(prompt):
                    name = f"{repository['name']}:{parsed.id}"
                    self.model.prompts[name] = replace(parsed, id=name)
                    self.model.places[name] = (key, repository["name"], parsed.id)
        self.list.show(plan_rows(repositories))
        if self.inbox.problem:
            self.status.show(self.inbox.problem, "error")
        elif not repositories:
            self.status.show("no repository yet; start a session with `chorus claude`")
        elif self.status.current.text.startswith("no repository yet"):
            self.status.show("")
        self._show_prompt()
        self._show_keys()

    def _show_prompt(self) -> None:
        """Show the current prompt or, once it is no longer pending, the first pending one."""
        names = list(self.model.prompts)
        if self._prompt not in names:
            self._prompt = names[0] if names else None
        prompt = self.model.prompts.get(self._prompt or "")
        repository = self.model.places[prompt.id][1] if prompt else ""
        position = f"{names.index(prompt.id) + 1} of {len(names)}" if prompt and len(names) > 1 else ""
        self.card.show(prompt, session=repository, position=position)
        for screen in self.screen_stack[1:]:
            if isinstance(screen, PromptForm):
                screen.refresh_foot()
        self._arrange()

    def _show_keys(self) -> None:
        row = self.list.row
        keys = [("a", "approve"), ("A", "always"), ("d", "deny")] if self.card.shown else []
        keys += [("p", "next prompt")] if len(self.model.prompts) > 1 else []
        keys += [("⏎", "diff"), ("x", "keep"), ("r", "revert")] if row and row.kind == "action" else []
        self.key_bar.show([*keys, ("q", "quit"), ("?", "help")])

    def _show_help(self) -> None:
        self.status.show(
            "a approve · A always · d deny · D deny, message · 1…9 option · p next prompt · "
            "j k move · enter diff · esc back · x keep · r revert · u undo · q quit"
        )

    def _arrange(self, width: int | None = None, height: int | None = None) -> None:
        width, height = width or self.size.width, height or self.size.height
        wanted = self.card.wanted_rows(width) if self.card.shown else 0
        short = height < 24
        room = height - MIN_LIST_ROWS - (2 if short else 4)
        self.screen_stack[0].set_class(short, "-short")
        self.card.set_room(max(min(wanted, room), 1), small=False, keys=not short)
        side = width >= MIN_SIDE_WIDTH
        self.diff.display = self._diff_open
        self.list.display = side or not self._diff_open

    def _next_prompt(self) -> None:
        names = list(self.model.prompts)
        if not names:
            self.status.show("no prompt is pending")
            return
        at = names.index(self._prompt) if self._prompt in names else -1
        self._prompt = names[(at + 1) % len(names)]
        self._show_prompt()

    def _open_diff(self) -> None:
        if self._diff_open:
            self._close_diff()
        elif (row := self.list.row) is not None and row.kind == "action":
            self._diff_open = True
            self._arrange()
            self.diff.focus()
            self._load_diff()

    def _close_diff(self) -> None:
        self._diff_open = False
        self._arrange()
        self.list.focus()

    def _load_diff(self) -> None:
        row = self.list.row
        if self._diff_open and row is not None and row.kind == "action":
            start_task(self, "show", self._read_diff, row)

    async def _read_diff(self, row: InboxRow) -> None:
        try:
            found = mapping(await self.inbox.request(row.key, "show", self._about(row, "action")))
        except ChorusError as error:
            self.status.show_error(error, "")
            return
        heading: list[StyledLine] = [([(f" {row.left}", "title")], ""), ([], "")]
        self.diff.show(lambda _: heading, parse_patch(str(found.get("patch") or "")))

    def _review(self, do: Literal["keep", "revert"], pressed: float) -> None:
        row = self.list.row
        if row is None or row.kind != "action":
            self.status.show("put the cursor on an action", "warning")
        elif pressed < self.list.moved_at + GUARD_SECONDS:
            self.status.show("the list has just changed: check it, then press again", "warning")
        elif do == "revert" and not self._is_confirmed(row):
            self._revert_asked = (row.name, monotonic())
            self.status.show(f"press r again to revert {row.left.removeprefix('○ ')}", "warning")
        else:
            self._revert_asked = None
            start_task(self, "review", self._request_review, row, do, undo=False)

    def _is_confirmed(self, row: InboxRow) -> bool:
        asked = self._revert_asked
        return asked is not None and asked[0] == row.name and monotonic() - asked[1] < CONFIRM_SECONDS

    async def _request_review(self, row: InboxRow, do: Literal["keep", "revert"], *, undo: bool) -> None:
        request = "redo" if undo and do == "revert" else do
        arguments = self._about(row, "actions")
        if undo and do == "keep":
            arguments["undo"] = True
        try:
            await self.inbox.request(row.key, request, arguments)
        except ChorusError as error:
            self.status.show_error(error, "")
            return
        word, opposite = {"keep": ("kept", "reopened"), "revert": ("reverted", "redone")}[do]
        about = row.left.removeprefix("○ ")
        if undo:
            self.status.show(f"{opposite}: {about}", "done")
            self._undo = None
        else:
            self.status.show(f"{word}: {about}; press u to undo", "done")
            self._undo = lambda: start_task(self, "review", self._request_review, row, do, undo=True)

    def _undo_last(self) -> None:
        if self._undo is None:
            self.status.show("nothing to undo")
        else:
            self._undo()

    def _about(self, row: InboxRow, name: Literal["action", "actions"]) -> dict[str, object]:
        repository = self.inbox.repositories().get(row.key)
        path = repository["path"] if repository else None
        return {name: row.id if name == "action" else [row.id], "cwd": path}
