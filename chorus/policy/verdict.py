"""Whether a tool call needs a person.

Receives a tool call, the policy, the work tree's root, and a function that resolves paths. Gives allow,
ask or deny, with every finding it rests on. A call is allowed only if each thing it does is allowed; the
strictest finding decides. What cannot be analysed is asked. Pure: the disk is seen through the given
function only.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chorus.model.tools import COMMAND_KEY, SHELL_TOOL, find_tool
from chorus.policy.commands import judge_shell
from chorus.policy.findings import Finding, Ground, Resolver, because_of, strictest
from chorus.policy.paths import judge_file, judge_strict, tool_fits
from chorus.policy.rules import Decided, Policy


@dataclass(frozen=True, slots=True)
class Verdict:
    decision: Decided
    findings: tuple[Finding, ...]


def decide(tool: str, given: Mapping[str, Any], policy: Policy, *, root: str, resolve: Resolver) -> Verdict:
    """Judge one call of `tool` with the input `given`. `root` is the work tree's resolved path."""
    ground = Ground(policy, root.rstrip("/"), resolve)
    known = find_tool(tool)
    if known.asks_user:
        findings = [Finding("ask", tool, "this is a question for a person")]
    elif tool == SHELL_TOOL:
        findings = _judge_bash(ground, given)
    elif known.path_key is not None:
        named = given.get(known.path_key)
        if isinstance(named, str) and named:
            findings = [judge_file(ground, named, (tool,))]
        else:
            findings = [Finding("ask", tool, "the call names no file")]
    else:
        findings = list(_judge_other(ground, tool, given))
    return Verdict(strictest(findings), tuple(findings))


def _judge_bash(ground: Ground, given: Mapping[str, Any]) -> list[Finding]:
    text = given.get(COMMAND_KEY)
    if not isinstance(text, str):
        return [Finding("ask", SHELL_TOOL, "the call names no command")]
    findings = judge_shell(ground, text)
    if given.get("dangerouslyDisableSandbox"):
        findings.append(Finding("ask", SHELL_TOOL, "the call leaves the sandbox"))
    return findings


def _judge_other(ground: Ground, tool: str, given: Mapping[str, Any]) -> Iterator[Finding]:
    """A tool Chorus knows nothing about: its name must be allowed, and no path in it forbidden."""
    for text in _strings(given):
        path = ground.resolve(text)
        strict = None if path is None else judge_strict(ground, text, path, (tool,))
        if strict is not None:
            yield strict
    for decision in ("deny", "ask", "allow"):
        for rule in ground.rules(decision):
            if rule.command is None and rule.path is None and tool_fits(rule, (tool,)):
                yield Finding(decision, tool, because_of(rule))
                return
    yield Finding("ask", tool, "no rule allows this tool")


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)
