"""What a verdict is made of: findings, the policy with the work tree it is applied in, and judged paths.

Paths are judged resolved, so a link that leads out of the work tree is outside. Some files decide what runs
or needs permission later (git's own, the client's settings, this policy); a rule covers them only if it names
them. Pure: the caller passes functions that look at the disk.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from chorus.policy.patterns import normalize, path_matches, pattern_is_below
from chorus.policy.rules import Policy, PolicyDecision, Rule

_PROTECTED = frozenset(
    """
    .git .claude .husky .vscode .idea .chorus.toml .mcp.json .envrc .gitattributes .gitmodules .gitconfig
    .bashrc .bash_profile .bash_login .profile .zshrc .zshenv .zprofile .zlogin .ssh .npmrc .pypirc .netrc
    .curlrc .wgetrc .inputrc .tmux.conf .vimrc
    .cargo .yarnrc .yarnrc.yml .pnpmfile.cjs .githooks .devcontainer
    """.split()  # noqa: SIM905  a list of bare words is easier to read than one of quoted ones
)


@dataclass(frozen=True, slots=True)
class Finding:
    """The decision about one part of a call."""

    decision: PolicyDecision
    about: str
    because: str


@dataclass(frozen=True, slots=True)
class PolicyContext:
    policy: Policy
    root: str
    # Maps a path as a tool or command names it to the absolute path, links followed; None if that fails.
    resolve: Callable[[str], str | None]
    # The work tree that git finds from a directory; None if it finds none, or a bare repository.
    find_repository: Callable[[str], str | None]
    # The user's own rules, which may be in a work tree too: that of a home directory.
    policy_file: str | None = None

    def rules(self, decision: PolicyDecision) -> Iterable[Rule]:
        return (rule for rule in self.policy.rules if rule.decision == decision)

    def is_inside(self, path: str | None) -> bool:
        return path is not None and (path == self.root or path.startswith(self.root + "/"))

    def protected_name(self, named: str) -> str | None:
        """The part of a path, as named or resolved, that decides what runs or needs permission later."""
        path = self.resolve(named)
        if path is not None and path == self.policy_file:
            return path.rpartition("/")[2]
        inside = "" if path is None else path.removeprefix(self.root)
        return min(protected_names(named) | protected_names(inside), default=None)


def protected_names(path: str) -> frozenset[str]:
    return _PROTECTED.intersection(normalize(path).split("/"))


def describe_rule(rule: Rule) -> str:
    origin = "" if rule.source == "user" else " (the repository's)"
    return f"rule `{rule.text}`{origin}" + (f": {rule.reason}" if rule.reason else "")


def tool_matches(rule: Rule, tools: tuple[str, ...]) -> bool:
    """Whether the rule is about one of these tools. `*` in its name matches anything."""
    if rule.tool is None:
        return True
    regex = re.compile(".*".join(map(re.escape, rule.tool.split("*"))))
    return any(regex.fullmatch(tool) for tool in tools)


def find_restriction(context: PolicyContext, named: str, path: str, tools: tuple[str, ...]) -> Finding | None:
    """The finding of a rule that denies or asks about this resolved path, if there is one."""
    for decision in ("deny", "ask"):
        for rule in context.rules(decision):
            if rule.command is not None or not tool_matches(rule, tools):
                continue
            if rule.path is None or path_matches(rule.path, path, context.root, strict=True):
                return Finding(decision, named, describe_rule(rule))
            if pattern_is_below(rule.path, path, context.root):
                return Finding("ask", named, f"it contains files of {describe_rule(rule)}")
    return None
