"""The card that shows the pending prompt with its options, and decides which prompt a key press answers.

A key is refused if the user cannot have seen the prompt yet. An approval is refused until all of the prompt
was on the screen.
"""

import re
import textwrap
from dataclasses import dataclass, replace
from time import monotonic
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Click, MouseScrollDown, MouseScrollUp, Resize
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from chorus.model.prompt import without_root
from chorus.model.tools import EDIT_TOOLS
from chorus.panel import command_lines
from chorus.panel.state.items import PendingPrompt, PromptOption
from chorus.panel.style.labels import render_time
from chorus.panel.style.theme import ActivePalette
from chorus.panel.widgets.line_pane import BackgroundStyle, Pieces, render_strip
from chorus.text.sanitize import MAX_LINE_CHARACTERS, is_cut, sanitize, sanitize_lines
from chorus.text.width import cell_width, cut, pad, wrap

# A key pressed sooner after the prompt changed was meant for the previous prompt: people need longer than
# this to see a prompt and react.
GUARD_SECONDS = 0.25
# The bar on the left, a blank after it, and one on the right.
MARGIN = 3
# A command or diff longer than this must be read in the session's own pane.
MAX_BODY_LINES = 2000
# A longer question scrolls with the body; the options stay visible.
MAX_QUESTION_LINES = 6
MAX_LABEL_LINES = 4
# If the body would have fewer lines than this, each option takes only one line.
MIN_BODY_LINES = 4
MEANING_STYLES = {"allow": "done", "allow-always": "warning", "deny": "failed"}
# The key for each meaning, whatever number the option has.
MEANING_KEYS = {"allow": "a", "allow-always": "A", "deny": "d"}
UNKNOWN_KINDS = frozenset({"unknown", "none", ""})

# A line that the client draws across the dialog, from its left edge on. Text begins further right, so text
# never matches.
_RULE_LINE = re.compile(r"[╌─]+")
# A numbered row of a diff as the client draws it: a removed, an added or an unchanged line.
_NUMBERED_LINE = re.compile(r" *\d+ (?=[ +-])")


