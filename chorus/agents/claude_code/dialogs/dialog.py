"""Find the dialog at the bottom of a screen: its text, question, options and footer.

Options are recognised by columns and numbers, not by their words. Text from a file or a command is drawn in
other columns, so it cannot pass for an option.
"""

import re
from dataclasses import dataclass

from chorus.agents.claude_code.dialogs.screen import CapturedScreen, Separator, indent_of, join_rows
from chorus.model.prompt import ScreenArea
from chorus.text.width import cell_width

# The input box is a separator, a row like this, and another separator. While it is drawn, no dialog is open.
_INPUT_ROW = re.compile(r"[❯>!#&](?: .*)?")
# A separator that may carry a name.
_NAMED_SEPARATOR = re.compile(r"─+(?: [^─]+ ─+)?")
# With several prompts pending, the client puts a counter at the right end of the title's row.
_COUNTER = re.compile(r"\s{2,}\d+ of \d+$")
# A footer is recognised by the keys that it names.
_FOOTER = re.compile(r"(?:^|· )(?:Esc|Enter|Tab|shift\+\w+|ctrl\+\w)\b.* to \w", re.IGNORECASE)
# The lower edge of a box that spans the pane.
_BOX_END = re.compile(r"╰─+╯")
# The columns in which a plan may have its options.
_PLAN_COLUMNS = {3, 4}
# Drawn next to a text that continues above or below.
_MORE = ("↑", "↓")
_CURSOR = "❯"
# In a narrow pane 2.1.191 leaves out the blank before a label that it wraps.
_NUMBERED = re.compile(r"([1-9][0-9]?)\. ?(.*)")
_CHECK_BOX = re.compile(r"\[(.)\] ")
# This many rows are enough to show most dialogs with their title.
_LAST_ROWS = 30
# Rows in a list of check boxes that are not options: choosing one of them continues.
_CONTINUE_ROWS = {"Submit", "Next"}


@dataclass(frozen=True, slots=True)
class DrawnOption:
    """An option as drawn: its rows, with cursor, number and check box blanked out."""

    rows: tuple[str, ...]
    selected: bool
    number: int | None = None  # None in lists the client draws without numbers
    checked: bool | None = None  # None: no check box
    apart: bool = False  # below the separator that ends a question's own options


@dataclass(frozen=True, slots=True)
class OptionList:
    options: tuple[DrawnOption, ...]
    start: int  # row of the first option
    cursor: int  # column of the cursor, or of the first place it can be in
    in_a_row: bool = False


@dataclass(frozen=True, slots=True)
class Dialog:
    text: tuple[str, ...]  # the visible rows between its top and its question
    whole: bool  # its top is on the screen
    scrolled: bool  # a part of its text is not on the screen
    closed: bool  # its text ends with a separator at the left edge, right above the question
    question: str  # right above the options, in the cursor's column; may be empty
    options: tuple[DrawnOption, ...]
    footer: str
    edge: int  # the column its text may reach
    area: ScreenArea
    in_a_row: bool = False  # its options are side by side


@dataclass(frozen=True, slots=True)
class NoDialog:
    reason: str


@dataclass(frozen=True, slots=True)
class UnreadableDialog:
    """A dialog that is half drawn, or not in the expected form."""

    reason: str
    ending: str = ""  # the last paragraph


def find_dialog(screen: CapturedScreen) -> Dialog | NoDialog | UnreadableDialog:
    if not screen.rows:
        return NoDialog("the screen is empty")
    if _has_input_box(screen):
        return NoDialog("the input box is shown: no prompt is pending")
    last = len(screen.rows) - 1
    found = _find_options(screen, last)
    if isinstance(found, OptionList):
        return _assemble(screen, found, "")
    footer_start = _paragraph_start(screen, last)
    footer = join_rows(screen.rows[footer_start:], screen.width - indent_of(screen.rows[footer_start]))
    above = _skip_blanks(screen, footer_start - 1)
    if above < 0 or not _FOOTER.search(footer):
        return _without_options(screen, found, footer)
    options = _find_options(screen, above)
    if isinstance(options, str):
        return _keyed_dialog(screen, footer_start, footer) or UnreadableDialog(options, footer)
    # If the client has died, the text that the shell prints below the dialog is in another column.
    if {indent_of(row) for row in screen.rows[footer_start:]} != {options.cursor}:
        return UnreadableDialog("the last rows are not aligned with the dialog", footer)
    return _assemble(screen, options, footer)


def last_rows(screen: CapturedScreen) -> tuple[str, ...]:
    return screen.rows[-_LAST_ROWS:]


def paragraphs(rows: tuple[str, ...], edge: int) -> list[str]:
    """Return the paragraphs in these rows, divided by blank rows. `edge` is as in `join_rows`."""
    runs: list[list[str]] = [[]]
    for row in rows:
        if row:
            runs[-1].append(row)
        elif runs[-1]:
            runs.append([])
    return [join_rows(run, edge) for run in runs if run]


