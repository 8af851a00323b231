"""Read a captured screen into a prompt, and explain which rules matched.

The first rule whose parts all match is used.
"""

import re
from dataclasses import dataclass
from itertools import dropwhile, takewhile

from chorus.agents.claude_code.dialogs.dialog import (
    Dialog,
    NoDialog,
    UnreadableDialog,
    find_dialog,
    last_rows,
    paragraphs,
)
from chorus.agents.claude_code.dialogs.options import read_options
from chorus.agents.claude_code.dialogs.questions import read_question, split_title
from chorus.agents.claude_code.dialogs.rules import PromptRule, PromptRules, RuleMismatch
from chorus.agents.claude_code.dialogs.screen import is_capture, join_rows, parse_screen
from chorus.model.prompt import NoPrompt, Prompt, UnknownPrompt, fingerprint
from chorus.text.width import cell_width

# A title wraps to this many rows at most, at 40 columns.
_MAX_TITLE_ROWS = 3
_TIP = "Tip: "
_COLUMN_GAP = re.compile(r" {2,}·")
# A row of a diff or of a file's text as the client draws it: numbered, or the rest of a long one.
_LISTING_ROW = re.compile(r" *\d+(?: .*)?| {4,}\S.*|")


@dataclass(frozen=True, slots=True)
class RuleAttempt:
    """A rule that was tried. `problem` is None if it matched."""

    rule: str
    problem: str | None


@dataclass(frozen=True, slots=True)
class ScreenReading:
    found: Prompt | UnknownPrompt | NoPrompt
    attempts: tuple[RuleAttempt, ...] = ()


@dataclass(frozen=True, slots=True)
class _Heading:
    title: str
    body: tuple[str, ...]


QUIET = "the screen shows something that needs no answer"


def read_screen(text: str, rules: PromptRules, *, width: int | None = None) -> ScreenReading:
    """Find the prompt on a screen. `width` is the pane's width; by default, that of the widest row."""
    if not is_capture(text):
        return ScreenReading(UnknownPrompt("this is not a captured screen: it moves the cursor"))
    screen = parse_screen(text, width)
    dialog = find_dialog(screen)
    if isinstance(dialog, NoDialog):
        return ScreenReading(NoPrompt(dialog.reason))
    if isinstance(dialog, UnreadableDialog):
        if _is_quiet(dialog.ending, rules):
            return ScreenReading(NoPrompt(QUIET))
        return ScreenReading(UnknownPrompt(dialog.reason, last_rows(screen)))
    attempts: list[RuleAttempt] = []
    for rule in rules.rule:
        try:
            prompt = _match_rule(dialog, rule, rules)
        except RuleMismatch as mismatch:
            attempts.append(RuleAttempt(rule.name, str(mismatch)))
            continue
        return ScreenReading(prompt, (*attempts, RuleAttempt(rule.name, None)))
    if _is_quiet(dialog.footer, rules):
        return ScreenReading(NoPrompt(QUIET), tuple(attempts))
    return ScreenReading(UnknownPrompt("no rule matches this dialog", last_rows(screen)), tuple(attempts))


def _is_quiet(ending: str, rules: PromptRules) -> bool:
    return any(quiet.fullmatch(ending) for quiet in rules.quiet)


def explain_reading(reading: ScreenReading) -> list[str]:
    lines = [f"{one.rule}: no, {one.problem}" for one in reading.attempts if one.problem is not None]
    found = reading.found
    if isinstance(found, Prompt):
        return [*lines, f"{found.rule}: yes, every part matches; this is a prompt of kind {found.kind}"]
    return [*lines, f"{'unknown' if isinstance(found, UnknownPrompt) else 'none'}: {found.reason}"]


def _match_rule(dialog: Dialog, rule: PromptRule, rules: PromptRules) -> Prompt:
    heading = _without_tip(_match_title(dialog, rule), dialog.edge)
    if _is_unfinished(heading.body):
        raise RuleMismatch("the dialog's body is not drawn yet")
    tool = _match_below_title(heading.body, dialog.edge, rule)
    question = _match_question(dialog, heading, rule)
    if rule.footer.fullmatch(dialog.footer) is None:
        raise RuleMismatch(f"the footer is {dialog.footer!r}")
    if rule.asks:
        return read_question(dialog, rule, heading.title, question, heading.body)
    title, tabs = split_title(heading.title)
    read = read_options(dialog, rule, rules)
    labels = [option.label for option in read.options]
    return Prompt(
        kind=rule.kind,
        tool=tool,
        title=title,
        question=question,
        options=read.options,
        fingerprint=fingerprint(tool, title, question, labels, heading.body),
        rule=rule.name,
        body=heading.body,
        selected=read.selected,
        text_field=read.text_field,
        tabs=tabs,
        footer=dialog.footer,
        cut=not dialog.whole or dialog.scrolled or not _shows_all(heading.body, dialog.edge, rule),
        area=dialog.area,
    )


