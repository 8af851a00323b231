"""Judging a shell command by everything it runs and writes.

Receives the text of a command. Gives one finding for each simple command in it, for each file it writes
or reads by redirection, and for each part that cannot be analysed.
"""

from collections.abc import Iterator

from chorus.model.tools import SHELL_TOOL
from chorus.policy.findings import Finding, Ground, because_of
from chorus.policy.paths import guarded_parts, judge_file, judge_strict, tool_fits
from chorus.policy.patterns import Fit
from chorus.policy.rules import Rule
from chorus.policy.shell import Simple
from chorus.policy.words import Word
from chorus.policy.wrappers import base_name, unwrap_shell

# These only read, so they may look at guarded files.
_READERS = {
    "cat",
    "ls",
    "head",
    "tail",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "wc",
    "diff",
    "cmp",
    "file",
    "stat",
    "git",
    "jq",
}
_DEVICE = "/dev/"
# After one of these, a relative path is relative to somewhere else.
_MOVES = {"cd", "pushd", "popd", "chdir"}
_BASH = (SHELL_TOOL,)


def judge_shell(ground: Ground, text: str) -> list[Finding]:
    script = unwrap_shell(text)
    moves = any(base_name(command.words[0]) in _MOVES for command in script.commands)
    findings = [Finding("ask", text, reason) for reason in script.opaque]
    for command in script.commands:
        findings.append(_judge_command(ground, command))
        name, *arguments = command.words
        if base_name(name) not in _READERS:
            findings += _judge_reach(ground, arguments, base_name(name) in _MOVES)
        if base_name(name) not in _MOVES:
            findings += _judge_arguments(ground, arguments, moves)
    for word in script.writes:
        findings.append(_judge_redirection(ground, word, moves, ("Write", *_BASH)))
    for word in script.reads:
        findings += _judge_arguments(ground, [word], moves)
        if word.text.startswith(_DEVICE) and word.text not in {"/dev/null", "/dev/stdin"}:
            findings.append(Finding("ask", word.text, "reading there may reach the network"))
    return findings or [Finding("ask", text, "it runs nothing that could be judged")]


def _judge_command(ground: Ground, command: Simple) -> Finding:
    about = " ".join(word.text if word.known else "…" for word in command.words)
    for decision in ("deny", "ask"):
        for rule in ground.rules(decision):
            fit = _catches(rule, command)
            if fit is not Fit.NO:
                # What only perhaps is forbidden is for a person to see.
                return Finding(decision if fit is Fit.SURE else "ask", about, because_of(rule))
    for rule in ground.rules("allow"):
        if rule.command is not None and rule.command.allows(command.words):
            return Finding("allow", about, because_of(rule))
    return Finding("ask", about, "no rule allows this command")


def _catches(rule: Rule, command: Simple) -> Fit:
    if rule.command is not None:
        return rule.command.catches(command.words)
    return Fit.SURE if rule.path is None and tool_fits(rule, _BASH) else Fit.NO


def _judge_redirection(ground: Ground, word: Word, moves: bool, tools: tuple[str, ...]) -> Finding:
    if not word.known:
        return Finding("ask", "…", "which file it writes is not known before it runs")
    if moves and not word.text.startswith("/"):
        return Finding("ask", word.text, "where this path leads is not clear after a change of directory")
    return judge_file(ground, word.text, tools)


def _judge_reach(ground: Ground, words: list[Word], moves: bool) -> Iterator[Finding]:
    """A command that may write keeps away from what decides later what runs or what is asked."""
    for word in words:
        if not word.known:
            if moves:
                yield Finding("ask", "…", "where it goes is not known before it runs")
            continue
        for named in _could_name(word.text):
            path = ground.resolve(named)
            inside = "" if path is None else path.removeprefix(ground.root)
            guarded = guarded_parts(named) | guarded_parts(inside)
            if guarded:
                yield Finding("ask", named, f"`{min(guarded)}` decides what runs or what is asked later")


def _judge_arguments(ground: Ground, words: list[Word], moves: bool) -> Iterator[Finding]:
    """Rules about paths that make stricter hold for every word that could name one."""
    guards = [
        rule
        for decision in ("deny", "ask")
        for rule in ground.rules(decision)
        if rule.path is not None and rule.command is None and tool_fits(rule, _BASH)
    ]
    if not guards:
        return
    for word in words:
        if not word.known:
            yield Finding("ask", "…", f"it could name what is named by {because_of(guards[0])}")
            continue
        for named in _could_name(word.text):
            path = ground.resolve(named)
            if path is None or (moves and not named.startswith("/")):
                yield Finding("ask", named, "what this path leads to cannot be told")
            else:
                strict = judge_strict(ground, named, path, _BASH)
                if strict is not None:
                    yield strict


def _could_name(text: str) -> list[str]:
    """The paths a word could stand for: itself, the value of a flag, the part behind `=` or `:` or `@`."""
    found = [] if text.startswith("-") else [text]
    if text.startswith("-") and not text.startswith("--"):
        found.append(text[2:])
    for mark in "=:@":
        found.append(text.rpartition(mark)[2] if mark in text else "")
    return [part for part in found if part]
