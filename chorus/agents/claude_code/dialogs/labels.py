"""What a dialog's choices mean.

Receives the choices as drawn and the rule that should fit them. Gives options with keys and meanings,
which one is marked, and what somebody is typing into one of them. Never gives a meaning to a label
that no rule names.
"""

from dataclasses import dataclass
from typing import Literal

from chorus.agents.claude_code.dialogs.choices import Choice
from chorus.agents.claude_code.dialogs.dialog import Dialog
from chorus.agents.claude_code.dialogs.rules import LabelRule, Misfit, PromptRule, PromptRules
from chorus.agents.claude_code.dialogs.screen import join_rows
from chorus.model.prompt import Entry, Option

# Keys as a footer names them, and as tmux does.
_KEYS = {"Enter": "Enter", "Esc": "Escape", "Tab": "Tab", "shift+Tab": "BTab"}
# A footer says so while the marked choice takes a remark; it stops saying so once a text field is open.
TAB_TO_AMEND = "Tab to amend"


@dataclass(frozen=True, slots=True)
class Options:
    options: tuple[Option, ...]
    selected: str | None
    entry: Entry | None


@dataclass(frozen=True, slots=True)
class _Named:
    name: str
    label: str
    rule: LabelRule
    typed: str | None = None  # text in the choice's text field, when that is open


def read_options(dialog: Dialog, rule: PromptRule, rules: PromptRules) -> Options:
    if not dialog.choices:
        return _read_footer(dialog.footer, rule, rules)
    last = len(dialog.choices) - 1
    named: list[_Named] = []
    for index, choice in enumerate(dialog.choices):
        allowed = rule.first if index == 0 else rule.last if index == last else rule.between
        named.append(_name(choice, {name: rules.label[name] for name in allowed}, dialog))
    if last < 1 or named[0].name == named[-1].name:
        raise Misfit("the first and the last choice are not two different ones")
    keys = _keys(dialog.choices)
    options = tuple(
        Option(key, one.label, one.rule.meaning, _takes_text(one.rule))
        for key, one in zip(keys, named, strict=True)
    )
    entries = [
        Entry(key, one.typed, True) for key, one in zip(keys, named, strict=True) if one.typed is not None
    ]
    return Options(options, _selected(dialog.choices, keys), entries[0] if entries else None)


def _name(choice: Choice, allowed: dict[str, LabelRule], dialog: Dialog) -> _Named:
    text = join_rows(choice.rows, dialog.edge)
    for name, label in allowed.items():
        shown = text.removesuffix(label.hint).rstrip() if label.hint else text
        if label.text.fullmatch(shown):
            return _Named(name, shown, label, "" if label.typed and choice.selected else None)
        if not choice.selected:
            continue
        if label.typed:
            return _Named(name, label.text.pattern, label, shown)
        typed = _amendment(shown, label, dialog.footer)
        if typed is not None:
            return _Named(name, label.text.pattern, label, typed)
    raise Misfit(f"choice {text!r} is none of: {', '.join(allowed) or 'no label fits here'}")


def _amendment(text: str, label: LabelRule, footer: str) -> str | None:
    """What is typed behind `Yes,` or `No,`; None when no text field is open there."""
    lead = f"{label.text.pattern},"
    if not label.amend or TAB_TO_AMEND in footer or not text.startswith(lead):
        return None
    typed = text.removeprefix(lead).lstrip()
    # A narrow pane shows only the beginning of what an empty field says.
    cut = typed.endswith("…") and any(shown.startswith(typed[:-1]) for shown in label.amend)
    return "" if cut or typed in label.amend else typed


def _takes_text(label: LabelRule) -> Literal["behind", "instead"] | None:
    return "instead" if label.typed else "behind" if label.amend else None


def _keys(choices: tuple[Choice, ...]) -> list[str]:
    """The number where there is one; else the way from the marked choice, and Enter."""
    at = next((index for index, choice in enumerate(choices) if choice.selected), 0)
    return [
        str(choice.number)
        if choice.number is not None
        else " ".join(["Down" if index > at else "Up"] * abs(index - at) + ["Enter"])
        for index, choice in enumerate(choices)
    ]


def _selected(choices: tuple[Choice, ...], keys: list[str]) -> str | None:
    return next((key for choice, key in zip(choices, keys, strict=True) if choice.selected), None)


def _read_footer(footer: str, rule: PromptRule, rules: PromptRules) -> Options:
    """A notice without a list: the footer names its keys, `KEY to WORDS · KEY to WORDS`."""
    options: list[Option] = []
    for part in footer.split(" · "):
        key, to, words = part.partition(" to ")
        names = (*rule.first, *rule.between, *rule.last)
        label = next((rules.label[name] for name in names if rules.label[name].text.fullmatch(words)), None)
        if not to or key not in _KEYS or label is None:
            raise Misfit(f"the footer says {part!r}, which no label names")
        options.append(Option(_KEYS[key], words, label.meaning))
    return Options(tuple(options), None, None)
