"""The details of the selected row: the diff of an action, or the message and actions of a turn.

A patch is requested only once the cursor rests, and is kept: it never changes.
"""

from collections import OrderedDict

from textual.timer import Timer

from chorus.errors import ChorusError
from chorus.model.lane_name import short_lane_name
from chorus.panel.background import start_task
from chorus.panel.state.items import LogEntry, NoteInfo, TurnInfo
from chorus.panel.state.model import PanelModel
from chorus.panel.state.watcher_client import WatcherClient
from chorus.panel.style.labels import render_time, status_word
from chorus.panel.widgets.bars import Heading
from chorus.panel.widgets.diff import DiffView
from chorus.panel.widgets.line_pane import Pieces, StyledLine
from chorus.panel.widgets.patch import Patch, parse_patch
from chorus.panel.widgets.queue_rows import (
    ActionRow,
    QueueRow,
    TurnRow,
    render_file,
    render_subject,
    render_summary,
    render_symbol,
)
from chorus.text.sanitize import sanitize, sanitize_lines
from chorus.text.width import count_of, pad

# Shorter than a key's repeat: a held key scrolls the queue without a request for every diff on the way.
SETTLE_SECONDS = 0.03
# Enough to go back and forth between neighbours, and little memory.
MAX_PATCHES = 64
# The message is there to be recognised, not to be read to its end.
MAX_MESSAGE_LINES = 12
# Longer ones are in `chorus show --turn`.
MAX_ANSWER_LINES = 200


class Details:
    def __init__(self, view: DiffView, heading: Heading, model: PanelModel, client: WatcherClient) -> None:
        self._view = view
        self._heading = heading
        self._model = model
        self._client = client
        self._row: QueueRow | None = None
        self._shown: str | None = None  # the id of the entry whose diff is drawn
        self._patches: OrderedDict[str, Patch] = OrderedDict()
        self._timer: Timer | None = None

    @property
    def patch(self) -> Patch | None:
        """The patch of the selected action, if it was read."""
        return self._patches.get(self._row.entry.id) if isinstance(self._row, ActionRow) else None

    def select(self, row: QueueRow | None) -> None:
        """Show this row: the cursor moved, or the row changed."""
        self._row = row
        if self._timer is not None:
            self._timer.stop()
        match row:
            case None:
                self._heading.show([("Diff", "heading")], [])
                text = " No action is shown." if self._model.entries else " No action yet."
                self._view.show([([(text, "muted")], "")])
            case TurnRow():
                self._show_turn(row)
            case ActionRow(entry) if entry.id in self._patches:
                self._show_action(entry, self._patches[entry.id])
            case ActionRow(entry):
                self._timer = self._view.set_timer(SETTLE_SECONDS, lambda: self._request(entry))

    def ensure(self, row: QueueRow | None) -> None:
        """Show this row if it is not shown: the diff was hidden before."""
        if row is not self._row or row is None:
            self.select(row)

    def update_heading(self) -> None:
        """Show again what is known about the selected action: a revert of it may be new."""
        if isinstance(self._row, ActionRow) and self._shown == self._row.entry.id:
            entry = self._model.entries.get(self._row.entry.n, self._row.entry)
            self._view.set_heading(self._heading_lines(entry, self._view.document.patch))

    def _show_turn(self, row: TurnRow) -> None:
        entries = [self._model.entries[n] for n in self._model.groups.get(row.group, [])]
        self._shown = None
        self._heading.show([("Turn", "heading")], [(count_of(row.count, "action"), "muted")])
        turn = self._model.turns.get(row.group)
        self._view.show(_render_turn(row.message or "(no message)", entries, turn))

    def _request(self, entry: LogEntry) -> None:
        start_task(self._view, "show", self._fetch, entry)

    async def _fetch(self, entry: LogEntry) -> None:
        try:
            answer = await self._client.request(
                "show",
                {"action": entry.id if entry.outside else int(entry.n)},
                label="loading the diff",
                start_watcher=False,
            )
        except ChorusError as error:
            self._show_heading(entry)
            self._view.show(
                [*_render_entry(entry, self._model), ([(" " + sanitize(str(error)), "error")], "")]
            )
            return
        patch = parse_patch(str(answer.get("patch") or ""))
        self._patches[entry.id] = patch
        while len(self._patches) > MAX_PATCHES:
            self._patches.popitem(last=False)
        if isinstance(self._row, ActionRow) and self._row.entry.id == entry.id:
            self._show_action(self._row.entry, patch)

    def _show_action(self, entry: LogEntry, patch: Patch) -> None:
        self._show_heading(entry, patch)
        lines = self._heading_lines(entry, patch)
        if self._shown == entry.id and self._view.document.patch is patch:
            self._view.set_heading(lines)  # only its status changed: the diff keeps its scroll position
            return
        self._shown = entry.id
        self._view.show(lines, patch)

    def _heading_lines(self, entry: LogEntry, patch: Patch) -> list[StyledLine]:
        lines = _render_entry(entry, self._model)
        return lines if patch.lines else [*lines, ([(" No file changed.", "muted")], "")]

    def _show_heading(self, entry: LogEntry, patch: Patch | None = None) -> None:
        added = patch.count("added") if patch else entry.added
        removed = patch.count("removed") if patch else entry.removed
        counts = [(f"+{added}", "plus")] if added else []
        counts += [(f" −{removed}", "minus")] if removed else []
        about = render_summary(entry) or render_subject(entry)
        if entry.paths and about != sanitize(entry.summary):
            about = f"{render_file(entry)}: {about}"  # the tool is named already
        number: Pieces = [(f"{entry.number} ".lstrip(), "heading"), (f"{sanitize(entry.tool)}  ", "strong")]
        self._heading.show([*number, (about, "")], counts)


