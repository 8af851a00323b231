"""Decide whether a tool call may run without asking the user.

Gives allow, ask or deny, with every finding it is based on. A call is allowed only if each thing it does is
allowed; the strictest finding decides, and for what cannot be analysed the user is asked. Pure: paths are
resolved by a function of the caller.

Files are judged by their resolved path, so a link that leads out of the work tree is outside. Some files
decide what runs or needs permission later (git's own, the client's settings, this policy); a rule covers them
only if it names them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chorus.model.tools import COMMAND_KEY, SHELL_TOOL, find_tool
from chorus.policy.patterns import PatternMatch, path_matches, pattern_is_below
from chorus.policy.rules import Policy, PolicyDecision, Rule
from chorus.policy.shell import SimpleCommand
from chorus.policy.shell_syntax import Word
from chorus.policy.wrappers import parse_unwrapped, program_name

# Maps a path as a tool or command names it to the absolute path, symlinks followed; None if that fails.
PathResolver = Callable[[str], str | None]

_STRICTNESS: dict[PolicyDecision, int] = {"allow": 0, "ask": 1, "deny": 2}
_BASH = (SHELL_TOOL,)
# Writing here leaves nothing behind.
_DISCARDED = {"/dev/null", "/dev/stdout", "/dev/stderr"}
_DEVICES = "/dev/"
_HARMLESS_DEVICES = {"/dev/null", "/dev/stdin"}
_PROTECTED = frozenset(
    """
    .git .claude .husky .vscode .idea .chorus.toml .mcp.json .envrc .gitattributes .gitmodules .gitconfig
    .bashrc .bash_profile .profile .zshrc .zshenv .ssh .npmrc .pypirc
    """.split()  # noqa: SIM905  a list of bare words is easier to read than one of quoted ones
)
# These only read, so they may look at protected files.
_READERS = frozenset(
    "cat ls head tail grep egrep fgrep rg wc diff cmp file stat git jq".split()  # noqa: SIM905  as above
)
# After one of these, a relative path is relative to another directory.
_DIRECTORY_CHANGES = {"cd", "pushd", "popd", "chdir"}


@dataclass(frozen=True, slots=True)
class Finding:
    """The decision about one part of a call."""

    decision: PolicyDecision
    about: str
    because: str


@dataclass(frozen=True, slots=True)
class Verdict:
    decision: PolicyDecision
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class PolicyContext:
    policy: Policy
    root: str
    resolve: PathResolver

    def rules(self, decision: PolicyDecision) -> Iterable[Rule]:
        return (rule for rule in self.policy.rules if rule.decision == decision)


def judge_call(
    tool: str, tool_input: Mapping[str, Any], policy: Policy, *, root: str, resolve: PathResolver
) -> Verdict:
    """Judge one call. `root` is the resolved path of the work tree."""
    context = PolicyContext(policy, root.rstrip("/"), resolve)
    known = find_tool(tool)
    if known.asks_user:
        findings = [Finding("ask", tool, "only the user can answer this")]
    elif tool == SHELL_TOOL:
        findings = _judge_bash(context, tool_input)
    elif known.path_key is not None:
        path = tool_input.get(known.path_key)
        if isinstance(path, str) and path:
            findings = [_judge_file(context, path, (tool,))]
        else:
            findings = [Finding("ask", tool, "the call names no file")]
    else:
        findings = list(_judge_other_tool(context, tool, tool_input))
    decision = max((finding.decision for finding in findings), key=_STRICTNESS.__getitem__)
    return Verdict(decision, tuple(findings))


def _describe_rule(rule: Rule) -> str:
    origin = "" if rule.source == "user" else " (the repository's)"
    return f"rule `{rule.text}`{origin}" + (f": {rule.reason}" if rule.reason else "")


def _tool_matches(rule: Rule, tools: tuple[str, ...]) -> bool:
    """Whether the rule is about one of these tools. `*` in its name matches anything."""
    if rule.tool is None:
        return True
    regex = re.compile(".*".join(map(re.escape, rule.tool.split("*"))))
    return any(regex.fullmatch(tool) for tool in tools)


def _judge_other_tool(context: PolicyContext, tool: str, tool_input: Mapping[str, Any]) -> Iterator[Finding]:
    """Judge a tool Chorus does not know: its name must be allowed, and no path in its input denied."""
    for text in _strings(tool_input):
        path = context.resolve(text)
        strict = None if path is None else _restriction_of(context, text, path, (tool,))
        if strict is not None:
            yield strict
    for decision in ("deny", "ask", "allow"):
        for rule in context.rules(decision):
            if rule.command is None and rule.path is None and _tool_matches(rule, (tool,)):
                yield Finding(decision, tool, _describe_rule(rule))
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


# Files.


def _judge_file(context: PolicyContext, named: str, tools: tuple[str, ...]) -> Finding:
    """Judge a file read or written by the first of `tools`; rules about the others can only restrict it."""
    if named in _DISCARDED:
        return Finding("allow", named, "writing there leaves nothing behind")
    path = context.resolve(named)
    if path is None:
        return Finding("ask", named, "this path cannot be resolved")
    restriction = _restriction_of(context, named, path, tools)
    if restriction is not None:
        return restriction
    for rule in context.rules("allow"):
        if rule.command is None and _tool_matches(rule, tools[:1]) and _allows(rule, path, context.root):
            return Finding("allow", named, _describe_rule(rule))
    return Finding("ask", named, f"no rule allows {tools[0]} there")


def _restriction_of(context: PolicyContext, named: str, path: str, tools: tuple[str, ...]) -> Finding | None:
    """The finding of a rule that denies or asks about this resolved path, if there is one."""
    for decision in ("deny", "ask"):
        for rule in context.rules(decision):
            if rule.command is not None or not _tool_matches(rule, tools):
                continue
            if rule.path is None or path_matches(rule.path, path, context.root, strict=True):
                return Finding(decision, named, _describe_rule(rule))
            if pattern_is_below(rule.path, path, context.root):
                return Finding("ask", named, f"it contains files of {_describe_rule(rule)}")
    return None


def _protected_names(path: str) -> frozenset[str]:
    """The names in a path of files that decide what runs or needs permission later."""
    return _PROTECTED.intersection(path.casefold().split("/"))


def _allows(rule: Rule, path: str, root: str) -> bool:
    pattern = "**" if rule.path is None else rule.path
    inside = path.removeprefix(root)
    return _protected_names(inside) <= _protected_names(pattern) and path_matches(
        pattern, path, root, strict=False
    )


# Shell commands: everything they run, write and read.


def _judge_bash(context: PolicyContext, tool_input: Mapping[str, Any]) -> list[Finding]:
    text = tool_input.get(COMMAND_KEY)
    if not isinstance(text, str):
        return [Finding("ask", SHELL_TOOL, "the call names no command")]
    findings = _judge_shell(context, text)
    if tool_input.get("dangerouslyDisableSandbox"):
        findings.append(Finding("ask", SHELL_TOOL, "the call leaves the sandbox"))
    return findings


def _judge_shell(context: PolicyContext, text: str) -> list[Finding]:
    script = parse_unwrapped(text)
    moves = any(program_name(command.words[0]) in _DIRECTORY_CHANGES for command in script.commands)
    findings = [Finding("ask", text, reason) for reason in script.not_analysed]
    for command in script.commands:
        findings.append(_judge_command(context, command))
        name, arguments = program_name(command.words[0]), command.words[1:]
        if name not in _READERS:
            findings += _judge_protected(context, arguments, name in _DIRECTORY_CHANGES)
        if name not in _DIRECTORY_CHANGES:
            findings += _judge_arguments(context, arguments, moves)
    for word in script.writes:
        findings.append(_judge_redirection(context, word, moves))
    for word in script.reads:
        findings += _judge_arguments(context, [word], moves)
        if word.text.startswith(_DEVICES) and word.text not in _HARMLESS_DEVICES:
            findings.append(Finding("ask", word.text, "reading there may reach the network"))
    return findings or [Finding("ask", text, "it contains no command to judge")]


def _judge_command(context: PolicyContext, command: SimpleCommand) -> Finding:
    about = " ".join(word.text if word.known else "…" for word in command.words)
    for decision in ("deny", "ask"):
        for rule in context.rules(decision):
            match = _match_command(rule, command)
            if match is not PatternMatch.NO:
                # A command that is only possibly denied is for the user to decide.
                certain = match is PatternMatch.CERTAIN
                return Finding(decision if certain else "ask", about, _describe_rule(rule))
    for rule in context.rules("allow"):
        if rule.command is not None and rule.command.allows(command.words):
            return Finding("allow", about, _describe_rule(rule))
    return Finding("ask", about, "no rule allows this command")


def _match_command(rule: Rule, command: SimpleCommand) -> PatternMatch:
    if rule.command is not None:
        return rule.command.restricts(command.words)
    return PatternMatch.CERTAIN if rule.path is None and _tool_matches(rule, _BASH) else PatternMatch.NO


def _judge_redirection(context: PolicyContext, word: Word, moves: bool) -> Finding:
    if not word.known:
        return Finding("ask", "…", "the file it writes is not known before it runs")
    if moves and not word.text.startswith("/"):
        return Finding("ask", word.text, "this path is unclear after a change of directory")
    return _judge_file(context, word.text, ("Write", *_BASH))


def _judge_protected(context: PolicyContext, words: Iterable[Word], moves: bool) -> Iterator[Finding]:
    """Check that a command that may write reaches no file that decides what runs or is allowed later."""
    for word in words:
        if not word.known:
            if moves:
                yield Finding("ask", "…", "the directory it changes to is not known before it runs")
            continue
        for named in _possible_paths(word.text):
            path = context.resolve(named)
            inside = "" if path is None else path.removeprefix(context.root)
            protected = _protected_names(named) | _protected_names(inside)
            if protected:
                yield Finding("ask", named, f"`{min(protected)}` decides what runs or needs permission later")


def _judge_arguments(context: PolicyContext, words: Iterable[Word], moves: bool) -> Iterator[Finding]:
    """Apply the restrictions on paths to every word that could name one."""
    restrictions = [
        rule
        for decision in ("deny", "ask")
        for rule in context.rules(decision)
        if rule.path is not None and rule.command is None and _tool_matches(rule, _BASH)
    ]
    if not restrictions:
        return
    for word in words:
        if not word.known:
            yield Finding("ask", "…", f"it could be a path of {_describe_rule(restrictions[0])}")
            continue
        for named in _possible_paths(word.text):
            path = context.resolve(named)
            if path is None or (moves and not named.startswith("/")):
                yield Finding("ask", named, "this path cannot be resolved")
            else:
                restriction = _restriction_of(context, named, path, _BASH)
                if restriction is not None:
                    yield restriction


def _possible_paths(text: str) -> list[str]:
    """The paths a word could mean: itself, the value of a flag, the part behind `=`, `:` or `@`."""
    found = [] if text.startswith("-") else [text]
    if text.startswith("-") and not text.startswith("--"):
        found.append(text[2:])
    for mark in "=:@":
        found.append(text.rpartition(mark)[2] if mark in text else "")
    return [part for part in found if part]
