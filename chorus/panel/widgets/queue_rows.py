"""The rows of the queue: entries grouped by turn, filtered, folded and rendered."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from chorus.model.commits.commit_subject import split_revert
from chorus.panel.state.items import CHANGE_STATUSES, LogItem, NoteInfo
from chorus.panel.state.model import Group, PanelModel
from chorus.panel.style.labels import STATUS_SYMBOLS, render_time
from chorus.panel.widgets.line_pane import Pieces
from chorus.text.sanitize import sanitize
from chorus.text.width import cell_width, cut_start, pad

STATUS_STYLES = {
    "committed": "open",
    "kept": "kept",
    "reverted": "reverted",
    "undone": "reverted",
    "failed": "failed",
    "denied": "failed",
    "noop": "muted",
    "outside": "muted",
    "landed": "landed",
    "done": "muted",
}
# Narrower rows have no time and no tool: the summary needs the room more.
MIN_TIME_WIDTH = 72
# Narrower rows have no counts.
MIN_COUNTS_WIDTH = 48
# If file and summary together have less room, the file is shown without its directory.
MIN_PATH_WIDTH = 50
MAX_FILE_WIDTH = 20
MAX_PATH_WIDTH = 44
MAX_TOOL_WIDTH = 9


class Scope(Enum):
    """The choice of entries that the queue shows."""

    CHANGES = "changes"
    OPEN = "open"
    EVERYTHING = "everything"

    def next(self) -> "Scope":
        scopes = list(Scope)
        return scopes[(scopes.index(self) + 1) % len(scopes)]

    def shows(self, entry: LogItem) -> bool:
        match self:
            case Scope.OPEN:
                return entry.open
            case Scope.CHANGES:
                # The action's own row shows its reverts and redos, by its symbol and its details.
                return entry.status in CHANGE_STATUSES and not entry.is_revert
            case Scope.EVERYTHING:
                return True


@dataclass(slots=True)
class QueueView:
    """The queue's filters and folds. `folds`: True for folded turns, False for turns the user unfolded."""

    scope: Scope = Scope.CHANGES
    needle: str = ""
    session: str | None = None
    folds: dict[Group, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TurnRow:
    group: Group
    message: str
    time: str
    count: int
    open: int
    folded: bool
    numbers: tuple[float, ...] = ()  # of the entries that are shown


@dataclass(frozen=True, slots=True)
class ActionRow:
    entry: LogItem


QueueRow = TurnRow | ActionRow
# Identifies a row while other rows are added and removed.
RowKey = Group | float


def key_of(row: QueueRow) -> RowKey:
    return row.group if isinstance(row, TurnRow) else row.entry.n


class RowPlanner:
    """Plans rows, and reuses the rows of turns that have not changed."""

    def __init__(self) -> None:
        self._planned_for: tuple[Scope, str] | None = None
        # Turn -> its version, its row, the rows of its entries.
        self._planned: dict[Group, tuple[int, TurnRow | None, list[ActionRow]]] = {}

    def plan(self, model: PanelModel, view: QueueView) -> list[QueueRow]:
        if self._planned_for != (view.scope, view.needle):
            self._planned_for = (view.scope, view.needle)
            self._planned = {}
        words = view.needle.casefold().split()
        rows: list[QueueRow] = []
        for group, numbers in model.groups.items():
            if view.session is not None and group[0] != view.session:
                continue
            version, turn, actions = self._planned.get(group, (-1, None, []))
            if version != model.versions[group]:
                turn, actions = _plan_turn(group, _select(numbers, model.entries, view.scope, words))
                self._planned[group] = (model.versions[group], turn, actions)
            if turn is None:
                continue
            # A fold would hide what the filter looks for.
            if not words and view.folds.get(group, False):
                rows.append(replace(turn, folded=True))
            else:
                rows.append(turn)
                rows.extend(actions)
        return rows


def plan_rows(model: PanelModel, view: QueueView) -> list[QueueRow]:
    return RowPlanner().plan(model, view)


def reviewed_groups(model: PanelModel) -> list[Group]:
    """Return the turns with nothing left to review, except the newest turn."""
    groups = list(model.groups)[:-1]
    return [g for g in groups if not any(model.entries[n].open for n in model.groups[g])]


def _select(
    numbers: Iterable[float], entries: Mapping[float, LogItem], scope: Scope, words: list[str]
) -> Iterator[LogItem]:
    for n in numbers:
        entry = entries[n]
        if scope.shows(entry) and (not words or _matches(entry, words)):
            yield entry


def _matches(entry: LogItem, words: list[str]) -> bool:
    parts = (entry.number, entry.tool, entry.status, *entry.paths, entry.summary, entry.lane or "", entry.id)
    text = "\n".join((*parts, entry.message or "")).casefold()
    return all(word in text for word in words)


def _plan_turn(group: Group, entries: Iterator[LogItem]) -> tuple[TurnRow | None, list[ActionRow]]:
    shown = list(entries)
    if not shown:
        return None, []
    turn = TurnRow(
        group=group,
        message=next((entry.message for entry in shown if entry.message), ""),
        time=shown[0].time,
        count=len(shown),
        open=sum(entry.open for entry in shown),
        folded=False,
        numbers=tuple(entry.n for entry in shown),
    )
    return turn, list(map(ActionRow, shown))


@dataclass(frozen=True, slots=True)
class Columns:
    """The widths of columns, in cells. `file`: for names without directory; `path`: for whole paths."""

    number: int = 3
    tool: int = 4
    file: int = 8
    path: int = 8
    added: int = 3
    removed: int = 3


def plan_columns(rows: list[QueueRow]) -> Columns:
    """Return widths that fit most of the newest rows."""
    # 500 are more than a screen holds.
    entries = [row.entry for row in rows[-500:] if isinstance(row, ActionRow)]
    if not entries:
        return Columns()
    longest = max(cell_width(sanitize(tool)) for tool in {entry.tool for entry in entries})
    subjects = {(entry.paths, entry.worktree if entry.elsewhere else ""): entry for entry in entries}
    with_paths = [entry for entry in subjects.values() if entry.paths]
    return Columns(
        max(3, len(str(int(entries[-1].n)))),
        min(max(4, longest), MAX_TOOL_WIDTH),
        min(_fit_most(cell_width(render_file(entry)) for entry in with_paths), MAX_FILE_WIDTH),
        min(_fit_most(cell_width(render_subject(entry)) for entry in with_paths), MAX_PATH_WIDTH),
        max(len(_render_count("+", entry.added)) for entry in entries),
        max(len(_render_count("−", entry.removed)) for entry in entries),
    )


def _fit_most(widths: Iterable[int]) -> int:
    """Return a width that fits three quarters of the texts: one long name must not shorten every summary."""
    ordered = sorted(widths)
    return ordered[-(len(ordered) // 4) - 1] if ordered else 0


def render_row(row: QueueRow, columns: Columns, width: int, notes: Sequence[NoteInfo] = ()) -> Pieces:
    if isinstance(row, TurnRow):
        return render_turn(row, width)
    return render_action(row.entry, columns, width, notes)


def render_turn(row: TurnRow, width: int) -> Pieces:
    symbol = "▸" if row.folded else "▾"
    count = f"{row.open} open" if row.open else f"{row.count}"
    time = f"{render_time(row.time):>5}  " if width >= MIN_TIME_WIDTH else ""
    right = f" {time}{count} "
    message = sanitize(" ".join(row.message[:1000].split())) or "(no message)"
    style = "title" if row.open else "muted"
    return [
        (f"{symbol} ", "muted"),
        (pad(message, width - 2 - len(right)), style),
        (f" {time}", "muted"),
        (f"{count} ", "open" if row.open else "muted"),
    ]


def render_action(entry: LogItem, columns: Columns, width: int, notes: Sequence[NoteInfo] = ()) -> Pieces:
    faded = "" if entry.open else ("reverted" if entry.status in ("reverted", "undone") else "muted")
    symbol, symbol_style = render_symbol(entry)
    right = _render_right(entry, columns, width)
    right_width = sum(cell_width(text) for text, _ in right)
    left: Pieces = [
        ("↳" if entry.agent else " ", "agent"),
        (f"{entry.number:>{columns.number}} ", "number"),
        (f"{symbol} ", symbol_style),
    ]
    if width >= MIN_TIME_WIDTH:
        left.append((pad(sanitize(entry.tool), columns.tool) + " ", faded or "strong"))
    used = sum(cell_width(text) for text, _ in left)
    return [*left, *_render_subject(entry, columns, width - used - right_width, faded, notes), *right]


def render_symbol(entry: LogItem) -> tuple[str, str]:
    """Return the symbol of the status, and the symbol's style. The symbol is never struck through."""
    style = STATUS_STYLES.get(entry.shown_status, "muted").replace("reverted", "muted")
    return STATUS_SYMBOLS.get(entry.shown_status, "?"), style


def render_subject(entry: LogItem) -> str:
    if not entry.paths:
        return _render_tree(entry) + sanitize(entry.summary)
    return _render_tree(entry) + sanitize(entry.paths[0]) + _render_more(entry)


def render_file(entry: LogItem) -> str:
    """Return the name of the entry's first file, without the directory. The entry must have paths."""
    return _render_tree(entry) + sanitize(entry.paths[0].rpartition("/")[2]) + _render_more(entry)


def render_summary(entry: LogItem) -> str:
    """Return the summary without the tool and the file at its beginning.

    The tool and the file have columns of their own.
    """
    summary = sanitize(entry.summary)
    if entry.is_revert:
        verb, name, what = split_revert(summary)
        return f"{f'{verb.lower()} {name}'.rstrip()}: {what}"
    if entry.paths:
        summary = summary.removeprefix(
            f"{sanitize(entry.tool)} {sanitize(entry.paths[0].rpartition('/')[2])}: "
        )
    return summary.removeprefix(f"{sanitize(entry.tool)}: ")


def _render_tree(entry: LogItem) -> str:
    return f"{sanitize(entry.worktree)}: " if entry.elsewhere else ""


def _render_more(entry: LogItem) -> str:
    return f" +{len(entry.paths) - 1}" if len(entry.paths) > 1 else ""


def _render_subject(
    entry: LogItem, columns: Columns, room: int, faded: str, notes: Sequence[NoteInfo]
) -> Pieces:
    summary, marks = render_summary(entry), _render_notes(notes)
    summary_room = room - sum(cell_width(text) for text, _ in marks)
    if not entry.paths:
        return [(pad(_render_tree(entry) + summary, summary_room), faded), *marks]
    whole = room >= MIN_PATH_WIDTH
    subject = render_subject(entry) if whole else render_file(entry)
    width = max(min(columns.path if whole else columns.file, room * 2 // 5), 1)
    return [
        (pad(cut_start(subject, width), width) + " ", faded or "muted"),
        (pad(summary, summary_room - width - 1), faded),
        *marks,
    ]


def _render_notes(notes: Sequence[NoteInfo]) -> Pieces:
    if not notes:
        return []
    pending = any(note.state == "draft" for note in notes)
    done = all(note.state == "addressed" for note in notes)
    count = str(len(notes)) if len(notes) > 1 else ""
    return [(f" ✎{count}", "waiting" if pending else "kept" if done else "agent")]


def _render_count(sign: str, lines: int | None) -> str:
    return f"{sign}{lines}" if lines else ""


def _render_right(entry: LogItem, columns: Columns, width: int) -> Pieces:
    pieces: Pieces = [(" ", "")]
    if width < MIN_COUNTS_WIDTH:
        return pieces
    if entry.added is not None or entry.removed is not None:
        added, removed = _render_count("+", entry.added), _render_count("−", entry.removed)
        pieces += [(f"{added:>{columns.added}}", "plus"), (f" {removed:<{columns.removed}}", "minus")]
    if width >= MIN_TIME_WIDTH:
        pieces.append((f" {render_time(entry.time):>5}", "muted"))
    return [*pieces, (" ", "")]