def _render_entry(entry: LogEntry, model: PanelModel) -> list[StyledLine]:
    symbol, style = render_symbol(entry)
    parts = [render_time(entry.time), sanitize(short_lane_name(entry.lane or ""))]
    parts += [f"sub-agent {sanitize(entry.agent)}"] if entry.agent else []
    parts += [f"part of {sanitize(entry.within)}"] if entry.within else []
    undone = entry.undone if entry.status == "undone" else None
    parts += [entry.undone] if entry.undone and not undone else []
    facts = "  ".join(part for part in parts if part.strip())
    status = undone or status_word(entry.shown_status)
    lines: list[StyledLine] = [([(f" {symbol} {status}  ", style), (facts, "muted")], "")]
    lines += [([(f" {sanitize(line)}", "muted")], "") for line in entry.context]
    for revert, word in model.reverts_of(entry):
        lines.append(([(f" {word} at {render_time(revert.time)} by action {revert.number}", "muted")], ""))
    for note in model.notes_on(entry):
        lines += _render_note(note)
    return [*lines, ([], "")]


def _render_note(note: NoteInfo) -> list[StyledLine]:
    changed = ", its lines have changed since" if note.changed else ""
    where = f"{note.path}:{note.at}" if note.at is not None else note.path
    style = {"draft": "waiting", "addressed": "kept"}.get(note.state, "agent")
    head: Pieces = [
        (f" ✎ note {note.n} {sanitize(note.state)}", style),
        (f"  {sanitize(where)}{changed}", "muted"),
    ]
    texts = sanitize_lines(note.text, max_lines=MAX_MESSAGE_LINES)
    return [(head, ""), *(([(f"   {line}", "")], "") for line in texts)]


def _render_turn(message: str, entries: list[LogEntry], turn: TurnInfo | None) -> list[StyledLine]:
    lines: list[StyledLine] = [
        ([(f" {line}", "title")], "") for line in sanitize_lines(message, max_lines=MAX_MESSAGE_LINES)
    ]
    lines.append(([], ""))
    for entry in entries:
        symbol, style = render_symbol(entry)
        pieces: Pieces = [
            (f" {entry.number:>5} ", "number"),
            (f"{symbol} ", style),
            (pad(sanitize(entry.tool), 9) + " ", "strong"),
            (render_subject(entry), ""),
        ]
        lines.append((pieces, ""))
    return [*lines, *_render_outcome(turn)] if turn is not None else lines


def _render_outcome(turn: TurnInfo) -> list[StyledLine]:
    """Render what a turn took, and its answer or why it failed."""
    parts = [f"{turn.tokens_in} tokens in, {turn.tokens_out} out"]
    parts += [f"${turn.cost_usd:.4f}"] if turn.cost_usd is not None else []
    parts += [f"{turn.duration_ms / 1000:.1f} s"] if turn.duration_ms is not None else []
    lines: list[StyledLine] = [([], ""), ([(f" {'  '.join(parts)}", "muted")], "")]
    if turn.error:
        lines.append(([(f" failed: {sanitize(turn.error)}", "error")], ""))
    if turn.answer:
        answer = sanitize_lines(turn.answer, max_lines=MAX_ANSWER_LINES)
        lines += [([], ""), *(([(f" {line}", "")], "") for line in answer)]
    return lines
