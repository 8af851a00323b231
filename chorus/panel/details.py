"""The details of the selected row: the diff of an action, or the message and actions of a turn."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import partial

from textual.timer import Timer

from chorus.errors import ChorusError, in_one_line
from chorus.model.lane_name import short_lane_name
from chorus.panel.background import start_task
from chorus.panel.state.items import LogItem, NoteInfo, TurnInfo
from chorus.panel.state.model import PanelModel
from chorus.panel.state.watcher_client import WatcherClient
from chorus.panel.style.labels import render_time, status_word
from chorus.panel.widgets.bars import Heading
from chorus.panel.widgets.diff import DiffView
from chorus.panel.widgets.line_pane import Pieces, StyledLine, wrap_pieces, wrap_text
from chorus.panel.widgets.patch import Patch, parse_patch
from chorus.panel.widgets.queue_rows import (
    ActionRow,
    QueueRow,
    TurnRow,
    plan_columns,
    render_action,
    render_file,
    render_subject,
    render_summary,
    render_symbol,
)
from chorus.text.sanitize import sanitize, sanitize_lines
from chorus.text.width import count_of

# How long the cursor must rest before a diff is requested, so that fast scrolling does not request every diff
# on the way.
SETTLE_SECONDS = 0.03
# Enough for going back and forth between neighbouring actions, and they take little memory.
MAX_PATCHES = 64
# Enough to recognise the message.
MAX_MESSAGE_LINES = 12
# `chorus show --turn` prints longer answers in full.
MAX_ANSWER_LINES = 200
# Enough to recognise the command; `chorus show` prints more of it.
MAX_COMMAND_LINES = 6


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
        return self._patches.get(self._row.entry.id) if isinstance(self._row, ActionRow) else None

    def select(self, row: QueueRow | None) -> None:
        """Show the details of this row. A missing diff is requested once the cursor has rested on the row."""
        self._row = row
        if self._timer is not None:
            self._timer.stop()
        match row:
            case None:
                self._heading.show([("Diff", "heading")], [])
                text = " No action is shown." if self._model.entries else " No action yet."
                self._view.show(partial(wrap_text, text.strip(), "muted"))
            case TurnRow():
                self._show_turn(row)
            case ActionRow(entry) if entry.id in self._patches:
                self._show_action(entry, self._patches[entry.id])
            case ActionRow(entry):
                self._timer = self._view.set_timer(SETTLE_SECONDS, lambda: self._request(entry))

    def ensure(self, row: QueueRow | None) -> None:
        if row is not self._row or row is None:
            self.select(row)

    def update_heading(self) -> None:
        """Redraw the heading of the selected action's diff, for example after a new note."""
        if isinstance(self._row, ActionRow) and self._shown == self._row.entry.id:
            entry = self._model.entries.get(self._row.entry.n, self._row.entry)
            self._view.set_heading(partial(self._heading_lines, entry, self._view.document.patch))

    def _show_turn(self, row: TurnRow) -> None:
        entries = [self._model.entries[n] for n in row.numbers]
        self._shown = None
        self._heading.show([("Turn", "heading")], [(count_of(row.count, "action"), "muted")])
        turn = self._model.turns.get(row.group)
        notes = {entry.n: self._model.notes_on(entry) for entry in entries}
        self._view.show(partial(_render_turn, row.message or "(no message)", entries, turn, notes))

    def _request(self, entry: LogItem) -> None:
        start_task(self._view, "show", self._fetch, entry)

    async def _fetch(self, entry: LogItem) -> None:
        try:
            answer = await self._client.request(
                "show",
                {"action": entry.id if entry.outside else int(entry.n)},
                label="loading the diff",
                start_watcher=False,
            )
        except ChorusError as error:
            self._show_heading(entry)
            problem = sanitize(in_one_line(error))
            self._view.show(
                lambda width: [
                    *_render_entry(entry, self._model, width), *wrap_text(problem, "error", width),
                ]
            )  # fmt: skip
            return
        patch = parse_patch(str(answer.get("patch") or ""))
        self._patches[entry.id] = patch
        while len(self._patches) > MAX_PATCHES:
            self._patches.popitem(last=False)
        if isinstance(self._row, ActionRow) and self._row.entry.id == entry.id:
            self._show_action(self._row.entry, patch)

    def _show_action(self, entry: LogItem, patch: Patch) -> None:
        self._show_heading(entry, patch)
        lines = partial(self._heading_lines, entry, patch)
        if self._shown == entry.id and self._view.document.patch is patch:
            self._view.set_heading(lines)  # only its status changed: the diff keeps its scroll position
            return
        self._shown = entry.id
        self._view.show(lines, patch)

    def _heading_lines(self, entry: LogItem, patch: Patch, width: int) -> list[StyledLine]:
        lines = _render_entry(entry, self._model, width)
        return lines if patch.lines else [*lines, ([(" No file changed.", "muted")], "")]

    def _show_heading(self, entry: LogItem, patch: Patch | None = None) -> None:
        added = patch.count("added") if patch else entry.added
        removed = patch.count("removed") if patch else entry.removed
        counts = [(f"+{added}", "plus")] if added else []
        counts += [(f" −{removed}", "minus")] if removed else []
        about = render_summary(entry) or render_subject(entry)
        if entry.paths and about != sanitize(entry.summary):
            about = f"{render_file(entry)}: {about}"  # the tool is already named
        number: Pieces = [(f"{entry.number} ".lstrip(), "heading"), (f"{sanitize(entry.tool)}  ", "strong")]
        self._heading.show([*number, (about, "")], counts)


