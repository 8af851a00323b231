"""Find the key of each option of a dialog, and the meaning that the rule gives to its label.

If the rule does not name a label in the dialog, the dialog does not match the rule.
"""

from dataclasses import dataclass

from chorus.agents.claude_code.dialogs.dialog import Dialog, DrawnOption
from chorus.agents.claude_code.dialogs.rules import LabelRule, PromptRule, PromptRules, RuleMismatch
from chorus.agents.claude_code.dialogs.screen import join_rows
from chorus.model.prompt import Option, TextField, TextInput

# Keys as a footer names them, and as tmux does.
_KEYS = {"Enter": "Enter", "Esc": "Escape", "Tab": "Tab", "shift+Tab": "BTab"}
# The footer shows this while the selected option takes a text, but not once its text field is open.
TAB_TO_AMEND = "Tab to amend"


@dataclass(frozen=True, slots=True)
class ReadOptions:
    options: tuple[Option, ...]
    selected: str | None
    text_field: TextField | None


@dataclass(frozen=True, slots=True)
class _LabelledOption:
    name: str
    label: str
    rule: LabelRule
    typed: str | None = None  # the text in its text field, if that is open


def read_options(dialog: Dialog, rule: PromptRule, rules: PromptRules) -> ReadOptions:
    if not dialog.options:
        return _read_footer(dialog.footer, rule, rules)
    last = len(dialog.options) - 1
    labelled: list[_LabelledOption] = []
    for index, drawn in enumerate(dialog.options):
        allowed = rule.first if index == 0 else rule.last if index == last else rule.between
        labelled.append(_match_label(drawn, {name: rules.label[name] for name in allowed}, dialog))
    if last < 1 or labelled[0].name == labelled[-1].name:
        raise RuleMismatch("the first option is also the last")
    keys = _keys(dialog.options)
    amends = TAB_TO_AMEND in rule.footer.pattern
    options = tuple(
        # In a list without numbers, options take no text: a wrapped text would look like another option.
        Option(key, one.label, one.rule.meaning, None if press else _text_input(one.rule, amends), press)
        for key, one, press in zip(keys, labelled, _presses(dialog), strict=True)
    )
    fields = [
        TextField(key, one.typed, True)
        for key, one in zip(keys, labelled, strict=True)
        if one.typed is not None
    ]
    return ReadOptions(options, selected_key(dialog.options, keys), fields[0] if fields else None)


def selected_key(options: tuple[DrawnOption, ...], keys: list[str]) -> str | None:
    return next((key for option, key in zip(options, keys, strict=True) if option.selected), None)


def _match_label(drawn: DrawnOption, allowed: dict[str, LabelRule], dialog: Dialog) -> _LabelledOption:
    text = join_rows(drawn.rows, dialog.edge)
    for name, label in allowed.items():
        shown = text.removesuffix(label.hint).rstrip() if label.hint else text
        if label.text.fullmatch(shown):
            return _LabelledOption(name, shown, label, "" if label.typed and drawn.selected else None)
        if not drawn.selected:
            continue
        if label.typed:
            return _LabelledOption(name, label.text.pattern, label, shown)
        typed = _amendment(shown, label, dialog.footer)
        if typed is not None:
            return _LabelledOption(name, label.text.pattern, label, typed)
    expected = f"is none of: {', '.join(allowed)}" if allowed else "is not allowed: the rule allows none here"
    raise RuleMismatch(f"option {text!r} {expected}")


def _amendment(text: str, label: LabelRule, footer: str) -> str | None:
    """Return the text typed after `Yes,` or `No,`; None if no text field is open there."""
    lead = f"{label.text.pattern},"
    if not label.amend or TAB_TO_AMEND in footer or not text.startswith(lead):
        return None
    typed = text.removeprefix(lead).lstrip()
    # A narrow pane shows only the beginning of an empty field's placeholder.
    cut = typed.endswith("…") and any(shown.startswith(typed[:-1]) for shown in label.amend)
    return "" if cut or typed in label.amend else typed


def _text_input(label: LabelRule, amends: bool) -> TextInput | None:
    """Return how an option takes a text; None if it takes none.

    `amends`: the footer of this kind of dialog may offer to add a text.
    """
    return "replace" if label.typed else "append" if label.amend and amends else None


def _keys(options: tuple[DrawnOption, ...]) -> list[str]:
    return [str(option.number or place) for place, option in enumerate(options, 1)]


def _presses(dialog: Dialog) -> list[str | None]:
    """For each option, return the keys that choose it (arrows, then Enter), or None.

    In a numbered list, all are None.
    """
    options = dialog.options
    if any(option.number is not None for option in options):
        return [None] * len(options)
    back, forth = ("Left", "Right") if dialog.in_a_row else ("Up", "Down")
    at = next(index for index, option in enumerate(options) if option.selected)
    return [
        " ".join([forth if index > at else back] * abs(index - at) + ["Enter"])
        for index in range(len(options))
    ]


def _read_footer(footer: str, rule: PromptRule, rules: PromptRules) -> ReadOptions:
    """Read the options that a footer names: `KEY to LABEL · KEY to LABEL`."""
    options: list[Option] = []
    for part in footer.split(" · "):
        if rule.hint is not None and rule.hint.fullmatch(part):
            continue
        key, to, text = part.partition(" to ")
        names = (*rule.first, *rule.between, *rule.last)
        label = next((rules.label[name] for name in names if rules.label[name].text.fullmatch(text)), None)
        if not to or key not in _KEYS or label is None:
            raise RuleMismatch(f"no label rule matches the footer's {part!r}")
        options.append(Option(_KEYS[key], text, label.meaning))
    return ReadOptions(tuple(options), None, None)