def _has_input_box(screen: CapturedScreen) -> bool:
    lines = [
        index
        for index, row in enumerate(screen.rows)
        if _NAMED_SEPARATOR.fullmatch(row) and cell_width(row) == screen.width
    ]
    return len(lines) > 1 and _INPUT_ROW.fullmatch(screen.rows[lines[-2] + 1]) is not None


def _assemble(screen: CapturedScreen, found: OptionList, footer: str) -> Dialog:
    end = _skip_blanks(screen, found.start - 1)
    start = end + 1
    while start > 0 and _is_question_row(screen, start - 1, found.cursor):
        start -= 1
    closed = start > 0 and screen.separators[start - 1] == Separator("╌", 0)
    edge = screen.width - found.cursor
    top = _find_top(screen, start, found.cursor)
    return Dialog(
        text=_text_rows(screen, top + 1, start),
        whole=top >= 0,
        scrolled=any(_is_scrolled(screen, index) for index in range(top + 1, start)),
        closed=closed,
        question=join_rows([_without_bar(row) for row in screen.rows[start : end + 1]], edge),
        options=found.options,
        footer=footer,
        edge=edge,
        area=_area(screen, top),
        in_a_row=found.in_a_row,
    )


def _keyed_dialog(screen: CapturedScreen, footer_start: int, footer: str) -> Dialog | None:
    """Return a dialog that is answered with the keys in its footer; None if its top is not on the screen."""
    indent = indent_of(screen.rows[footer_start])
    top = _find_top(screen, footer_start, indent)
    if top < 0:
        return None
    text = _text_rows(screen, top + 1, footer_start)
    return Dialog(text, True, False, False, "", (), footer, screen.width - indent, _area(screen, top))


def _area(screen: CapturedScreen, top: int) -> ScreenArea:
    # The area includes the line left of a docked pane.
    return ScreenArea(max(top, 0), screen.width + 1 if screen.docked else None)


def _without_options(screen: CapturedScreen, reason: str, ending: str) -> NoDialog | UnreadableDialog:
    drawn = [index for index in range(len(screen.rows)) if screen.separators[index]]
    if drawn and drawn[-1] < len(screen.rows) - 1:
        return UnreadableDialog(f"a separator is drawn, but {reason}", ending)
    return NoDialog("no dialog is drawn")


def _find_top(screen: CapturedScreen, start: int, column: int) -> int:
    """Return the row above the dialog's title: a separator or the top edge of a plan; -1 if there is none.

    A separator right above the question does not count: in a plan it divides the question from the text.
    """
    for index in range(start - 1, -1, -1):
        if column in _PLAN_COLUMNS and screen.is_plan_edge(index):
            return index
        separator = screen.separators[index]
        if separator is None or separator.stroke != "─" or not _belongs_to(separator, column):
            continue
        if any(screen.rows[index + 1 : start]):
            return index
    return -1


def _belongs_to(separator: Separator, column: int) -> bool:
    """Return whether a separator may belong to a dialog whose text is in this column.

    A dialog's text is one or two columns right of its separators. A question's text is at the left edge, as
    its separators are.
    """
    return column == separator.indent == 0 or 1 <= column - separator.indent <= 2


def _text_rows(screen: CapturedScreen, start: int, end: int) -> tuple[str, ...]:
    # A separator becomes a single stroke: its length depends on the pane, not on the text.
    rows = [
        separator.stroke if (separator := screen.separators[index]) else screen.rows[index]
        for index in range(start, end)
    ]
    while rows and not rows[0]:
        del rows[0]
    if rows:
        rows[0] = _COUNTER.sub("", rows[0])
    return tuple(rows)


def _is_question_row(screen: CapturedScreen, index: int, column: int) -> bool:
    row = screen.rows[index]
    return bool(row) and indent_of(row) == column and not _ends_text(screen, index)


def _ends_text(screen: CapturedScreen, index: int) -> bool:
    return screen.separators[index] is not None or _BOX_END.fullmatch(screen.rows[index]) is not None


def _is_scrolled(screen: CapturedScreen, index: int) -> bool:
    row = screen.rows[index]
    return row.endswith(_MORE) and cell_width(row) >= screen.width - 1


def _without_bar(row: str) -> str:
    """Blank out the bar that the client draws to the left of a text with several rows."""
    return row.replace("│", " ", 1) if row.startswith("│") else row


def _paragraph_start(screen: CapturedScreen, index: int) -> int:
    while index > 0 and not screen.is_blank(index - 1) and screen.separators[index - 1] is None:
        index -= 1
    return index


def _skip_blanks(screen: CapturedScreen, index: int) -> int:
    while index >= 0 and screen.is_blank(index):
        index -= 1
    return index


# The list of options.


