"""The parts of a verdict: findings, the policy with its work tree, and judged paths.

Paths are resolved before they are judged, so a link out of the work tree counts as outside. Protected files,
such as `.git` and `.claude`, affect what runs later or which calls need permission later. An allow rule
applies to a protected file only if the rule's pattern contains the protected name.
"""

import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from chorus.policy.patterns import (
    GuardedPaths,
    PatternMatch,
    normalize,
    path_matches,
    pattern_is_below,
    pattern_reaches_below,
    resolve_pattern,
)
from chorus.policy.rules import Policy, PolicyDecision, Rule

_STRICTNESS: tuple[PolicyDecision, ...] = ("allow", "ask", "deny")

_PROTECTED = frozenset(
    """
    .git .claude .husky .vscode .idea .chorus.toml .mcp.json .envrc .gitattributes .gitmodules .gitconfig
    .bashrc .bash_profile .bash_login .profile .zshrc .zshenv .zprofile .zlogin .ssh .npmrc .pypirc .netrc
    .curlrc .wgetrc .inputrc .tmux.conf .vimrc
    .cargo .yarnrc .yarnrc.yml .pnpmfile.cjs .githooks .devcontainer
    .claude.json .ripgreprc .pre-commit-config.yaml .yarn .pnp.cjs .mise.toml .direnvrc .dir-locals.el .exrc
    .nvim.lua .gdbinit .lldbinit .bash_aliases .bash_logout .zlogout
    .gnupg .aws .kube .docker .emacs .emacs.d .vim .nvimrc .screenrc .xinitrc .xprofile .xsession
    .pdbrc .irbrc .rprofile .psqlrc .sqliterc .gemrc .bundle .mise mise.toml .tool-versions
    lefthook.yml .lefthook.yml lefthook-local.yml .lefthook .overcommit.yml .lintstagedrc .huskyrc
    """.split()  # noqa: SIM905  a list of bare words is easier to read than one of quoted ones
)


@dataclass(frozen=True, slots=True)
class Finding:
    """The decision about one part of a call."""

    decision: PolicyDecision
    about: str
    because: str

    @property
    def strictness(self) -> int:
        return _STRICTNESS.index(self.decision)


@dataclass(frozen=True)
class PolicyContext:
    policy: Policy
    root: str
    # Maps a path as a tool or command names it to the absolute path, links followed; None if that fails.
    resolve: Callable[[str], str | None]
    # The work tree that git finds from a directory; None if it finds none, or a bare repository.
    find_git_root: Callable[[str], str | None]
    # The file of the user's own rules. It is in the work tree if the user's home directory is.
    policy_file: str | None = None
    # True if there is a directory at a resolved path, or if this is not known.
    is_directory: Callable[[str], bool] = lambda _: True

    def rules(self, decision: PolicyDecision) -> Iterable[Rule]:
        return (rule for rule in self.policy.rules if rule.decision == decision)

    def guards_paths(self, tools: tuple[str, ...]) -> bool:
        """True if some deny or ask rule for these tools names a path."""
        return any(
            rule.path is not None and rule.command is None and tool_matches(rule, tools)
            for rule in self.policy.rules
            if rule.decision != "allow"
        )

    def may_be_restricted(self, path: str) -> bool:
        """True if some deny or ask rule could concern this resolved path."""
        return self._guarded_paths.may_concern(path)

    @cached_property
    def _guarded_paths(self) -> GuardedPaths:
        rules = [rule for rule in self.policy.rules if rule.decision != "allow" and rule.command is None]
        # A rule for a tool without a path applies to every path.
        patterns = (("/**",) if rule.path is None else self.patterns(rule.path) for rule in rules)
        return GuardedPaths((pattern for each in patterns for pattern in each), self.root)

    def patterns(self, pattern: str) -> tuple[str, ...]:
        """Return the pattern as written and, if that is different, the pattern with its links followed."""
        if pattern not in self._resolved_patterns:
            self._resolved_patterns[pattern] = resolve_pattern(pattern, self.root, self.resolve)
        return tuple(dict.fromkeys((pattern, self._resolved_patterns[pattern])))

    @cached_property
    def _resolved_patterns(self) -> dict[str, str]:
        return {}

    def places(self, named: str, path: str) -> tuple[str, ...]:
        """Return the resolved path and the path as named: a rule may name a link or its target."""
        as_named = posixpath.normpath(posixpath.join(self._working or self.root, named))
        return tuple(dict.fromkeys((path, as_named)))

    @cached_property
    def _working(self) -> str | None:
        return self.resolve(".")

    def is_inside(self, path: str | None) -> bool:
        return path is not None and (path == self.root or path.startswith(self.root + "/"))

    def protected_name(self, named: str) -> str | None:
        """Return the protected name in the path as named, or in the resolved path; None if there is none.

        The user's policy file is protected, too.
        """
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
    """True if the rule applies to one of these tools. `*` in the rule's tool matches any text."""
    if rule.tool is None:
        return True
    regex = re.compile(".*".join(map(re.escape, rule.tool.split("*"))))
    return any(regex.fullmatch(tool) for tool in tools)


def find_restriction(
    context: PolicyContext,
    named: str,
    path: str,
    tools: tuple[str, ...],
    *,
    directory: str = "",
    reads_below: bool = False,
) -> Finding | None:
    """Return the finding of a deny or ask rule that matches the path; None if no rule does.

    The resolved `path` may match, or the path as the call names it: `named`, relative to `directory`.
    `reads_below`: if the path is a directory, all files in it may be read too. A rule may match only files
    below the path. Its finding is then to ask the user.
    """
    reads_below = reads_below and context.is_directory(path)
    places = context.places(posixpath.join(directory, named), path)
    if not reads_below and not any(map(context.may_be_restricted, places)):
        return None
    possible: Finding | None = None
    for decision in ("deny", "ask"):
        for rule in context.rules(decision):
            if rule.command is not None or not tool_matches(rule, tools):
                continue
            for place in places:
                found = _match_path(context, rule, place, reads_below=reads_below)
                if found is PatternMatch.CERTAIN:
                    return Finding(decision, named, describe_rule(rule))
                if found is PatternMatch.POSSIBLE and possible is None:
                    possible = Finding("ask", named, f"it contains files named by {describe_rule(rule)}")
        if possible is not None:
            return possible
    return None


def _match_path(context: PolicyContext, rule: Rule, path: str, *, reads_below: bool) -> PatternMatch:
    """Return CERTAIN if the rule applies to this path, POSSIBLE if it may apply to something below it."""
    if rule.path is None:
        return PatternMatch.CERTAIN
    found = PatternMatch.NO
    for pattern in context.patterns(rule.path):
        if path_matches(pattern, path, context.root, strict=True):
            return PatternMatch.CERTAIN
        if pattern_is_below(pattern, path, context.root) or (
            reads_below and pattern_reaches_below(pattern, path, context.root)
        ):
            found = PatternMatch.POSSIBLE
    return found
