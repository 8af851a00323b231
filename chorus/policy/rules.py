"""The policy: validated rules from the user's config and the repository's `.chorus.toml`.

A repository can only make the policy stricter: its allow rules are ignored.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from chorus.errors import ChorusError
from chorus.model.tools import SHELL_TOOL, find_tool
from chorus.policy.patterns import CommandPattern, parse_command_pattern

PolicyDecision = Literal["allow", "ask", "deny"]
Source = Literal["user", "repository"]
DEFAULT_APPROVALS_PER_MINUTE = 20


class BadPolicy(ChorusError):
    """A policy table does not have the expected form."""

    hint = "Correct the rule in that file; docs/config.md shows the form."


def _check_pattern(command: str) -> str:
    parse_command_pattern(command)
    return command


class RuleModel(BaseModel):
    """One `[[policy.rule]]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    decision: PolicyDecision
    tool: str | None = None
    command: Annotated[str, AfterValidator(_check_pattern)] | None = None
    path: str | None = None
    arguments: Literal["any"] | None = None
    reason: str | None = None

    @model_validator(mode="after")
    def _check(self) -> "RuleModel":
        if self.tool is None and self.command is None and self.path is None:
            raise ValueError("a rule needs a tool, a command or a path")
        if self.command is not None and self.tool not in {None, SHELL_TOOL}:
            raise ValueError("only a rule for Bash can have a command")
        if self.arguments is not None and (self.decision != "allow" or self.command is None):
            raise ValueError('only a rule that allows a command can have arguments = "any"')
        if self.decision == "allow":
            _check_allow(self)
        return self


def _check_allow(rule: RuleModel) -> None:
    if rule.command is not None:
        if "*" in parse_command_pattern(rule.command).words[0]:
            raise ValueError("a rule that allows a command must name the program in full, without *")
        if rule.path is not None:
            raise ValueError(
                "a rule that allows a command cannot have a path; add a separate rule for the path"
            )
    elif rule.tool is None or rule.tool.strip("*") == "":
        raise ValueError("an allow rule needs a tool other than *, or a command")
    elif rule.tool == SHELL_TOOL:
        raise ValueError("a rule that allows Bash needs a command")
    elif find_tool(rule.tool).asks_user:
        raise ValueError(f"{rule.tool} asks you a question, so no rule can allow it")


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid")

    rule: list[RuleModel] = []
    per_minute: int = Field(default=DEFAULT_APPROVALS_PER_MINUTE, ge=0)


@dataclass(frozen=True, slots=True)
class Rule:
    decision: PolicyDecision
    source: Source
    tool: str | None = None
    command: CommandPattern | None = None
    path: str | None = None
    # True if `*` stands for any arguments, not only for those known to be harmless.
    any_arguments: bool = False
    reason: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Policy:
    rules: tuple[Rule, ...] = ()
    # How many calls may be approved in any minute without asking the user.
    per_minute: int = DEFAULT_APPROVALS_PER_MINUTE
    # Rules of a repository that would allow something.
    ignored: tuple[Rule, ...] = ()


def parse_policy(
    user: dict[str, Any],
    repository: dict[str, Any] | None = None,
    *,
    expand_home: Callable[[str], str] = lambda path: path,
) -> Policy:
    """Check the tables and build the policy. `expand_home` replaces a `~` at the start of a path."""
    own = _parse_table(user, "your config")
    theirs = _parse_table(repository or {}, "the repository's file")
    repository_rules = [_build_rule(model, "repository", expand_home) for model in theirs.rule]
    return Policy(
        rules=(
            *(_build_rule(model, "user", expand_home) for model in own.rule),
            *(rule for rule in repository_rules if rule.decision != "allow"),
        ),
        per_minute=min(own.per_minute, theirs.per_minute)
        if "per_minute" in (repository or {})
        else own.per_minute,
        ignored=tuple(rule for rule in repository_rules if rule.decision == "allow"),
    )


def _parse_table(value: dict[str, Any], where: str) -> _Table:
    try:
        return _Table.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        # Without the prefix that pydantic puts before our own messages.
        reason = first["msg"].removeprefix("Value error, ")
        raise BadPolicy(f"policy of {where}, {field}: {reason}") from error


def _build_rule(model: RuleModel, source: Source, expand_home: Callable[[str], str]) -> Rule:
    return Rule(
        decision=model.decision,
        source=source,
        tool=model.tool,
        command=None if model.command is None else parse_command_pattern(model.command),
        path=None if model.path is None else expand_home(model.path),
        any_arguments=model.arguments is not None,
        reason=model.reason,
        text=_render(model),
    )


def _render(model: RuleModel) -> str:
    parts = [(name, getattr(model, name)) for name in ("tool", "command", "path", "arguments")]
    return " ".join([model.decision, *(f"{name}={value!r}" for name, value in parts if value is not None)])
