"""The diff of what the cursor is on.

Receives where the cursor is; asks the agent for that action's patch and shows it. A cursor that only
passes by asks for nothing, and a patch once read is kept: it never changes.
"""

from collections import OrderedDict
from typing import TYPE_CHECKING

from textual.timer import Timer

from chorus.errors import ChorusError
from chorus.panel.bars import Rule
from chorus.panel.detail_lines import render_entry_heading, render_entry_title, render_turn
from chorus.panel.diff_view import DiffView
from chorus.panel.items import Entry
from chorus.panel.patch import Patch, parse_patch
from chorus.panel.rows import ActionRow, Row, TurnRow
from chorus.panel.work import start_work
from chorus.text.sanitize import sanitize
from chorus.text.width import count_of

if TYPE_CHECKING:
    from chorus.panel.app import Panel

# Shorter than a key's repeat: a held key scrolls the queue without asking for every diff on the way.
SETTLE_SECONDS = 0.03
# Diffs kept: back and forth between neighbours is instant, and memory stays small.
MOST_PATCHES = 64


class Reading:
    def __init__(self, panel: "Panel", view: DiffView, rule: Rule) -> None:
        self._panel = panel
        self._view = view
        self._rule = rule
        self._row: Row | None = None
        self._shown: str | None = None
        self._patches: OrderedDict[str, Patch] = OrderedDict()
        self._timer: Timer | None = None

    @property
    def patch(self) -> Patch | None:
        return self._patches.get(self._row.entry.id) if isinstance(self._row, ActionRow) else None

    def select(self, row: Row | None) -> None:
        """The cursor came to rest on a row, or its row changed."""
        self._row = row
        if self._timer is not None:
            self._timer.stop()
        match row:
            case None:
                self._rule.show([("Diff", "heading")], [])
                self._view.show([([(" Nothing done yet.", "muted")], "")])
            case TurnRow():
                self._show_turn(row)
            case ActionRow(entry) if entry.id in self._patches:
                self._show(entry, self._patches[entry.id])
            case ActionRow(entry):
                self._timer = self._panel.set_timer(SETTLE_SECONDS, lambda: self._read(entry))

    def ensure(self, row: Row | None) -> None:
        """The diff came into sight: it may not have been asked for yet."""
        if row is not self._row or row is None:
            self.select(row)

    def _show_turn(self, row: TurnRow) -> None:
        model = self._panel.model
        entries = [model.entries[n] for n in model.groups.get(row.group, [])]
        self._shown = None
        self._rule.show([("Turn", "heading")], [(count_of(row.count, "action"), "muted")])
        self._view.show(render_turn(row.message or "(no message)", entries))

    def _read(self, entry: Entry) -> None:
        start_work(self._panel, "show", self._fetch, entry)

    async def _fetch(self, entry: Entry) -> None:
        try:
            answer = await self._panel.ask(
                "show",
                {"action": entry.id if entry.outside else entry.n},
                label="reading the diff",
                starts=False,
            )
        except ChorusError as error:
            self._title(entry)
            self._view.show([*render_entry_heading(entry), ([(" " + sanitize(str(error)), "error")], "")])
            return
        patch = parse_patch(str(answer.get("patch") or ""))
        self._patches[entry.id] = patch
        while len(self._patches) > MOST_PATCHES:
            self._patches.popitem(last=False)
        if isinstance(self._row, ActionRow) and self._row.entry.id == entry.id:
            self._show(self._row.entry, patch)

    def _show(self, entry: Entry, patch: Patch) -> None:
        self._title(entry, patch)
        heading = render_entry_heading(entry)
        if self._shown == entry.id and self._view.document.patch is patch:
            self._view.reheading(heading)  # only its status changed: the place in the diff is kept
            return
        self._shown = entry.id
        if not patch.lines:
            heading.append(([(" No file changed.", "muted")], ""))
        self._view.show(heading, patch)

    def _title(self, entry: Entry, patch: Patch | None = None) -> None:
        added = patch.count("added") if patch else entry.added
        removed = patch.count("removed") if patch else entry.removed
        counts = [(f"+{added}", "plus")] if added else []
        counts += [(f" −{removed}", "minus")] if removed else []
        self._rule.show(render_entry_title(entry), counts)
