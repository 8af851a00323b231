"""Read a question of the agent: its options, a text field, and a last option to chat instead.

The agent wrote the options, so none of them means "allow" or "deny".
"""

import re

from chorus.agents.claude_code.dialogs.dialog import Dialog, DrawnOption
from chorus.agents.claude_code.dialogs.options import selected_key
from chorus.agents.claude_code.dialogs.rules import PromptRule, RuleMismatch
from chorus.agents.claude_code.dialogs.screen import join_rows
from chorus.model.prompt import Option, Prompt, QuestionTab, TextField, fingerprint
from chorus.text.width import cell_width

_TAB = re.compile(r"([☐☒]) (.+)")
_TAB_GAP = re.compile(r" {2,}")
# The placeholder of the empty text field, without and with check boxes.
_PLACEHOLDER = "Type something."
_CHECK_BOX_PLACEHOLDER = "Type something"
_LAST_LABEL = "Chat about this"


def split_title(title: str) -> tuple[str, tuple[QuestionTab, ...]]:
    """Split a dialog's title row into its title and the tabs of its questions."""
    parts = map(_TAB.fullmatch, _TAB_GAP.split(title))
    tabs = tuple(QuestionTab(part[2], part[1] == "☒") for part in parts if part is not None)
    return ", ".join(tab.name for tab in tabs) if tabs else title, tabs


def read_question(
    dialog: Dialog, rule: PromptRule, heading: str, question: str, above: tuple[str, ...]
) -> Prompt:
    """Return the prompt for a question. `above` are the rows above the question's text."""
    title, tabs = split_title(heading)
    body = tuple(row for row in above if row)
    _check_options(dialog)
    *own, field, _ = dialog.options
    labels = [*(_label(option, dialog.edge) for option in own), _placeholder(field), _LAST_LABEL]
    full_labels = [join_rows(option.rows, dialog.edge) for option in own]
    keys = [str(option.number) for option in dialog.options]
    boxes = [option.checked for option in (*own, field)]
    return Prompt(
        kind=rule.kind,
        tool=rule.tool,
        title=title,
        question=question,
        options=tuple(
            Option(key, label, "other", "replace" if key == str(field.number) else None)
            for key, label in zip(keys, labels, strict=True)
        ),
        fingerprint=fingerprint(rule.tool, title, question, full_labels, body),
        rule=rule.name,
        body=body,
        selected=selected_key(dialog.options, keys),
        text_field=_text_field(field, dialog.edge),
        checked=frozenset(key for key, checked in zip(keys, boxes, strict=False) if checked)
        if boxes[0] is not None
        else None,
        tabs=tabs,
        footer=dialog.footer,
        area=dialog.area,
    )


def _label(option: DrawnOption, edge: int) -> str:
    """Return an option's label without its description.

    The description begins below the label in the same column. A row belongs to the label if its first word
    did not fit into the row above.
    """
    rows = list(option.rows)
    count = 1
    while count < len(rows) and cell_width(rows[count - 1]) + 1 + cell_width(rows[count].split()[0]) > edge:
        count += 1
    return join_rows(rows[:count], edge)


def _check_options(dialog: Dialog) -> None:
    options = dialog.options
    apart = [option.apart for option in options]
    if len(options) < 3 or apart != [False] * (len(options) - 1) + [True]:
        raise RuleMismatch("a question needs at least two options above the separator and exactly one below")
    if join_rows(options[-1].rows, dialog.edge) != _LAST_LABEL:
        raise RuleMismatch(f"the option below the separator is not {_LAST_LABEL!r}")
    if len({option.checked is None for option in options[:-1]}) > 1:
        raise RuleMismatch("only some of the options have a check box")


def _text_field(field: DrawnOption, edge: int) -> TextField | None:
    text = join_rows(field.rows, edge)
    empty = text == _placeholder(field)
    if empty and not field.selected:
        return None
    return TextField(str(field.number), "" if empty else text, field.selected)


def _placeholder(field: DrawnOption) -> str:
    return _PLACEHOLDER if field.checked is None else _CHECK_BOX_PLACEHOLDER
