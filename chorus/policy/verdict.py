"""Decide whether a tool call may run without asking the user.

The strictest finding decides, so a call is allowed only if everything that it does is allowed.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from chorus.model.commits.commit_message import shorten
from chorus.model.tools import COMMAND_KEY, SHELL_TOOL, find_tool
from chorus.policy.command_verdict import judge_shell, possible_paths
from chorus.policy.context import (
    Finding,
    PolicyContext,
    describe_rule,
    find_restriction,
    protected_names,
    tool_matches,
)
from chorus.policy.patterns import path_matches
from chorus.policy.rules import Policy, PolicyDecision, Rule

# Each string may be a path, which is looked up on the disk. More strings would hold up the watcher.
_MAX_STRINGS = 2_000
# In characters. File systems allow 255 bytes or units in a name, and a character takes at least one.
_MAX_NAME_LENGTH = 255
# If a path begins like this, some programs read it as another path. Some also remove blanks around a path.
_UNCLEAR = re.compile(r"\s*(?:~|file:)", re.IGNORECASE)
_BLANK = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Verdict:
    decision: PolicyDecision
    findings: tuple[Finding, ...]


def judge_call(
    tool: str,
    tool_input: Mapping[str, Any],
    policy: Policy,
    *,
    root: str,
    resolve: Callable[[str], str | None],
    find_git_root: Callable[[str], str | None],
    policy_file: str | None = None,
    is_directory: Callable[[str], bool] = lambda _: True,
) -> Verdict:
    """Judge one call. `root` and `policy_file` (the user's own rules) are resolved paths."""
    context = PolicyContext(policy, root.rstrip("/"), resolve, find_git_root, policy_file, is_directory)
    known = find_tool(tool)
    if known.asks_user:
        findings = [Finding("ask", tool, "only you can answer this")]
    elif tool == SHELL_TOOL:
        findings = _judge_bash(context, tool_input)
    elif known.path_key is not None:
        path = tool_input.get(known.path_key)
        if isinstance(path, str) and path:
            findings = [_judge_file(context, path, tool)]
        else:
            findings = [Finding("ask", tool, "the call names no file")]
    else:
        findings = list(_judge_other_tool(context, tool, tool_input))
    strictest = max(findings, key=lambda finding: finding.strictness)
    return Verdict(strictest.decision, tuple(findings))


def _judge_bash(context: PolicyContext, tool_input: Mapping[str, Any]) -> list[Finding]:
    text = tool_input.get(COMMAND_KEY)
    if not isinstance(text, str):
        return [Finding("ask", SHELL_TOOL, "the call names no command")]
    findings = list(judge_shell(context, text))
    if tool_input.get("dangerouslyDisableSandbox"):
        findings.append(Finding("ask", SHELL_TOOL, "the call runs outside the sandbox"))
    return findings


def _judge_file(context: PolicyContext, named: str, tool: str) -> Finding:
    path = context.resolve(named)
    if path is None or _UNCLEAR.match(named) or named != named.strip():
        return Finding("ask", named, "this path cannot be resolved")
    restriction = find_restriction(context, named, path, (tool,))
    if restriction is not None:
        return restriction
    if path == context.policy_file:
        return Finding("ask", named, "changing this file can affect which calls need permission later")
    for rule in context.rules("allow"):
        if rule.command is None and tool_matches(rule, (tool,)) and _allows(rule, path, context.root):
            return Finding("allow", named, describe_rule(rule))
    protected = min(protected_names(path.removeprefix(context.root)), default=None)
    what = "this path" if protected is None else f"`{protected}`: a rule must name a protected file"
    return Finding("ask", named, f"no rule allows {tool} for {what}")


def _allows(rule: Rule, path: str, root: str) -> bool:
    pattern = "**" if rule.path is None else rule.path
    if not pattern.startswith("/") and not f"{path}/".startswith(f"{root}/"):
        return False  # the work tree's own name may have a `*` in it
    inside = path.removeprefix(root)
    return protected_names(inside) <= protected_names(pattern) and path_matches(
        pattern, path, root, strict=False
    )


def _judge_other_tool(context: PolicyContext, tool: str, tool_input: Mapping[str, Any]) -> Iterator[Finding]:
    """Judge a call of a tool that is not Bash and has no known input key for a file."""
    here = ["."] if find_tool(tool).looks_below and not tool_input.get("path") else []
    strings = _possible_names(tool_input) if context.guards_paths((tool,)) else iter(())
    texts = list(islice(strings, _MAX_STRINGS))
    if any(True for _ in strings):
        yield Finding(
            "ask", tool, "the call has too many values to check each of them against the rules for paths"
        )
    for text in dict.fromkeys((*here, *texts, *map(str.strip, texts))):
        path = None if _UNCLEAR.match(text) else context.resolve(text)
        if path is None:
            if _may_name_file(text):
                yield Finding("ask", shorten(text), "this path cannot be resolved")
        elif restriction := find_restriction(context, text, path, (tool,), reads_below=True):
            yield restriction
    for decision in ("deny", "ask", "allow"):
        for rule in context.rules(decision):
            if rule.command is None and rule.path is None and tool_matches(rule, (tool,)):
                yield Finding(decision, tool, describe_rule(rule))
                return
    yield Finding("ask", tool, "no rule allows this tool")


def _may_name_file(text: str) -> bool:
    """Return False if a name in this text is too long for any file system.

    A program that shortens a path with `..` may remove the long name. So True if the text has `..` in it.
    """
    names = text.split("/")
    return ".." in names or all(len(name) <= _MAX_NAME_LENGTH for name in names)


def _possible_names(tool_input: Mapping[str, Any]) -> Iterator[str]:
    """Yield all strings in the values of an input, and the parts of strings such as `a.py:12`."""
    for text in _strings(list(tool_input.values())):
        yield text
        if _BLANK.search(text) is None:
            yield from (part for part in possible_paths(text) if part != text)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from _strings(name)
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)