def _find_options(screen: CapturedScreen, end: int) -> OptionList | str:
    """Return the list of options whose last row is `end`, or why it cannot be trusted."""
    start = _list_start(screen, end)
    cursors = [indent_of(row) for row in screen.rows[start : end + 1] if _has_cursor(row)]
    if not cursors:
        return (_read_row(screen, end) if start == end else None) or "no option is selected"
    # A wrapped label may begin a row with the cursor's character, but only right of the real one.
    cursor = min(cursors)
    numbered = _read_numbered(screen, start, end, cursor)
    if isinstance(numbered, OptionList):
        return numbered
    unnumbered = _read_row(screen, end) if start == end else _read_unnumbered(screen, start, end, cursor)
    return numbered if unnumbered is None else unnumbered


def _has_cursor(row: str) -> bool:
    return row.lstrip(" ").startswith(_CURSOR + " ")


def _list_start(screen: CapturedScreen, end: int) -> int:
    """Return the first row of the block of rows that ends at row `end`.

    Blank rows and separators divide blocks. Exception: a separator right above row `end` belongs to the
    block, because questions have one there.
    """
    index = end
    while index > 0:
        above = index - 1
        if screen.is_blank(above):
            break
        if screen.separators[above] is not None and not (above == end - 1 and above > 0):
            break
        index = above
    return index


def _read_numbered(screen: CapturedScreen, start: int, end: int, cursor: int) -> OptionList | str:
    """Read a numbered list from its last row up to the nearest number 1."""
    groups: list[tuple[int, list[str], bool]] = []
    pending: list[str] = []
    apart = False
    for index in range(end, start - 1, -1):
        row = screen.rows[index]
        if screen.separators[index] is not None:
            apart, groups = True, [(number, rows, True) for number, rows, _ in groups]
            if pending:
                return "a separator is drawn inside an option"
            continue
        number = _number_at(row, cursor)
        if number is None:
            if indent_of(row) <= cursor + 1:
                return f"row {index + 1} is left of the options"
            pending.append(row)
            continue
        groups.append((number, [row, *reversed(pending)], False))
        pending = []
        if number == 1:
            return _in_order(groups[::-1], index, cursor)
    return "the list does not begin with 1" if groups or apart else "there are no numbered options"


def _in_order(groups: list[tuple[int, list[str], bool]], start: int, cursor: int) -> OptionList | str:
    if [number for number, _, _ in groups] != list(range(1, len(groups) + 1)):
        return "the options are not numbered 1, 2, 3 …"
    options = tuple(_drawn_option(cursor, *group) for group in groups)
    if sum(option.selected for option in options) > 1:
        return "more than one option is selected"
    return OptionList(options, start, cursor)


def _number_at(row: str, cursor: int) -> int | None:
    """Return the number of the option that begins in this row, or None. `cursor` is the cursor's column."""
    if row[:cursor].strip(" ") or row[cursor : cursor + 2] not in {_CURSOR + " ", "  "}:
        return None
    match = _NUMBERED.fullmatch(row[cursor + 2 :])
    return int(match[1]) if match else None


def _drawn_option(cursor: int, number: int, rows: list[str], apart: bool) -> DrawnOption:
    head, *rest = rows
    label = head.index(".", cursor) + 1
    label += head[label : label + 1] == " "
    box = _CHECK_BOX.match(head, label)
    if box:
        label = box.end()
        rest = [row for row in rest if row.strip() not in _CONTINUE_ROWS]
    return DrawnOption(
        rows=(" " * label + head[label:], *rest),
        selected=head[cursor] == _CURSOR,
        number=number,
        checked=box[1] != " " if box else None,
        apart=apart,
    )


def _read_unnumbered(screen: CapturedScreen, start: int, end: int, cursor: int) -> OptionList | None:
    """Read a list without numbers, with one option in each row; None if there is none.

    The rows from `start` on may begin with the question.
    """
    options: list[DrawnOption] = []
    first = end + 1
    for index in range(end, start - 1, -1):
        row = screen.rows[index]
        label = row.replace(_CURSOR, " ", 1)
        if row[:cursor].strip(" ") or indent_of(label) != cursor + 2:
            break
        options.insert(0, DrawnOption((label,), row[cursor] == _CURSOR))
        first = index
    above = screen.rows[start:first]
    if any(indent_of(row) != cursor for row in above) or sum(option.selected for option in options) != 1:
        return None
    return OptionList(tuple(options), first, cursor)


def _read_row(screen: CapturedScreen, index: int) -> OptionList | None:
    """Read options drawn side by side, at least two blanks apart; None if there are none."""
    row = screen.rows[index]
    cursors = [match.start() for match in re.finditer(f"(?<= ){_CURSOR} ", row)]
    labels = list(re.finditer(r"\S+(?: \S+)*", row.replace(_CURSOR, " ")))
    places = [match.start() - 2 for match in labels]
    if len(labels) < 2 or len(cursors) != 1 or cursors[0] not in places:
        return None
    options = tuple(
        DrawnOption((" " * match.start() + match[0],), match.start() - 2 in cursors) for match in labels
    )
    return OptionList(options, index, places[0], in_a_row=True)