def _without_tip(heading: _Heading, edge: int) -> _Heading:
    """Remove the client's tip below the title. The tip comes and goes, and is not about the call."""
    body = heading.body
    if not body or not body[0].strip().startswith(_TIP) or "╌" not in body:
        return heading
    count = 1
    while (
        body[count] not in {"", "╌"}
        and cell_width(body[count - 1]) + 1 + cell_width(body[count].split()[0]) > edge
    ):
        count += 1
    return _Heading(heading.title, body[count:])


def _is_unfinished(body: tuple[str, ...]) -> bool:
    """Return whether the body has a placeholder where a change is still to be drawn."""
    return any(
        (above, below) == ("╌", "╌") and row.strip() == "…"
        for above, row, below in zip(body, body[1:], body[2:], strict=False)
    )


def _match_title(dialog: Dialog, rule: PromptRule) -> _Heading:
    if not dialog.whole:
        return _match_tail(dialog, rule)
    for count in range(1, _MAX_TITLE_ROWS + 1):
        for title in _title_candidates(dialog.text[:count], dialog.edge):
            if rule.title.fullmatch(title):
                return _Heading(title, dialog.text[count:])
    raise RuleMismatch(f"the title is {join_rows(dialog.text[:1], dialog.edge)!r}")


def _title_candidates(rows: tuple[str, ...], edge: int) -> list[str]:
    """Return the titles that these rows may show.

    The whole text of the rows may be the title. If the first row has a gap before a dot, the rows may also be
    two columns; then the left column, followed by the right one, is the title.
    """
    whole = join_rows(rows, edge)
    gap = _COLUMN_GAP.search(rows[0]) if rows else None
    if gap is None:
        return [whole]
    left = [row[: gap.end() - 1] for row in rows]
    right = [row[gap.end() - 1 :] for row in rows]
    return [whole, f"{join_rows(left, edge)} {join_rows(right, edge)}"]


def _match_tail(dialog: Dialog, rule: PromptRule) -> _Heading:
    """Return the heading of a dialog whose top is above the pane: the rule's `tail_title` and the text.

    Raises RuleMismatch if the rule has no `tail_title`, or if the text is not the end of a diff or of a file
    with line numbers.
    """
    if rule.tail_title is None:
        raise RuleMismatch("the top of the dialog is not on the screen")
    if not dialog.closed or not all(_LISTING_ROW.fullmatch(row) for row in dialog.text[:-1]):
        raise RuleMismatch("the top of the dialog is not on the screen, and the rows above are not a listing")
    return _Heading(rule.tail_title, dialog.text)


def _match_below_title(body: tuple[str, ...], edge: int, rule: PromptRule) -> str | None:
    """Return the name of the tool; None if the rule has no `tool`.

    Raises RuleMismatch if the paragraph below the title does not match the rule's `below_title`. The rule's
    `tool` may contain `{NAME}`, which stands for a group of the pattern `below_title`.
    """
    if rule.below_title is None:
        return rule.tool
    rows = list(takewhile(lambda row: row not in {"", "╌"}, dropwhile(lambda row: not row, body)))
    text = join_rows([row.replace("│", " ", 1) for row in rows], edge)
    match = rule.below_title.fullmatch(text)
    if match is None:
        raise RuleMismatch(f"below the title is {text!r}")
    return None if rule.tool is None else rule.tool.format(**match.groupdict())


def _shows_all(body: tuple[str, ...], edge: int, rule: PromptRule) -> bool:
    """Return whether the dialog shows the whole text.

    A note at the end of the text may give the number of its lines and characters. The rows above the note
    must have exactly these numbers.
    """
    if rule.rest is None:
        return True
    enclosed = list(dropwhile(lambda row: row != "╌", body))[1:-1]
    shown = [row.removeprefix(" │").removeprefix(" ") for row in enclosed]
    for count in range(1, len(shown) + 1):
        if rest := rule.rest.fullmatch(join_rows(shown[-count:], edge)):
            lines = shown[:-count]
            found = (len(lines), len("\n".join(lines)))
            return found == (int(rest["lines"]), int(rest["characters"]))
    return True


def _match_question(dialog: Dialog, heading: _Heading, rule: PromptRule) -> str:
    # Right below a separator, the options may have no question above them: then the title is the question.
    if dialog.options and not (dialog.question or dialog.closed or rule.question_in_text):
        raise RuleMismatch("there is no question above the options")
    if rule.question is None:
        return heading.title
    candidates = paragraphs(heading.body, dialog.edge) if rule.question_in_text else [dialog.question]
    for candidate in candidates:
        if rule.question.fullmatch(candidate):
            return candidate or heading.title
    raise RuleMismatch(f"the question is {dialog.question!r}")
