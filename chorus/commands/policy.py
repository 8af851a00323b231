"""`chorus policy`: which tool calls need no person, and why."""

import argparse
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Any

from chorus.config.policy_file import append_rule, path_resolver, read_policy, work_tree_of
from chorus.config.user_config import user_config_path
from chorus.errors import ExitCode, UsageError
from chorus.model.tools import COMMAND_KEY, PATH_KEYS, SHELL_TOOL, find_tool
from chorus.output import print_err, print_json, print_out
from chorus.policy.rules import Rule, parse_policy
from chorus.policy.verdict import Verdict, judge_call

_PARTS = ("tool", "command", "path", "reason")


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="list|add|test|explain", required=True)
    listing = _action(actions, "list", "the rules in effect, and where they come from")
    listing.add_argument("--json", action="store_true", help="for programs")
    adding = _action(actions, "add", "add a rule to your own config")
    adding.add_argument("decision", choices=("allow", "ask", "deny"), help="what the rule comes to")
    adding.add_argument("--tool", help="the tool it is about; `*` stands for anything")
    adding.add_argument("--command", help="the command it is about; a last `*` stands for any words")
    adding.add_argument("--path", help="the files it is about; `**` stands for any directories")
    adding.add_argument("--reason", help="why, for whoever meets the rule")
    for name, text in (("test", "what a call comes to"), ("explain", "the same, part by part, with reasons")):
        judging = _action(actions, name, text)
        judging.add_argument(
            "words", nargs="*", metavar="COMMAND", help="a shell command, best as one argument"
        )
        judging.add_argument(
            "--tool", default=SHELL_TOOL, help="the tool that is called (default: %(default)s)"
        )
        judging.add_argument("--path", help="the file it names")
        judging.add_argument("--json", action="store_true", help="for programs")


def _action(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, text: str
) -> argparse.ArgumentParser:
    return actions.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")


def run(args: argparse.Namespace) -> ExitCode:
    match args.action:
        case "add":
            return _add(args)
        case "list":
            return _list(args)
        case _:
            return _judge(args)


def _list(args: argparse.Namespace) -> ExitCode:
    policy = read_policy(work_tree_of(Path.cwd()))
    if args.json:
        rules = [_rule_json(rule) for rule in policy.rules]
        ignored = [_rule_json(rule) for rule in policy.ignored]
        print_json({"per_minute": policy.per_minute, "rules": rules, "ignored": ignored})
        return ExitCode.OK
    for rule in policy.rules:
        print_out(f"{rule.source:<10}  {rule.text}" + (f"  # {rule.reason}" if rule.reason else ""))
    for rule in policy.ignored:
        print_err(f"ignored: the repository asks for `{rule.text}`; it may only make the policy stricter")
    print_err(f"everything else is asked; at most {policy.per_minute} approvals a minute go without asking")
    return ExitCode.OK


def _add(args: argparse.Namespace) -> ExitCode:
    parts = {name: getattr(args, name) for name in _PARTS}
    rule = {"decision": args.decision, **{name: value for name, value in parts.items() if value is not None}}
    if not rule.keys() & {"tool", "command", "path"}:
        raise UsageError(
            "a rule names a tool, a command or a path",
            hint="Say what it is about with --tool, --command or --path.",
        )
    parse_policy({"rule": [rule]})
    path = user_config_path()
    append_rule(path, rule)
    print_err(f"added to {path}")
    return ExitCode.OK


def _judge(args: argparse.Namespace) -> ExitCode:
    root = work_tree_of(Path.cwd())
    verdict = judge_call(
        args.tool, _given(args), read_policy(root), root=str(root), resolve=path_resolver(Path.cwd())
    )
    if args.json:
        print_json(
            {"decision": verdict.decision, "findings": [asdict(finding) for finding in verdict.findings]}
        )
    else:
        print_out(verdict.decision)
    if args.action == "explain" and not args.json:
        _explain(verdict)
    return ExitCode.OK


def _given(args: argparse.Namespace) -> dict[str, Any]:
    """The input a call of this tool would have."""
    path_key = find_tool(args.tool).path_key
    if args.tool == SHELL_TOOL:
        if not args.words:
            raise UsageError(
                "no command to judge", hint="Give it as one argument: chorus policy test 'git status'."
            )
        return {COMMAND_KEY: args.words[0] if len(args.words) == 1 else shlex.join(args.words)}
    if path_key is not None and args.path is None:
        raise UsageError(f"{args.tool} names a file", hint="Give it with --path.")
    return {path_key or PATH_KEYS[0]: args.path}


def _explain(verdict: Verdict) -> None:
    for finding in verdict.findings:
        print_out(f"  {finding.decision:<5}  {finding.about}\n         {finding.because}")


def _rule_json(rule: Rule) -> dict[str, Any]:
    command = None if rule.command is None else rule.command.text
    return {
        "decision": rule.decision,
        "tool": rule.tool,
        "command": command,
        "path": rule.path,
        "reason": rule.reason,
        "source": rule.source,
    }
