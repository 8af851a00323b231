"""The rules that recognise dialogs, as data: the shipped `rules.toml`, with the user's own rules first."""

import re
import tomllib
from importlib import resources
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from chorus.errors import ChorusError
from chorus.model.api.json_api import OptionMeaning

FORMAT = 1


class BadPromptRules(ChorusError):
    """Prompt rules are not in the expected form."""

    hint = "Correct the dialog rules in your config; docs/config.md shows their form."


class RuleMismatch(Exception):
    """A dialog does not match a rule."""


def _compile(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return re.compile(value)
    except re.error as error:
        raise ValueError(f"{value!r} is not a pattern: {error}") from error


Pattern = Annotated[re.Pattern[str], BeforeValidator(_compile)]
# A single string is the same as a list of one.
Texts = Annotated[
    tuple[str, ...], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)
]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class LabelRule(_Strict):
    text: Pattern
    meaning: OptionMeaning
    # If given, `Tab` opens a text field after this label. An empty field shows one of these placeholders.
    amend: Texts = ()
    # Whether choosing the option opens a text field in place of the label.
    typed: bool = False
    # A text that is drawn below the label and is not part of it.
    hint: str = ""


class PromptRule(_Strict):
    """One kind of dialog. Patterns must match the whole of their part of the screen."""

    name: str
    kind: str
    tool: str | None = None
    # Client versions whose screens this rule was written from.
    seen: tuple[str, ...] = Field(min_length=1)
    title: Pattern
    # The paragraph right below the title, if the title alone does not identify the dialog.
    below_title: Pattern | None = None
    # If this is None or matches an empty text, the title is the question.
    question: Pattern | None = None
    # Whether the question is somewhere in the text, not right above the options.
    question_in_text: bool = False
    footer: Pattern
    # Matches the last rows of a text that may be shortened. They give the whole text's lines and characters.
    rest: Pattern | None = None
    # A part of the footer that names a key to move or edit with, not a key that answers.
    hint: Pattern | None = None
    # Names of the labels that the first option, the last option, and the options between them may have. A
    # question of the agent has none.
    first: tuple[str, ...] = ()
    between: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    # Whether this is a question of the agent, with options that the agent wrote.
    asks: bool = False
    # The title to show when the dialog is taller than the pane and only its end is on the screen.
    # Only for dialogs that their question alone identifies.
    tail_title: str | None = None


class UserRules(_Strict):
    """The `[prompts]` table of the user's config."""

    format: int = FORMAT
    label: dict[str, LabelRule] = {}
    rule: tuple[PromptRule, ...] = ()
    quiet: tuple[Pattern, ...] = ()


class PromptRules(_Strict):
    format: int
    label: dict[str, LabelRule]
    rule: tuple[PromptRule, ...]
    # Last paragraphs of screens that need no answer.
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


def read_prompt_rules(user_rules: dict[str, Any] | None = None) -> PromptRules:
    shipped = resources.files("chorus.agents.claude_code.dialogs").joinpath("rules.toml")
    return parse_rules(tomllib.loads(shipped.read_text(encoding="utf-8")), user_rules)


def parse_rules(shipped: dict[str, Any], user_rules: dict[str, Any] | None = None) -> PromptRules:
    """Merge the user's rules and the shipped ones, and check them. Raises BadPromptRules.

    The user's rules are tried first, and may use the shipped labels.
    """
    try:
        own = UserRules.model_validate(user_rules or {})
        return PromptRules.model_validate(
            {
                "format": own.format,
                "label": {**shipped["label"], **own.label},
                "rule": [*own.rule, *shipped["rule"]],
                "quiet": [*own.quiet, *shipped.get("quiet", [])],
            }
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadPromptRules(f"prompt rules{f', {where}' if where else ''}: {first['msg']}") from error
