"""The queue: entries grouped by turn, with a cursor on one row.

The rows are not widgets, so ten thousand rows cost as much as forty.
"""

from collections.abc import Callable
from time import monotonic
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Click, Resize
from textual.message import Message

from chorus.panel.state.items import LogItem
from chorus.panel.state.model import Group, PanelModel
from chorus.panel.style.theme import ActivePalette
from chorus.panel.widgets.line_pane import LinePane, StyledLine
from chorus.panel.widgets.queue_rows import (
    ActionRow,
    QueueRow,
    QueueView,
    RowKey,
    RowPlanner,
    Scope,
    TurnRow,
    key_of,
    plan_columns,
    render_row,
    reviewed_groups,
)
from chorus.text.width import wrap

EMPTY_TEXT = (
    "Each change the agent makes becomes a row here. Your tmux prefix and an arrow key move between the "
    "session and this panel; press ? for the keys."
)


class Queue(LinePane):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j,ctrl+n", "move(1)", "down", show=False),
        Binding("up,k,ctrl+p", "move(-1)", "up", show=False),
        Binding("pagedown,ctrl+d,ctrl+f", "page(1)", "page down", show=False),
        Binding("pageup,ctrl+u,ctrl+b", "page(-1)", "page up", show=False),
        Binding("g,home", "first", "first", show=False),
        Binding("G,end", "last", "last", show=False),
        Binding("n", "next_open(1)", "next open", show=False),
        Binding("N", "next_open(-1)", "previous open", show=False),
        Binding("right_square_bracket", "next_turn(1)", "next turn", show=False),
        Binding("left_square_bracket", "next_turn(-1)", "previous turn", show=False),
        Binding("left", "fold(True)", "fold", show=False),
        Binding("right", "fold(False)", "unfold", show=False),
        Binding("minus", "fold_all(True)", "fold all", show=False),
        Binding("equals_sign,plus", "fold_all(False)", "unfold all", show=False),
        Binding("enter", "open", "diff", show=False),
    ]

    class Moved(Message):
        """The cursor is on another row, or the row under the cursor has changed."""

        def __init__(self, row: QueueRow | None) -> None:
            super().__init__()
            self.row = row

    class Opened(Message):
        def __init__(self, row: QueueRow) -> None:
            super().__init__()
            self.row = row

    def __init__(self, active_palette: ActivePalette, model: PanelModel, *, id: str | None = None) -> None:
        super().__init__(active_palette, id=id)
        self._model = model
        self.view = QueueView()
        self._planner = RowPlanner()
        self.rows: list[QueueRow] = []
        self.cursor = 0
        # When the cursor last moved without a key. A key pressed right after was meant for the previous row.
        self.auto_moved_at = 0.0
        self._columns = plan_columns([])

    @property
    def row(self) -> QueueRow | None:
        return self.rows[self.cursor] if self.rows else None

    @property
    def entry(self) -> LogItem | None:
        return self.row.entry if isinstance(self.row, ActionRow) else None

    @property
    def group(self) -> Group | None:
        match self.row:
            case TurnRow(group=group):
                return group
            case ActionRow(entry):
                return entry.group
        return None

    def line_count(self) -> int:
        return len(self.rows) or len(self._explain_empty())

    def line(self, index: int, width: int) -> StyledLine:
        if not self.rows:
            return [(self._explain_empty()[index], "muted")], ""
        under = ""
        if index == self.cursor:
            under = "cursor" if self.has_focus else "cursor-blurred"
        row = self.rows[index]
        notes = self._model.notes_on(row.entry) if isinstance(row, ActionRow) and self._model.notes else []
        return render_row(row, self._columns, width, notes), under

    def replan(self) -> None:
        """Plan the rows again. The cursor stays on its row; on the last row, the cursor follows new rows."""
        before = self.row
        following = self.cursor >= len(self.rows) - 1
        at = self.cursor
        self.rows = self._planner.plan(self._model, self.view)
        self._columns = plan_columns(self.rows)
        self.resize_lines()
        last = max(len(self.rows) - 1, 0)
        self.cursor = last if following else self._find(key_of(before) if before else None, at)
        if self.row is not None and (before is None or key_of(self.row) != key_of(before)):
            self.auto_moved_at = monotonic()
        if self.row != before:
            self.post_message(self.Moved(self.row))
        self.reveal(self.cursor)

    def fold_reviewed(self) -> None:
        """Fold older turns with nothing left to review, unless the user has folded or unfolded them."""
        for group in reviewed_groups(self._model):
            self.view.folds.setdefault(group, True)
        self.replan()

    def action_move(self, rows: int) -> None:
        self.go_to(self.cursor + rows)

    def action_page(self, pages: int) -> None:
        self.go_to(self.cursor + pages * max(self.size.height - 1, 1))

    def action_first(self) -> None:
        self.go_to(0)

    def action_last(self) -> None:
        self.go_to(len(self.rows) - 1)

    def action_next_open(self, step: int) -> None:
        self._seek(step, lambda row: isinstance(row, ActionRow) and row.entry.open)

    def action_next_turn(self, step: int) -> None:
        self._seek(step, lambda row: isinstance(row, TurnRow))

    def action_fold(self, folded: bool | None = None) -> None:
        if (group := self.group) is None:
            return
        self.view.folds[group] = not self.view.folds.get(group, False) if folded is None else folded
        self._replan_on(group)

    def action_fold_all(self, folded: bool) -> None:
        group = self.group
        self.view.folds = dict.fromkeys(self._model.groups, folded)
        self._replan_on(group)

    def action_open(self) -> None:
        match self.row:
            case TurnRow():
                self.action_fold()
            case ActionRow() as row:
                self.post_message(self.Opened(row))

    def set_view(self, *, scope: Scope | None = None, needle: str | None = None) -> None:
        self.view.scope = scope or self.view.scope
        self.view.needle = self.view.needle if needle is None else needle
        self._replan_on(key_of(self.row) if self.row else None)

    def set_session(self, session: str | None) -> None:
        self.view.session = session
        self._replan_on(key_of(self.row) if self.row else None)

    def go_to(self, index: int) -> None:
        if not self.rows:
            return
        index = min(max(index, 0), len(self.rows) - 1)
        if index != self.cursor:
            self.cursor = index
            self.refresh()
            self.post_message(self.Moved(self.row))
        self.reveal(index)

    def on_resize(self, event: Resize) -> None:
        self.reveal(self.cursor)

    def on_click(self, event: Click) -> None:
        index = self.scroll_offset.y + event.y
        if index >= len(self.rows):
            return
        again = index == self.cursor
        self.go_to(index)
        if isinstance(self.row, TurnRow) and event.x < 2:
            self.action_fold()
        elif again and event.chain > 1:
            self.action_open()

    def _explain_empty(self) -> list[str]:
        if not self._model.complete:
            return []
        if self.view.needle:
            text = "Nothing matches the filter. Press esc to clear it."
        elif not self._model.entries:
            text = EMPTY_TEXT
        elif self.view.session is not None:
            text = "This session has no rows in this view. Press s for the next session, t for the next view."
        elif self.view.scope is Scope.OPEN:
            text = "Nothing is open. Press t to see everything."
        else:
            text = "No action changed a file. Press t twice to see everything."
        return [f" {row.strip()}" for row in wrap(text, max(self.size.width - 2, 1))]

    def _seek(self, step: int, wanted: Callable[[QueueRow], bool]) -> None:
        index = self.cursor + step
        while 0 <= index < len(self.rows):
            if wanted(self.rows[index]):
                self.go_to(index)
                return
            index += step

    def _replan_on(self, key: RowKey | None) -> None:
        """Plan the rows again, and put the cursor on the row of `key` if possible."""
        before, at = self.row, self.cursor
        self.rows = self._planner.plan(self._model, self.view)
        self._columns = plan_columns(self.rows)
        self.resize_lines()
        self.cursor = self._find(key, at)
        if self.row != before:
            self.post_message(self.Moved(self.row))
        self.reveal(self.cursor)

    def _find(self, key: RowKey | None, otherwise: int) -> int:
        """Return the index of the row of `key`.

        If that row is in a folded turn, return the index of the turn's row. Without such a row, return
        `otherwise`, but at most the index of the last row.
        """
        if otherwise < len(self.rows) and key_of(self.rows[otherwise]) == key:
            return otherwise
        known = None if isinstance(key, tuple) or key is None else self._model.entries.get(key)
        fallback = min(otherwise, max(len(self.rows) - 1, 0))
        for index, row in enumerate(self.rows):
            if key_of(row) == key:
                return index
            if known and isinstance(row, TurnRow) and row.folded and row.group == known.group:
                fallback = index
        return fallback
