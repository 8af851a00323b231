"""The list of choices at the bottom of a dialog, read off its rows.

Receives the rows between a dialog's text and its footer. Gives the choices in order, or why there is
no list to trust. Columns decide, not words: the mark stands in one column, every number two columns
right of it, and whatever belongs to a choice stands right of its number. So text that a file, a
command or a model put on the screen cannot pass for a choice.
"""

import re
from dataclasses import dataclass

from chorus.agents.claude_code.dialogs.screen import Screen, indent_of

MARK = "❯"
# In a narrow pane 2.1.191 leaves out the blank before a label that it wraps.
_NUMBERED = re.compile(r"([1-9][0-9]?)\. ?(.*)")
_TICK = re.compile(r"\[(.)\] ")
# A row of the multiple-choice list that is no choice: where the arrow keys find the way on.
_WAYS_ON = {"Submit", "Next"}


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice as drawn: its rows, with mark, number and tick box blanked out."""

    rows: tuple[str, ...]
    selected: bool
    number: int | None = None  # None in lists the client draws without numbers
    ticked: bool | None = None  # None: nothing to tick
    apart: bool = False  # drawn below the line that ends a question's own choices


@dataclass(frozen=True, slots=True)
class ChoiceList:
    choices: tuple[Choice, ...]
    start: int  # row of the first choice
    mark: int  # column of the mark


def find_choices(screen: Screen, end: int) -> ChoiceList | str:
    """Read the list whose last row is `end`; or say what is wrong with it."""
    start = _block_start(screen, end)
    marks = [indent_of(row) for row in screen.rows[start : end + 1] if _is_marked(row)]
    if not marks:
        return "no choice is marked"
    # A wrapped label may begin a row with the mark's character, but only right of the real one.
    mark = min(marks)
    numbered = _read_numbered(screen, start, end, mark)
    if isinstance(numbered, ChoiceList):
        return numbered
    bare = _read_bare(screen, start, end, mark)
    return numbered if bare is None else bare


def _is_marked(row: str) -> bool:
    return row.lstrip(" ").startswith(MARK + " ")


def _block_start(screen: Screen, end: int) -> int:
    """The first row of the last run of rows with neither a blank row nor a dialog's line in it.

    One line is crossed: the one above a single last choice, which a question draws apart.
    """
    index = end
    while index > 0:
        above = index - 1
        if screen.blank(above):
            break
        if screen.rules[above] is not None and not (above == end - 1 and above > 0):
            break
        index = above
    return index


def _read_numbered(screen: Screen, start: int, end: int, mark: int) -> ChoiceList | str:
    """Walk up from the last row to number 1: the lowest one is the real one."""
    groups: list[tuple[int, list[str], bool]] = []
    pending: list[str] = []
    apart = False
    for index in range(end, start - 1, -1):
        row = screen.rows[index]
        if screen.rules[index] is not None:
            apart, groups = True, [(n, rows, True) for n, rows, _ in groups]
            if pending:
                return "a line is drawn inside a choice"
            continue
        number = _number_at(row, mark)
        if number is None:
            if indent_of(row) <= mark + 1:
                return f"row {index + 1} stands left of the choices"
            pending.append(row)
            continue
        groups.append((number, [row, *reversed(pending)], False))
        pending = []
        if number == 1:
            return _ordered(groups[::-1], index, mark)
    return "the list does not begin with 1" if groups or apart else "no numbered choices"


def _ordered(groups: list[tuple[int, list[str], bool]], start: int, mark: int) -> ChoiceList | str:
    if [number for number, _, _ in groups] != list(range(1, len(groups) + 1)):
        return "the numbers of the choices are not 1, 2, 3 …"
    choices = tuple(_choice(mark, *group) for group in groups)
    if sum(choice.selected for choice in choices) > 1:
        return "more than one choice is marked"
    return ChoiceList(choices, start, mark)


def _number_at(row: str, mark: int) -> int | None:
    """The choice number drawn in this row, if its mark column and number column are the list's."""
    if row[:mark].strip(" ") or row[mark : mark + 2] not in {MARK + " ", "  "}:
        return None
    match = _NUMBERED.fullmatch(row[mark + 2 :])
    return int(match[1]) if match else None


def _choice(mark: int, number: int, rows: list[str], apart: bool) -> Choice:
    head, *rest = rows
    label = head.index(".", mark) + 1
    label += head[label : label + 1] == " "
    tick = _TICK.match(head, label)
    if tick:
        label = tick.end()
        rest = [row for row in rest if row.strip() not in _WAYS_ON]
    return Choice(
        rows=(" " * label + head[label:], *rest),
        selected=head[mark] == MARK,
        number=number,
        ticked=tick[1] != " " if tick else None,
        apart=apart,
    )


def _read_bare(screen: Screen, start: int, end: int, mark: int) -> ChoiceList | None:
    """A list without numbers: every row is a choice, and one is marked."""
    choices = []
    for row in screen.rows[start : end + 1]:
        if row[:mark].strip(" ") or indent_of(row.replace(MARK, " ", 1)) != mark + 2:
            return None
        choices.append(Choice((row.replace(MARK, " ", 1),), row[mark] == MARK))
    return ChoiceList(tuple(choices), start, mark) if sum(c.selected for c in choices) == 1 else None
