"""The form for landing a lane: grouping of the actions, branch and message."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Click, Resize
from textual.message import Message
from textual.widgets import Input

from chorus.errors import ChorusError
from chorus.model.api.json_api import LandedCommitJson, LandJson
from chorus.model.api.requests import LandArguments, LandMessage
from chorus.model.lane_name import short_lane_name
from chorus.panel import command_lines
from chorus.panel.background import start_task
from chorus.panel.forms.form import CANCEL_KEY, Form, render_problem
from chorus.panel.style.theme import ActivePalette
from chorus.panel.widgets.line_pane import LinePane, Pieces, StyledLine
from chorus.text.sanitize import sanitize
from chorus.text.width import count_of, render_ranges

# More commits do not fit into the form.
MAX_COMMITS = 8
GROUPINGS = {"turn": "by turn", "action": "by action", "all": "all in one"}


class ChoiceBar(LinePane):
    """A few choices on one line. Keys or a click choose one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,space,l", "step(1)", "next", show=False),
        Binding("left,h", "step(-1)", "previous", show=False),
    ]

    class Changed(Message):
        """Another choice was made."""

    def __init__(
        self, active_palette: ActivePalette, labels: Mapping[str, str], *, id: str | None = None
    ) -> None:
        super().__init__(active_palette, id=id)
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
        at = 0
        for name, label in self._labels.items():
            yield at, name, label
            at += len(label) + 5


class LandForm(Form[LandArguments]):
    """Asks how to land a lane, with a preview of the commits."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("e", "edit", "edit messages", show=False)]

    Plan = Callable[[LandArguments], Awaitable[LandJson]]
    EditMessages = Callable[[Sequence[LandedCommitJson], str], list[LandMessage]]

    def __init__(
        self,
        active_palette: ActivePalette,
        lane: str,
        plan: Plan,
        edit_messages: EditMessages,
        *,
        unreviewed: int,
    ) -> None:
        super().__init__(active_palette)
        self.lane = lane
        self._plan = plan
        self._edit_messages = edit_messages
        self._unreviewed = unreviewed
        self._planned: LandJson | None = None
        self._messages: list[LandMessage] = []  # as edited

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield self.text_pane("title")
            yield ChoiceBar(self.active_palette, GROUPINGS, id="by")
            yield Input(placeholder="branch (default: the current one)", id="onto", compact=True)
            yield Input(placeholder="message (default: from your messages)", id="message", compact=True)
            yield self.text_pane("commits")
            yield self.text_pane("foot")

    def on_mount(self) -> None:
        title: list[StyledLine] = [
            ([("Land ", "waiting"), (sanitize(short_lane_name(self.lane)), "title")], "")
        ]
        if self._unreviewed:
            count = count_of(self._unreviewed, "action")
            verb = "is" if self._unreviewed == 1 else "are"
            title.append(([(f"! {count} {verb} not reviewed yet", "warning")], ""))
        self.show_text("title", [*title, ([], "")])
        self.query_one("#by").focus()
        self._changed()

    def on_resize(self, event: Resize) -> None:
        super().on_resize(event)
        self.call_after_refresh(self._fit_commits)

    def choices(self) -> LandArguments:
        choices: LandArguments = {"lane": self.lane, "by": self.query_one("#by", ChoiceBar).chosen}
        if onto := self.query_one("#onto", Input).value.strip():
            choices["onto"] = onto
        if self._messages:
            choices["messages"] = self._messages
        elif message := self.query_one("#message", Input).value.strip():
            choices["message"] = message
        return choices

    def on_choice_bar_changed(self, event: ChoiceBar.Changed) -> None:
        self._messages = []  # the edited messages are for other commits
        self._changed()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._changed()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(self.choices())

    def key_ctrl_l(self) -> None:
        self.dismiss(self.choices())

    def action_edit(self) -> None:
        if self._planned is None:
            return
        edited = [commit for commit in self._planned["commits"] if commit["actions"]]
        try:
            self._messages = self._edit_messages(edited, self._planned["onto"])
        except (ChorusError, OSError) as error:
            self.show_text("commits", [*render_problem(error), ([], "")])
        else:
            self._changed()

    def _changed(self) -> None:
        choices = self.choices()
        command = command_lines.land(
            self.lane, choices["by"], onto=choices.get("onto"), message=choices.get("message")
        )
        command += " --edit" if self._messages else ""
        keys = [
            ("ctrl+l", "key"), (" land   ", "muted"),
            ("e", "key"), (" edit messages   ", "muted"),
            ("tab", "key"), (" next field   ", "muted"),
            *CANCEL_KEY,
        ]  # fmt: skip
        self.show_text("foot", [([(sanitize(command), "command")], ""), (keys, "")])
        self.call_after_refresh(self._fit_commits)
        start_task(self, "preview", self._show_commits, choices)

    async def _show_commits(self, choices: LandArguments) -> None:
        try:
            self._planned = await self._plan(choices)
        except ChorusError as error:
            self._planned = None
            lines = render_problem(error)
        else:
            lines = render_landing(self._planned)
        self.show_text("commits", [*lines, ([], "")])

    def _fit_commits(self) -> None:
        """Limit the height of the list of commits, so that the keys below it stay visible."""
        box = self.query_one("#box")
        rows = self.size.height if self.has_class("-short") else self.size.height * 9 // 10
        others = [child for child in box.children if child.id != "commits"]
        used = sum(
            child.styles.margin.height + (child.line_count() if isinstance(child, LinePane) else 1)
            for child in others
        )
        self.query_one("#commits").styles.max_height = max(rows - box.gutter.height - used, 1)


def render_landing(plan: LandJson) -> list[StyledLine]:
    commits = plan.get("commits", [])
    heading = f"{count_of(commits, 'commit')} on {sanitize(str(plan.get('onto', '')))}:"
    lines: list[StyledLine] = [([(heading, "muted")], "")]
    for commit in commits[:MAX_COMMITS]:
        subject = "  " + sanitize(str(commit.get("subject", "")))
        numbers = commit.get("actions", [])
        actions = f"  ({render_ranges(numbers)})" if numbers else ""
        lines.append(([(subject, ""), (actions, "muted")], ""))
    if len(commits) > MAX_COMMITS:
        lines.append(([(f"  … and {len(commits) - MAX_COMMITS} more", "muted")], ""))
    for place in plan.get("left", [])[:MAX_COMMITS]:
        text = f"  action {place.get('n')} stays open: {sanitize(str(place.get('reason', '')))}"
        lines.append(([(text, "warning")], ""))
    lines += [([(f"  {sanitize(hint)}", "muted")], "") for hint in plan.get("hints", [])]
    return lines
