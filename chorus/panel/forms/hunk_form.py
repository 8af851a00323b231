"""The form for choosing hunks of an action."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Click, Resize
from textual.geometry import Region

from chorus.model.api.json_api import HunkJson
from chorus.panel.forms.form import CANCEL_KEY, Form
from chorus.panel.style.theme import ActivePalette
from chorus.panel.widgets.diff import DiffDocument
from chorus.panel.widgets.line_pane import LinePane, StyledLine
from chorus.panel.widgets.patch import Patch, parse_patch
from chorus.text.sanitize import sanitize
from chorus.text.width import count_of

# Only the beginning of a longer hunk is shown, enough to recognise it. The preview shows all of it.
MAX_HUNK_LINES = 16
_CODE = frozenset({"context", "added", "removed"})


class HunkList(LinePane):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j,ctrl+n", "move(1)", "down", show=False),
        Binding("up,k,ctrl+p", "move(-1)", "up", show=False),
        Binding("space,x", "choose", "choose", show=False),
        Binding("a", "choose_all", "all", show=False),
    ]

    def __init__(self, active_palette: ActivePalette, hunks: Sequence[HunkJson], *, id: str) -> None:
        super().__init__(active_palette, id=id)
        self._hunks = hunks
        self._documents = [DiffDocument(_code_of(hunk)) for hunk in hunks]
        # For each row: the position of its hunk, and the line of that hunk, or -1 for the hunk's heading.
        self._rows = [
            (at, line)
            for at, document in enumerate(self._documents)
            for line in range(-1, min(len(document.patch.lines), MAX_HUNK_LINES + 1))
        ]
        self.cursor = 0
        self.chosen: set[int] = set()

    def line_count(self) -> int:
        return len(self._rows)

    def line(self, index: int, width: int) -> StyledLine:
        at, line = self._rows[index]
        document = self._documents[at]
        if line < 0:
            return self._render_heading(at)
        if line == MAX_HUNK_LINES:
            more = len(document.patch.lines) - MAX_HUNK_LINES
            return [(f"  … {count_of(more, 'more line')}", "header")], ""
        return document.render_unified(line, width, 0)

    def action_move(self, step: int) -> None:
        self.cursor = min(max(self.cursor + step, 0), len(self._hunks) - 1)
        self._reveal()

    def action_choose(self) -> None:
        self.chosen ^= {self.cursor}
        self.refresh()

    def action_choose_all(self) -> None:
        every = set(range(len(self._hunks)))
        self.chosen = set() if self.chosen == every else every
        self.refresh()

    def on_click(self, event: Click) -> None:
        index = self.scroll_offset.y + event.y
        if index < len(self._rows):
            self.cursor = self._rows[index][0]
            if self._rows[index][1] < 0:
                self.action_choose()
            self.refresh()

    def numbers(self) -> list[int]:
        """Return the numbers of the chosen hunks or, if none is chosen, of the hunk under the cursor."""
        return [self._hunks[at]["n"] for at in sorted(self.chosen or {self.cursor})]

    def _render_heading(self, at: int) -> StyledLine:
        mark, style = ("[x] ", "open") if at in self.chosen else ("[ ] ", "muted")
        path = sanitize(self._hunks[at]["path"])
        under = "cursor" if at == self.cursor else "file"
        return [(mark, style), (f"{self._hunks[at]['n']} ", "number"), (path, "strong")], under

    def _reveal(self) -> None:
        rows = [index for index, (at, _) in enumerate(self._rows) if at == self.cursor]
        height = min(len(rows), max(self.size.height, 1))
        region = Region(0, rows[0], 1, height)
        self.scroll_to_region(region, animate=False, force=True, x_axis=False)
        self.refresh()


class HunkForm(Form[list[int]]):
    """Asks which hunks to revert. Returns the numbers of these hunks, or None if cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,r", "submit", "revert", show=False),
        Binding("q,n", "cancel", "cancel", show=False),
    ]

    def __init__(self, active_palette: ActivePalette, what: str, hunks: Sequence[HunkJson]) -> None:
        super().__init__(active_palette)
        self.what = what
        self._hunks = hunks

    def compose(self) -> ComposeResult:
        with Vertical(id="box"):
            yield self.text_pane("title")
            hunks = HunkList(self.active_palette, self._hunks, id="hunks")
            hunks.styles.height = "1fr"
            yield hunks
            yield self.text_pane("foot")

    def on_mount(self) -> None:
        title = [("Revert hunks of ", "waiting"), (sanitize(self.what), "title")]
        self.show_text("title", [(title, ""), ([], "")])
        keys = [
            ("space", "key"), (" choose   ", "muted"), ("a", "key"), (" all   ", "muted"),
            ("r", "key"), (" preview the revert   ", "muted"), *CANCEL_KEY,
        ]  # fmt: skip
        self.show_text("foot", [([], ""), (keys, "")])
        self.query_one("#hunks", HunkList).resize_lines()
        self.query_one("#hunks").focus()
        self.fit_box()

    def on_resize(self, event: Resize) -> None:
        self.call_after_refresh(self.fit_box)  # the text wraps differently in the new width

    def action_submit(self) -> None:
        self.dismiss(self.query_one("#hunks", HunkList).numbers())


def _code_of(hunk: HunkJson) -> Patch:
    return Patch(tuple(line for line in parse_patch(hunk["patch"]).lines if line.kind in _CODE))
