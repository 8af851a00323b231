"""A question of the model's own: several choices, a text field, and a way out.

Receives a dialog whose title and question fit a rule that asks. Gives the prompt, with what is ticked
and typed so far. The choices are the model's words, so none of them means "allow" or "deny".
"""

import re

from chorus.agents.claude_code.dialogs.choices import Choice
from chorus.agents.claude_code.dialogs.dialog import Dialog
from chorus.agents.claude_code.dialogs.rules import Misfit, PromptRule
from chorus.agents.claude_code.dialogs.screen import join_rows
from chorus.model.prompt import Entry, Option, Prompt, Tab, fingerprint
from chorus.text.width import cell_width

_TAB = re.compile(r"([☐☒]) (.+)")
_GAP = re.compile(r" {2,}")
# What the text field shows while it is empty, and the choice that is drawn apart below it.
_EMPTY_FIELD = "Type something."
_EMPTY_TICKED_FIELD = "Type something"
_WAY_OUT = "Chat about this"


def read_tabs(title: str) -> tuple[Tab, ...]:
    """The questions asked together, in order; none when the title is a plain one."""
    parts = map(_TAB.fullmatch, _GAP.split(title))
    return tuple(Tab(part[2], part[1] == "☒") for part in parts if part is not None)


def name_tabs(heading: str) -> tuple[str, tuple[Tab, ...]]:
    """What a dialog is called, and its tabs."""
    tabs = read_tabs(heading)
    return ", ".join(tab.name for tab in tabs) if tabs else heading, tabs


def read_question(
    dialog: Dialog, rule: PromptRule, heading: str, question: str, above: tuple[str, ...]
) -> Prompt:
    """The prompt. `above`: what is said before the question itself."""
    title, tabs = name_tabs(heading)
    body = tuple(row for row in above if row)
    *own, field, _ = _arranged(dialog)
    labels = [*(question_label(choice, dialog.edge) for choice in own), _placeholder(field), _WAY_OUT]
    bodies = [join_rows(choice.rows, dialog.edge) for choice in own]
    keys = [str(choice.number) for choice in dialog.choices]
    ticked = [choice.ticked for choice in (*own, field)]
    return Prompt(
        kind=rule.kind,
        tool=rule.tool,
        title=title,
        question=question,
        options=tuple(
            Option(key, label, "other", "instead" if key == str(field.number) else None)
            for key, label in zip(keys, labels, strict=True)
        ),
        fingerprint=fingerprint(rule.tool, title, question, bodies, body),
        rule=rule.name,
        body=body,
        selected=next((key for key, c in zip(keys, dialog.choices, strict=True) if c.selected), None),
        entry=_entry(field, dialog.edge),
        ticked=frozenset(key for key, tick in zip(keys, ticked, strict=False) if tick)
        if ticked[0] is not None
        else None,
        tabs=tabs,
        footer=dialog.footer,
    )


def question_label(choice: Choice, edge: int) -> str:
    """The label without the description below it, which stands in the same column.

    The label goes on in the next row only if that row's first word had no room left in this one.
    """
    rows = list(choice.rows)
    count = 1
    while count < len(rows) and cell_width(rows[count - 1]) + 1 + cell_width(rows[count].split()[0]) > edge:
        count += 1
    return join_rows(rows[:count], edge)


def _arranged(dialog: Dialog) -> tuple[Choice, ...]:
    choices = dialog.choices
    apart = [choice.apart for choice in choices]
    if len(choices) < 3 or apart != [False] * (len(choices) - 1) + [True]:
        raise Misfit("not one single choice stands apart below the line")
    if join_rows(choices[-1].rows, dialog.edge) != _WAY_OUT:
        raise Misfit(f"the choice below the line is not {_WAY_OUT!r}")
    if len({choice.ticked is None for choice in choices[:-1]}) > 1:
        raise Misfit("only some of the choices have a box to tick")
    return choices


def _entry(field: Choice, edge: int) -> Entry | None:
    text = join_rows(field.rows, edge)
    empty = text == _placeholder(field)
    if empty and not field.selected:
        return None
    return Entry(str(field.number), "" if empty else text, field.selected)


def _placeholder(field: Choice) -> str:
    return _EMPTY_FIELD if field.ticked is None else _EMPTY_TICKED_FIELD
