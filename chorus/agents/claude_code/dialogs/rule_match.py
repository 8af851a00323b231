"""Which rule a dialog fits, and why it does not fit the others.

Receives a dialog and the rules. Gives the prompt of the first rule that fits in every part, and for
each rule tried before it the first part that did not fit. Never settles for a near miss.
"""

import re
from dataclasses import dataclass
from itertools import dropwhile, takewhile

from chorus.agents.claude_code.dialogs.dialog import Dialog, paragraphs
from chorus.agents.claude_code.dialogs.labels import read_options
from chorus.agents.claude_code.dialogs.questions import name_tabs, read_question
from chorus.agents.claude_code.dialogs.rules import Misfit, PromptRule, PromptRules
from chorus.agents.claude_code.dialogs.screen import join_rows
from chorus.model.prompt import Prompt, fingerprint

# A title wraps to this many rows at most, at 40 columns.
_TITLE_ROWS = 3
_PARTING = re.compile(r" {2,}·")
# A row of a diff or of a file's text as the client draws it: numbered, or the rest of a long one.
_LISTING = re.compile(r" *\d+(?: .*)?| {4,}\S.*|")


@dataclass(frozen=True, slots=True)
class Trial:
    """A rule that was tried. `problem` is None for the one that fits."""

    rule: str
    problem: str | None


@dataclass(frozen=True, slots=True)
class _Heading:
    title: str
    body: tuple[str, ...]


def match_dialog(dialog: Dialog, rules: PromptRules) -> tuple[Prompt | None, tuple[Trial, ...]]:
    trials: list[Trial] = []
    for rule in rules.rule:
        try:
            prompt = _fit(dialog, rule, rules)
        except Misfit as misfit:
            trials.append(Trial(rule.name, str(misfit)))
            continue
        return prompt, (*trials, Trial(rule.name, None))
    return None, tuple(trials)


def _fit(dialog: Dialog, rule: PromptRule, rules: PromptRules) -> Prompt:
    heading = _fit_title(dialog, rule)
    if _is_unfinished(heading.body):
        raise Misfit("what it is about is not drawn yet")
    tool = _fit_below_title(heading.body, dialog.edge, rule)
    question = _fit_question(dialog, heading, rule)
    if rule.footer.fullmatch(dialog.footer) is None:
        raise Misfit(f"the footer is {dialog.footer!r}")
    if rule.asks:
        return read_question(dialog, rule, heading.title, question, heading.body)
    title, tabs = name_tabs(heading.title)
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
        entry=read.entry,
        tabs=tabs,
        footer=dialog.footer,
    )


def _is_unfinished(body: tuple[str, ...]) -> bool:
    """The client draws a change in two strokes; in the first, this stands in its place."""
    return any(
        (above, below) == ("╌", "╌") and row.strip() == "…"
        for above, row, below in zip(body, body[1:], body[2:], strict=False)
    )


def _fit_title(dialog: Dialog, rule: PromptRule) -> _Heading:
    if not dialog.whole:
        return _fit_tail(dialog, rule)
    for count in range(1, _TITLE_ROWS + 1):
        for title in _titles(dialog.text[:count], dialog.edge):
            if rule.title.fullmatch(title):
                return _Heading(title, dialog.text[count:])
    raise Misfit(f"the title is {join_rows(dialog.text[:1], dialog.edge)!r}")


def _titles(rows: tuple[str, ...], edge: int) -> list[str]:
    """The title in these rows: wrapped, or, in a narrow pane, in two columns parted by a dot."""
    whole = join_rows(rows, edge)
    parting = _PARTING.search(rows[0]) if rows else None
    if parting is None:
        return [whole]
    left = [row[: parting.end() - 1] for row in rows]
    right = [row[parting.end() - 1 :] for row in rows]
    return [whole, f"{join_rows(left, edge)} {join_rows(right, edge)}"]


def _fit_tail(dialog: Dialog, rule: PromptRule) -> _Heading:
    """A dialog taller than the pane. Its listing must be closed by the client's own line."""
    if rule.tail_title is None:
        raise Misfit("the top of the dialog is not on the screen")
    if not dialog.closed or not all(_LISTING.fullmatch(row) for row in dialog.text[:-1]):
        raise Misfit("the top of the dialog is not on the screen, and the rows above are no listing")
    return _Heading(rule.tail_title, dialog.text)


def _fit_below_title(body: tuple[str, ...], edge: int, rule: PromptRule) -> str | None:
    if rule.below_title is None:
        return rule.tool
    rows = list(takewhile(_is_text, dropwhile(lambda row: not row, body)))
    text = join_rows([row.replace("│", " ", 1) for row in rows], edge)
    match = rule.below_title.fullmatch(text)
    if match is None:
        raise Misfit(f"below the title is {text!r}")
    return None if rule.tool is None else rule.tool.format(**match.groupdict())


def _is_text(row: str) -> bool:
    return row not in {"", "╌"}


def _fit_question(dialog: Dialog, heading: _Heading, rule: PromptRule) -> str:
    if rule.question is None:
        return heading.title
    places = paragraphs(heading.body, dialog.edge) if rule.question_in_text else [dialog.question]
    for place in places:
        if rule.question.fullmatch(place):
            return place
    raise Misfit(f"the question is {dialog.question!r}")
