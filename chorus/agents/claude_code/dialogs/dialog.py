"""The dialog a screen ends with: where it begins, what it says, what it offers.

Receives a screen. Gives the dialog at its bottom in parts, or says that there is none, or that there
is something that cannot be read. Never looks at words: which dialog it is, the rules decide.
"""

import re
from dataclasses import dataclass

from chorus.agents.claude_code.dialogs.choices import Choice, ChoiceList, find_choices
from chorus.agents.claude_code.dialogs.screen import Rule, Screen, indent_of, join_rows
from chorus.text.width import cell_width

# The input box: a line, this, and another line below. While it is drawn, nothing is asked.
_INPUT = re.compile(r"[❯>!#&](?: .*)?")
# A line across the pane that may carry a name.
_OPENING = re.compile(r"─+(?: [^─]+ ─+)?")
# Several prompts waiting: the client says so at the right end of the title's row.
_COUNTER = re.compile(r"\s{2,}\d+ of \d+$")
# What a last paragraph looks like when it names keys.
_NAMES_KEYS = re.compile(r"(?:^|· )(?:Esc|Enter|Tab|shift\+\w+|ctrl\+\w)\b.* to \w", re.IGNORECASE)
# The lower edge of a box that spans the pane.
_BOX_END = re.compile(r"╰─+╯")


@dataclass(frozen=True, slots=True)
class Dialog:
    """A dialog in parts."""

    text: tuple[str, ...]  # the rows between its top and its question; what is visible of them
    whole: bool  # its top is on the screen
    closed: bool  # its text ends with a line at the left edge, right above the question
    question: str
    choices: tuple[Choice, ...]
    footer: str
    edge: int  # the column its text may reach


@dataclass(frozen=True, slots=True)
class NoDialog:
    """Nothing is asked."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Something is asked, or half drawn, but not in a form to rely on."""

    reason: str
    ending: str = ""  # the last paragraph


def find_dialog(screen: Screen) -> Dialog | NoDialog | Unreadable:
    if not screen.rows:
        return NoDialog("the screen is empty")
    if _has_input_box(screen):
        return NoDialog("the input box is drawn: nothing waits for an answer")
    last = len(screen.rows) - 1
    found = find_choices(screen, last)
    if isinstance(found, ChoiceList):
        return _assemble(screen, found, "")
    foot = _run_start(screen, last)
    footer = join_rows(screen.rows[foot:], screen.width - indent_of(screen.rows[foot]))
    above = _skip_blanks(screen, foot - 1)
    if above < 0 or not _NAMES_KEYS.search(footer):
        return _no_choices(screen, found, footer)
    listed = find_choices(screen, above)
    if isinstance(listed, str):
        return _by_footer(screen, foot, footer) or Unreadable(listed, footer)
    # Whatever a shell prints below a client that died stands elsewhere.
    if {indent_of(row) for row in screen.rows[foot:]} != {listed.mark}:
        return Unreadable("the last rows stand elsewhere than the dialog", footer)
    return _assemble(screen, listed, footer)


def paragraphs(rows: tuple[str, ...], edge: int) -> list[str]:
    """The text of the rows, one string for each run without a blank row."""
    runs: list[list[str]] = [[]]
    for row in rows:
        if row:
            runs[-1].append(row)
        elif runs[-1]:
            runs.append([])
    return [join_rows(run, edge) for run in runs if run]


def _has_input_box(screen: Screen) -> bool:
    lines = [
        index
        for index, row in enumerate(screen.rows)
        if _OPENING.fullmatch(row) and cell_width(row) == screen.width
    ]
    return len(lines) > 1 and _INPUT.fullmatch(screen.rows[lines[-2] + 1]) is not None


def _assemble(screen: Screen, found: ChoiceList, footer: str) -> Dialog | Unreadable:
    end = _skip_blanks(screen, found.start - 1)
    start = end + 1
    while start > 0 and _is_question_row(screen, start - 1, found.mark):
        start -= 1
    if start > end:
        return Unreadable("nothing is asked above the choices", footer)
    edge = screen.width - found.mark
    top = _top(screen, start, found.mark)
    return Dialog(
        text=_text(screen, top + 1, start),
        whole=top >= 0,
        closed=start > 0 and screen.rules[start - 1] == Rule("╌", 0),
        question=join_rows([_ungutter(row) for row in screen.rows[start : end + 1]], edge),
        choices=found.choices,
        footer=footer,
        edge=edge,
    )


def _by_footer(screen: Screen, foot: int, footer: str) -> Dialog | None:
    """A notice that is answered with the keys its footer names."""
    indent = indent_of(screen.rows[foot])
    top = _top(screen, foot, indent)
    if top < 0:
        return None
    text = _text(screen, top + 1, foot)
    return Dialog(text, True, False, "", (), footer, screen.width - indent)


def _no_choices(screen: Screen, reason: str, ending: str) -> NoDialog | Unreadable:
    drawn = [index for index in range(len(screen.rows)) if screen.rules[index]]
    if drawn and drawn[-1] < len(screen.rows) - 1:
        return Unreadable(f"a dialog's line is drawn, but {reason}", ending)
    return NoDialog("no dialog is drawn")


def _top(screen: Screen, start: int, mark: int) -> int:
    """The row of the line above the dialog's title, or -1 when it is not on the screen.

    A line right above the question only parts it from the text (a plan is shown that way).
    """
    for index in range(start - 1, -1, -1):
        rule = screen.rules[index]
        if rule is None or rule.stroke != "─" or not _belongs(rule, mark):
            continue
        if any(screen.rows[index + 1 : start]):
            return index
    return -1


def _belongs(rule: Rule, mark: int) -> bool:
    """A dialog's text stands one or two columns right of its lines; a question's, right below them."""
    return mark == rule.indent == 0 or 1 <= mark - rule.indent <= 2


def _text(screen: Screen, start: int, end: int) -> tuple[str, ...]:
    # A line is as long as the pane is wide; that is no part of what is said.
    rows = [
        rule.stroke if (rule := screen.rules[index]) else screen.rows[index] for index in range(start, end)
    ]
    while rows and not rows[0]:
        del rows[0]
    if rows:
        rows[0] = _COUNTER.sub("", rows[0])
    return tuple(rows)


def _is_question_row(screen: Screen, index: int, mark: int) -> bool:
    row = screen.rows[index]
    return bool(row) and indent_of(row) == mark and not _closes(screen, index)


def _closes(screen: Screen, index: int) -> bool:
    return screen.rules[index] is not None or _BOX_END.fullmatch(screen.rows[index]) is not None


def _ungutter(row: str) -> str:
    """Without the bar the client draws left of a text of several rows."""
    return row.replace("│", " ", 1) if row.startswith("│") else row


def _run_start(screen: Screen, index: int) -> int:
    while index > 0 and not screen.blank(index - 1) and screen.rules[index - 1] is None:
        index -= 1
    return index


def _skip_blanks(screen: Screen, index: int) -> int:
    while index >= 0 and screen.blank(index):
        index -= 1
    return index