@dataclass(frozen=True, slots=True)
class CardPrompt:
    """The prompt on the screen. `position`: a text such as `2 of 3`.

    `since`: when the prompt was drawn, or when a key press scrolled to unread lines; None until it is drawn.
    """

    prompt: PendingPrompt
    session: str
    position: str
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

        def __init__(self, option: PromptOption, pressed: float) -> None:
            super().__init__()
            self.option = option
            self.pressed = pressed

    def __init__(self, active_palette: ActivePalette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.active_palette = active_palette
        self._background_style = BackgroundStyle(self)
        self.shown: CardPrompt | None = None
        self.root = ""  # the work tree: paths below it are shown without it
        self.small = False
        self.banner = ""
        self._lines = PromptLines([], [], [], {})
        self._offset = 0
        self._read = 0  # how many lines of the body were shown, from the first line on
        self._max_height = 0
        self._keys = True

    def show(self, prompt: PendingPrompt | None, *, session: str = "", position: str = "") -> None:
        """Show this prompt, or none. A prompt that is already shown keeps its scroll position and `since`."""
        if prompt is None:
            self.shown = None
            self.display = False
            return
        if self.shown and self.shown.prompt == prompt:
            self.shown = CardPrompt(prompt, session, position, self.shown.since)
        else:
            self.shown = CardPrompt(prompt, session, position)
            self._offset, self._read, self.banner = 0, 0, ""
            self.call_after_refresh(self._drawn, prompt)
        self.display = True
        self._lay_out()

    def ready(self, pressed: float) -> bool:
        """Return True if a key pressed at this time can be meant for the prompt that is shown."""
        return (
            self.shown is not None
            and self.shown.since is not None
            and pressed >= self.shown.since + GUARD_SECONDS
        )

    def show_unread(self) -> str | None:
        """Return None if all lines were read. Otherwise scroll to the first unread line and return a message.

        If the panel cannot show the unread lines, return a message without scrolling.
        """
        if self.shown is None or self.shown.prompt.cut:
            return "part of the prompt is not on the pane's screen: make that pane taller, or answer it there"
        if self._lines.longer:
            return "the prompt is too long for the panel: read and answer it in its own pane"
        self._note_read()
        if self._read >= len(self._lines.body):
            return None
        if self._shown_lines() == 0:
            return "there is no room for the prompt: make the panel larger, or answer it in its own pane"
        self._offset = self._read
        self.action_scroll_body(0)
        self.shown = replace(self.shown, since=monotonic())
        return "part of the prompt was hidden: read it, then press again"

    def answer_keys(self) -> list[str]:
        if self.shown is None or self.shown.prompt.kind in UNKNOWN_KINDS:
            return []
        return [key for meaning, key in MEANING_KEYS.items() if self.shown.prompt.option(meaning)]

    def wanted_rows(self, width: int) -> int:
        if self.shown is None:
            return 0
        prompt, width = self.shown.prompt, max(width - MARGIN, 10)
        lines = render_prompt(prompt, width, session="", position="", keys=True, root=self.root)
        return len(lines.head) + len(lines.body) + len(lines.foot) + (2 if lines.body else 1)

    def set_room(self, rows: int, *, small: bool, keys: bool) -> None:
        """Set the card's height. `small`: fold the card. `keys`: show the keys."""
        self._max_height, self.small, self._keys = rows, small, keys
        self._lay_out()

    def set_banner(self, text: str) -> None:
        self.banner = text
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        pieces: Pieces = [("┃ ", "card-bar"), *self._line(y)]
        if self.banner and y == 0:
            pieces = [("┃ ", "card-bar"), (self.banner, "waiting")]
        return render_strip(pieces, "card", width, self.active_palette, self._background_style.style())

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._background_style.clear()

    def action_scroll_body(self, lines: int) -> None:
        self._note_read()
        last = max(len(self._lines.body) - self._body_height(), 0)
        self._offset = min(max(self._offset + lines, 0), last)
        self._note_read()
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

    def _drawn(self, prompt: PendingPrompt) -> None:
        if self.shown and self.shown.prompt == prompt and self.shown.since is None:
            self.shown = CardPrompt(prompt, self.shown.session, self.shown.position, monotonic())

    def _lay_out(self) -> None:
        if self.shown is None:
            return
        lines = self._render_lines(MAX_LABEL_LINES)
        room = self._max_height - len(lines.head) - len(lines.foot)
        if room < min(len(lines.body), MIN_BODY_LINES):
            lines = self._render_lines(1)
        if len(lines.body) != len(self._lines.body) and self._read < len(self._lines.body):
            self._offset = self._read = 0  # wrapped differently, so other lines are now on the screen
        self._lines = lines
        self.styles.height = max(self._max_height, 1)
        self.action_scroll_body(0)

    def _render_lines(self, label_lines: int) -> "PromptLines":
        assert self.shown is not None
        return render_prompt(
            self.shown.prompt,
            max(self.size.width - MARGIN, 10),
            session=self.shown.session,
            position=self.shown.position,
            keys=self._keys,
            root=self.root,
            label_lines=label_lines,
        )

    def _note_read(self) -> None:
        """Count the lines on the screen as read, if all lines before them were read."""
        drawn = self.shown is not None and self.shown.since is not None
        if drawn and not self.small and self._offset <= self._read:
            self._read = max(self._read, self._offset + self._shown_lines())

    def _shown_lines(self) -> int:
        """Return how many lines of the body are shown, without the row that counts the hidden lines."""
        room, left = self._body_height(), len(self._lines.body) - self._offset
        return left if left <= room else max(room - 1, 0)

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
        # With room to spare, a blank line sets the body apart.
        index = y - len(head) + self._offset - (1 if room >= len(body) + 2 else 0)
        below = len(body) - index - 1
        if y == len(head) + room - 1 and below > 0:
            return [(f"… {below + 1} more lines", "muted")]
        return body[index] if 0 <= index < len(body) else []


@dataclass(frozen=True, slots=True)
class PromptLines:
    """A prompt as lines. Only the body scrolls. `longer`: the prompt is too long to be shown in full."""

    head: list[Pieces]
    body: list[Pieces]
    foot: list[Pieces]
    # Line of `foot` -> the option it shows.
    options: dict[int, PromptOption]
    longer: bool = False


def render_prompt(
    prompt: PendingPrompt,
    width: int,
    *,
    session: str,
    position: str,
    keys: bool,
    root: str = "",
    label_lines: int = MAX_LABEL_LINES,
) -> PromptLines:
    """Render a prompt. `position`: such as `2 of 3`. `label_lines`: the limit for an option's label."""
    asked = "" if prompt.question == prompt.title else prompt.question
    question = [part for part in wrap(sanitize(asked), width) if part.strip()]
    body = _render_body(prompt, width, root)
    if len(question) > MAX_QUESTION_LINES:
        body += [[(part, "title")] for part in question]
        question = [*question[: MAX_QUESTION_LINES - 1], "…"]
    foot: list[Pieces] = [[(part, "title")] for part in question]
    options = _add_options(foot, prompt, width, label_lines)
    if keys or prompt.kind in UNKNOWN_KINDS:
        foot.append(render_keys(prompt, width))
    head = _render_head(prompt, width, session, position)
    longer = is_cut(prompt.body, max_lines=MAX_BODY_LINES) or len(asked) > MAX_LINE_CHARACTERS
    return PromptLines(head, body, foot, options, longer)


def render_keys(prompt: PendingPrompt, width: int) -> Pieces:
    if prompt.kind in UNKNOWN_KINDS:
        return [(cut("Not recognised; answer it in its pane.", width), "warning")]
    keys = []
    if prompt.option("allow"):
        keys.append(("a", "approve"))
    if prompt.option("allow-always"):
        keys.append(("A", "always"))
    if prompt.option("deny"):
        keys += [("d", "deny"), ("D", "deny with a message")]
    pieces: Pieces = []
    used = 0
    for key, word in keys:
        used += len(key) + len(word) + 4
        if used - 3 > width:
            return pieces
        pieces += [(key, "key"), (f" {word}   ", "muted")]
    command = sanitize(command_lines.answer(prompt.id, "allow")) if prompt.option("allow") else ""
    if used + cell_width(command) < width:
        pieces += [(" " * (width - used - cell_width(command)), ""), (command, "command")]
    return pieces


def _render_head(prompt: PendingPrompt, width: int, session: str, position: str) -> list[Pieces]:
    title = sanitize(prompt.title) or sanitize(prompt.tool) or "A question"
    room = max(width - cell_width(title) - 2, 0)
    named = "  ".join(part for part in (position, sanitize(session)) if part)
    timed = "  ".join(part for part in (named, render_time(prompt.since)) if part)
    right = timed if cell_width(timed) <= room else cut(named, room)  # half a time is of no use
    head: list[Pieces] = [[(pad(title, width - cell_width(right)), "waiting"), (right, "muted")]]
    if prompt.path:
        head.append([(cut(sanitize(prompt.path), width), "strong")])
    return head


def _render_body(prompt: PendingPrompt, width: int, root: str) -> list[Pieces]:
    """Render the prompt's body, without the horizontal lines that the client draws."""
    if not prompt.body.strip():
        return []
    is_diff = prompt.tool in EDIT_TOOLS
    rows = sanitize_lines(prompt.body.strip("\n"), max_lines=MAX_BODY_LINES)
    if is_diff:
        rows[0] = without_root(rows[0], sanitize(root))
    rows, rest = _command_first(rows) if prompt.kind == "bash" else (rows, [])
    if not prompt.tool:
        rows = textwrap.dedent("\n".join(rows)).split("\n")  # text of the client, without its indent
    column = _sign_column(prompt, rows)
    lines: list[Pieces] = []
    for row in rows:
        if not _RULE_LINE.fullmatch(row):
            sign = (
                row[column : column + 1]
                if column is not None and row[:column].strip(" 0123456789") == ""
                else " "
            )
            style = {"+": "plus", "-": "minus"}.get(sign, "" if is_diff else "strong")
            lines += [[(part, style)] for part in wrap(row, width)]
    # The client draws blank rows between a plan and its options.
    while lines and not any(part.strip() for part, _ in lines[-1]):
        lines.pop()
    return lines + [[(part, "muted")] for row in rest for part in wrap(row, width)]


def _command_first(rows: list[str]) -> tuple[list[str], list[str]]:
    """Split rows into the command and the text around it.

    The command is between the first and the last horizontal line. Without two such lines, all rows are the
    command.
    """
    rules = [index for index, row in enumerate(rows) if _RULE_LINE.fullmatch(row)]
    if len(rules) < 2:
        return rows, []
    first, last = rules[0], rules[-1]
    around = [row for row in (*rows[:first], *rows[last + 1 :]) if row.strip()]
    return rows[first + 1 : last], ["", *around] if around else []


def _sign_column(prompt: PendingPrompt, rows: list[str]) -> int | None:
    """Return the column of `+` and `-` in a diff; None if the rows are not a diff.

    Outside a diff, `-` may be a bullet.
    """
    if prompt.kind == "create" or prompt.tool not in EDIT_TOOLS:
        return None
    numbered = [match.end() for row in rows if (match := _NUMBERED_LINE.match(row))]
    if numbered:
        return min(numbered)
    return 0 if prompt.tool == "Edit" else None


def _add_options(
    foot: list[Pieces], prompt: PendingPrompt, width: int, label_lines: int
) -> dict[int, PromptOption]:
    """Add the lines of each option to `foot`. Return the option of each line."""
    options: dict[int, PromptOption] = {}
    for option in prompt.options:
        lead = f" {option.digit} "
        letter = "" if prompt.kind in UNKNOWN_KINDS else MEANING_KEYS.get(option.meaning, "")
        letter = f"  {letter}" if letter and prompt.option(option.meaning) is option else ""
        room = max(width - cell_width(lead) - len(letter), 8)
        text = sanitize(option.label)
        label = wrap(text, room) if label_lines > 1 else [cut(text, room)]
        for index, part in enumerate(label[:label_lines]):
            options[len(foot)] = option
            shown = (lead, "key") if index == 0 else (" " * cell_width(lead), "")
            foot.append([shown, (part, MEANING_STYLES.get(option.meaning, ""))])
            if index == 0:
                foot[-1].append((letter, "key"))
        if len(label) > label_lines:
            foot[-1].append((" …", "muted"))
    return options