def _render_entry(entry: LogItem, model: PanelModel, width: int) -> list[StyledLine]:
    symbol, style = render_symbol(entry)
    parts = [render_time(entry.time), sanitize(short_lane_name(entry.lane or ""))]
    parts += [f"sub-agent {sanitize(entry.agent)}"] if entry.agent else []
    parts += [f"part of action {sanitize(model.name_of(entry.within))}"] if entry.within else []
    undone = entry.undone if entry.status == "undone" else None
    parts += [entry.undone] if entry.undone and not undone else []
    facts = "  ".join(part for part in parts if part.strip())
    status = undone or status_word(entry.shown_status)
    lines: list[StyledLine] = [([(f" {symbol} {status}  ", style), (facts, "muted")], "")]
    for number, row in enumerate(sanitize_lines(entry.command, max_lines=MAX_COMMAND_LINES)):
        lines += wrap_text(f"{'$' if number == 0 else ' '} {row}", "strong", width) if row else []
    for line in entry.context:
        lines += wrap_text(sanitize(line), "muted", width)
    for revert, word in model.reverts_of(entry):
        text = f"{word} at {render_time(revert.time)} by action {revert.number}"
        lines += wrap_text(text, "muted", width)
    for note in model.notes_on(entry):
        lines += _render_note(note, width)
    return [*lines, ([], "")]


def _render_note(note: NoteInfo, width: int) -> list[StyledLine]:
    changed = "; its lines have changed since then" if note.changed else ""
    where = f"{note.path}:{note.at}" if note.at is not None else note.path
    style = {"draft": "waiting", "addressed": "kept"}.get(note.state, "agent")
    head: Pieces = [
        (f" ✎ note {note.n} {sanitize(note.state)}", style),
        (f"  {sanitize(where)}{changed}", "muted"),
    ]
    lines: list[StyledLine] = [(row, "") for row in wrap_pieces(head, width)]
    for text in sanitize_lines(note.text, max_lines=MAX_MESSAGE_LINES):
        lines += wrap_text(text, "", width, indent=3)
    return lines


def _render_turn(
    message: str,
    entries: list[LogItem],
    turn: TurnInfo | None,
    notes: Mapping[float, Sequence[NoteInfo]],
    width: int,
) -> list[StyledLine]:
    lines: list[StyledLine] = []
    for text in sanitize_lines(message, max_lines=MAX_MESSAGE_LINES):
        lines += wrap_text(text, "title", width)
    lines.append(([], ""))
    columns = plan_columns([ActionRow(entry) for entry in entries])
    lines += [(render_action(entry, columns, width, notes[entry.n]), "") for entry in entries]
    return [*lines, *_render_outcome(turn, width)] if turn is not None else lines


def _render_outcome(turn: TurnInfo, width: int) -> list[StyledLine]:
    """Render a turn's usage, error and answer."""
    parts = [f"{turn.tokens_in} tokens in, {turn.tokens_out} out"]
    parts += [f"${turn.cost_usd:.4f}"] if turn.cost_usd is not None else []
    parts += [f"{turn.duration_ms / 1000:.1f} s"] if turn.duration_ms is not None else []
    lines: list[StyledLine] = [([], ""), *wrap_text("  ".join(parts), "muted", width)]
    if turn.error:
        lines += wrap_text(f"failed: {sanitize(turn.error)}", "error", width)
    if turn.answer:
        lines.append(([], ""))
        for text in sanitize_lines(turn.answer, max_lines=MAX_ANSWER_LINES):
            lines += wrap_text(text, "", width)
    return lines
