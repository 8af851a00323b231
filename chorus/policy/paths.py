"""Judging the files a call touches.

Receives a path as it was named, and the tool that touches it. Gives a finding. Works on resolved paths
only: a link that leads out of the tree is outside. Some files decide what runs or what is asked later
(git's own, the client's settings, this policy); a rule covers them only if it names them.
"""

import re

from chorus.policy.findings import Finding, Ground, because_of
from chorus.policy.patterns import path_fits, path_may_reach
from chorus.policy.rules import Rule

# Writing here goes nowhere.
_NOWHERE = {"/dev/null", "/dev/stdout", "/dev/stderr"}
_GUARDED = frozenset(
    """
    .git .claude .husky .vscode .idea .chorus.toml .mcp.json .envrc .gitattributes .gitmodules .gitconfig
    .bashrc .bash_profile .profile .zshrc .zshenv .ssh .npmrc .pypirc
    """.split()  # noqa: SIM905  a list of bare words is read more easily than one of quotes
)


def judge_file(ground: Ground, named: str, tools: tuple[str, ...]) -> Finding:
    """A file that is read or written by the first of `tools`; the others only make it stricter."""
    if named in _NOWHERE:
        return Finding("allow", named, "writing there leaves nothing behind")
    path = ground.resolve(named)
    if path is None:
        return Finding("ask", named, "what this path leads to cannot be told")
    strict = judge_strict(ground, named, path, tools)
    if strict is not None:
        return strict
    for rule in ground.rules("allow"):
        if rule.command is None and tool_fits(rule, tools[:1]) and _allows(rule, path, ground.root):
            return Finding("allow", named, because_of(rule))
    return Finding("ask", named, f"no rule allows {tools[0]} there")


def judge_strict(ground: Ground, named: str, path: str, tools: tuple[str, ...]) -> Finding | None:
    """A finding that forbids or asks about this resolved path, if a rule says so."""
    for decision in ("deny", "ask"):
        for rule in ground.rules(decision):
            if rule.command is not None or not tool_fits(rule, tools):
                continue
            if rule.path is None or path_fits(rule.path, path, ground.root, strict=True):
                return Finding(decision, named, because_of(rule))
            if path_may_reach(rule.path, path, ground.root):
                return Finding("ask", named, f"it holds what is named by {because_of(rule)}")
    return None


def tool_fits(rule: Rule, tools: tuple[str, ...]) -> bool:
    """Whether the rule is about one of these tools. `*` in its name stands for anything."""
    if rule.tool is None:
        return True
    regex = re.compile(".*".join(map(re.escape, rule.tool.split("*"))))
    return any(regex.fullmatch(tool) for tool in tools)


def guarded_parts(path: str) -> frozenset[str]:
    """The names in a path that stand for files which decide what runs or what is asked later."""
    return _GUARDED.intersection(path.casefold().split("/"))


def _allows(rule: Rule, path: str, root: str) -> bool:
    pattern = "**" if rule.path is None else rule.path
    inside = path.removeprefix(root)
    return guarded_parts(inside) <= guarded_parts(pattern) and path_fits(pattern, path, root, strict=False)
