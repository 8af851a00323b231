"""The queue as rows: actions grouped by turn, filtered and folded.

Receives the model's actions and what the person asked to see; gives a flat list of rows. Never draws
them: a list of ten thousand rows is planned here, and only the visible ones are rendered.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from chorus.panel.items import CHANGE_STATUSES, Entry
from chorus.panel.model import Group, Model


class Scope(Enum):
    """Which actions the queue shows."""

    CHANGES = "changes"
    OPEN = "open"
    EVERYTHING = "everything"

    def next(self) -> "Scope":
        scopes = list(Scope)
        return scopes[(scopes.index(self) + 1) % len(scopes)]

    def shows(self, entry: Entry) -> bool:
        match self:
            case Scope.OPEN:
                return entry.open
            case Scope.CHANGES:
                return entry.status in CHANGE_STATUSES
            case Scope.EVERYTHING:
                return True


@dataclass(slots=True)
class View:
    """What the person asked to see. `folds` holds the turns folded or unfolded by hand."""

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


@dataclass(frozen=True, slots=True)
class ActionRow:
    entry: Entry


Row = TurnRow | ActionRow
# What stays the same about a row while everything around it moves.
RowKey = Group | float


def key_of(row: Row) -> RowKey:
    return row.group if isinstance(row, TurnRow) else row.entry.n


class Planner:
    """Plans rows, and remembers those of turns in which nothing changed."""

    def __init__(self) -> None:
        self._asked: tuple[Scope, str] | None = None
        # Turn -> its stamp, its row, the rows of its actions.
        self._planned: dict[Group, tuple[int, TurnRow | None, list[ActionRow]]] = {}

    def plan(self, model: Model, view: View) -> list[Row]:
        if self._asked != (view.scope, view.needle):
            self._asked = (view.scope, view.needle)
            self._planned = {}
        words = view.needle.casefold().split()
        rows: list[Row] = []
        for group, numbers in model.groups.items():
            if view.session is not None and group[0] != view.session:
                continue
            stamp, turn, actions = self._planned.get(group, (-1, None, []))
            if stamp != model.stamps[group]:
                turn, actions = _plan_turn(group, _shown(numbers, model.entries, view.scope, words))
                self._planned[group] = (model.stamps[group], turn, actions)
            if turn is None:
                continue
            # What matches a filter is looked for: a fold would hide it.
            if not words and view.folds.get(group, False):
                rows.append(replace(turn, folded=True))
            else:
                rows.append(turn)
                rows.extend(actions)
        return rows


def plan_rows(model: Model, view: View) -> list[Row]:
    return Planner().plan(model, view)


def reviewed_groups(model: Model) -> list[Group]:
    """Turns with nothing left to look at, but for the newest one."""
    groups = list(model.groups)[:-1]
    return [g for g in groups if not any(model.entries[n].open for n in model.groups[g])]


def _shown(
    numbers: Iterable[float], entries: Mapping[float, Entry], scope: Scope, words: list[str]
) -> Iterator[Entry]:
    for n in numbers:
        entry = entries[n]
        if scope.shows(entry) and (not words or _matches(entry, words)):
            yield entry


def _matches(entry: Entry, words: list[str]) -> bool:
    parts = (entry.number, entry.tool, entry.status, *entry.paths, entry.summary, entry.lane or "", entry.id)
    text = "\n".join((*parts, entry.message or "")).casefold()
    return all(word in text for word in words)


def _plan_turn(group: Group, entries: Iterator[Entry]) -> tuple[TurnRow | None, list[ActionRow]]:
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
    )
    return turn, list(map(ActionRow, shown))
