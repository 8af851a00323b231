"""What a verdict rests on."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from chorus.policy.rules import Decided, Policy, Rule

# From a path as a tool or command names it to the absolute path it stands for, symlinks followed; None when
# that cannot be told.
Resolver = Callable[[str], str | None]
_STRICTNESS: dict[Decided, int] = {"allow": 0, "ask": 1, "deny": 2}


@dataclass(frozen=True, slots=True)
class Finding:
    decision: Decided
    about: str
    because: str


@dataclass(frozen=True, slots=True)
class Ground:
    """What every judgement is made on."""

    policy: Policy
    root: str
    resolve: Resolver

    def rules(self, decision: Decided) -> Iterable[Rule]:
        return (rule for rule in self.policy.rules if rule.decision == decision)


def strictest(findings: Iterable[Finding]) -> Decided:
    return max((finding.decision for finding in findings), key=_STRICTNESS.__getitem__, default="ask")


def because_of(rule: Rule) -> str:
    origin = "" if rule.source == "user" else " (the repository's)"
    return f"rule `{rule.text}`{origin}" + (f": {rule.reason}" if rule.reason else "")
