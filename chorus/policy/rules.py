"""The policy: rules as a person writes them, checked.

Receives the `[policy]` tables of the user's config and of a repository's file. Gives one policy. A repository
can only make it stricter: its rules that allow something are left out, and said to be.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from chorus.errors import ChorusError
from chorus.model.tools import SHELL_TOOL, find_tool
from chorus.policy.patterns import CommandPattern, parse_command_pattern

Decided = Literal["allow", "ask", "deny"]
Source = Literal["user", "repository"]
_DEFAULT_PER_MINUTE = 20


class BadPolicy(ChorusError):
    """A policy table does not hold what it should."""

    hint = "Correct the rule; `chorus policy list` shows the ones in effect."


def _splits(command: str) -> str:
    parse_command_pattern(command)
    return command


class RuleModel(BaseModel):
    """One `[[policy.rule]]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    decision: Decided
    tool: str | None = None
    command: Annotated[str, AfterValidator(_splits)] | None = None
    path: str | None = None
    reason: str | None = None

    @model_validator(mode="after")
    def _check(self) -> "RuleModel":
        if self.tool is None and self.command is None and self.path is None:
            raise ValueError("a rule names a tool, a command or a path")
        if self.command is not None and self.tool not in {None, SHELL_TOOL}:
            raise ValueError("only Bash runs commands")
        if self.decision == "allow":
            _check_allow(self)
        return self


def _check_allow(rule: RuleModel) -> None:
    if rule.command is not None:
        if "*" in parse_command_pattern(rule.command).words[0]:
            raise ValueError("a rule that allows a command names it in full")
        if rule.path is not None:
            raise ValueError("a rule that allows a command has no path; give paths a rule of their own")
    elif rule.tool is None or rule.tool.strip("*") == "":
        raise ValueError("a rule that allows something names the tool or the command")
    elif rule.tool == SHELL_TOOL:
        raise ValueError("a rule that allows Bash names the command")
    elif find_tool(rule.tool).asks_user:
        raise ValueError(f"{rule.tool} asks a person; it cannot be allowed")


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid")

    rule: list[RuleModel] = []
    per_minute: int = Field(default=_DEFAULT_PER_MINUTE, ge=0)


@dataclass(frozen=True, slots=True)
class Rule:
    decision: Decided
    source: Source
    tool: str | None = None
    command: CommandPattern | None = None
    path: str | None = None
    reason: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Policy:
    rules: tuple[Rule, ...] = ()
    # Automatic approvals in any minute; more are asked.
    per_minute: int = _DEFAULT_PER_MINUTE
    # What a repository's file asked for and does not get.
    ignored: tuple[Rule, ...] = ()


def parse_policy(user: dict[str, Any], repository: dict[str, Any] | None = None) -> Policy:
    own, theirs = _table(user, "your config"), _table(repository or {}, "the repository's file")
    asked_for = [_rule(model, "repository") for model in theirs.rule]
    return Policy(
        rules=(
            *(_rule(model, "user") for model in own.rule),
            *(rule for rule in asked_for if rule.decision != "allow"),
        ),
        per_minute=min(own.per_minute, theirs.per_minute)
        if "per_minute" in (repository or {})
        else own.per_minute,
        ignored=tuple(rule for rule in asked_for if rule.decision == "allow"),
    )


def _table(value: dict[str, Any], where: str) -> _Table:
    try:
        return _Table.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        # What pydantic puts before a reason of ours says nothing to a person.
        reason = first["msg"].removeprefix("Value error, ")
        raise BadPolicy(f"policy of {where}, {place}: {reason}") from error


def _rule(model: RuleModel, source: Source) -> Rule:
    return Rule(
        decision=model.decision,
        source=source,
        tool=model.tool,
        command=None if model.command is None else parse_command_pattern(model.command),
        path=model.path,
        reason=model.reason,
        text=_render(model),
    )


def _render(model: RuleModel) -> str:
    parts = [(name, getattr(model, name)) for name in ("tool", "command", "path")]
    return " ".join([model.decision, *(f"{name}={value!r}" for name, value in parts if value is not None)])
