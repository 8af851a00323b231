"""The rules that name a dialog, as data.

Receives the content of a rules file (already parsed TOML). Gives a checked, compiled set of rules, and
lets the user's own rules go before the shipped ones. Never reads a file.
"""

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from chorus.errors import ChorusError
from chorus.model.prompt import Meaning

FORMAT = 1


class BadPromptRules(ChorusError):
    """A file of prompt rules does not hold what it should."""

    hint = "Correct the dialog rules in your config; docs/config.md shows their form."


class Misfit(Exception):
    """A part of the screen is not what a rule wants."""


def _compiled(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return re.compile(value)
    except re.error as error:
        raise ValueError(f"{value!r} is not a pattern: {error}") from error


Pattern = Annotated[re.Pattern[str], BeforeValidator(_compiled)]
# One text may stand for a list of one.
Texts = Annotated[
    tuple[str, ...], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)
]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class LabelRule(_Strict):
    """What a choice says, and what taking it means."""

    text: Pattern
    meaning: Meaning
    # `Tab` opens a text field behind this label; until something is typed it shows one of these.
    amend: Texts = ()
    # Choosing it opens a text field in its place.
    typed: bool = False
    # Drawn below the label, and no part of it.
    hint: str = ""


class PromptRule(_Strict):
    """One dialog. Every pattern must fit the whole of its part of the screen."""

    name: str
    kind: str
    tool: str | None = None
    # Client versions whose screens this rule was written from.
    seen: tuple[str, ...] = Field(min_length=1)
    title: Pattern
    # What stands right below the title, where the title alone does not tell.
    below_title: Pattern | None = None
    # None: the dialog asks by its title alone.
    question: Pattern | None = None
    # The question is somewhere in the text, not right above the choices.
    question_in_text: bool = False
    footer: Pattern
    # Names of labels: the first choice, the last, and any between them. A question has none.
    first: tuple[str, ...] = ()
    between: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    asks: bool = False
    # The title to show when the dialog is taller than the pane and only its end is on the screen.
    # Only for dialogs whose question alone tells what they are.
    tail_title: str | None = None


class PromptRules(_Strict):
    format: int
    label: dict[str, LabelRule]
    rule: tuple[PromptRule, ...]
    # How a screen ends that shows something without asking.
    quiet: tuple[Pattern, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> "PromptRules":
        if self.format != FORMAT:
            raise ValueError(f"format {self.format} is not known; this version reads format {FORMAT}")
        for rule in self.rule:
            unknown = {*rule.first, *rule.between, *rule.last} - set(self.label)
            if unknown:
                raise ValueError(f"rule {rule.name}: no label is named {', '.join(sorted(unknown))}")
        return self


def parse_rules(shipped: dict[str, Any], extra: dict[str, Any] | None = None) -> PromptRules:
    """Check the shipped rules and the user's. The user's are tried first, with all labels at hand."""
    merged = dict(shipped)
    if extra:
        merged["label"] = {**shipped["label"], **extra.get("label", {})}
        merged["rule"] = [*extra.get("rule", []), *shipped["rule"]]
        merged["quiet"] = [*extra.get("quiet", []), *shipped.get("quiet", [])]
        merged["format"] = extra.get("format", shipped["format"])
    try:
        return PromptRules.model_validate(merged)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadPromptRules(f"prompt rules{f', {where}' if where else ''}: {first['msg']}") from error
