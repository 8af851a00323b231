"""`chorus policy`: the rules that answer permission prompts for the user."""

import argparse
import os
import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from chorus.config.policy_file import (
    append_rule,
    find_git_root,
    policy_root,
    read_policy,
)
from chorus.config.user_config import user_config_path
from chorus.errors import ExitCode, UsageError
from chorus.model.api.json_api import RuleJson
from chorus.model.tools import COMMAND_KEY, PATH_KEYS, SHELL_TOOL, find_tool
from chorus.output import print_err, print_json, print_out
from chorus.policy.command_verdict import explain_no_effect
from chorus.policy.rules import BadPolicy, Rule, parse_policy
from chorus.policy.verdict import Verdict, judge_call
from chorus.system.files.path_resolver import PathResolver

ABOUT = """\
Deny rules win over ask rules, and ask rules over allow rules. You are asked
about every call that no rule allows or denies. A repository's own rules can only be
stricter."""
EXAMPLES = (
    ("chorus policy add allow --command 'git status'", "never ask for this command"),
    ("chorus policy test 'git push'", "show what would happen"),
    ("chorus policy explain 'make && rm x'", "show why, part by part"),
)
_FIELDS = ("tool", "command", "path", "arguments", "reason")


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="list|add|test|explain", required=True)
    listing = _action(actions, "list", "list the rules in effect and where they come from")
    listing.add_argument("--json", action="store_true", help="print JSON")
    adding = _action(actions, "add", "add a rule to your configuration")
    adding.add_argument("decision", choices=("allow", "ask", "deny"), help="what the rule decides")
    adding.add_argument("--tool", help="the tool it applies to; * matches anything")
    adding.add_argument(
        "--command",
        help="the command it applies to; "
        "a final * matches any further arguments (in an allow rule, only harmless ones)",
    )
    adding.add_argument(
        "--any-arguments",
        action="store_const",
        const="any",
        dest="arguments",
        help="allow everything the final * matches, not only arguments known to be harmless",
    )
    adding.add_argument("--path", help="the files it applies to; ** matches any directories")
    adding.add_argument("--reason", help="the reason, shown in the log and, if the rule denies, to the agent")
    for name, text in (
        ("test", "show the decision for a call"),
        ("explain", "explain the decision, part by part"),
    ):
        testing = _action(actions, name, text)
        testing.add_argument(
            "words", nargs="*", metavar="COMMAND", help="a shell command, best quoted as one argument"
        )
        testing.add_argument("--tool", default=SHELL_TOOL, help="the tool (default: %(default)s)")
        testing.add_argument("--path", help="the file the tool is called with")
        testing.add_argument("--json", action="store_true", help="print JSON")


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
            return _test(args)


def _list(args: argparse.Namespace) -> ExitCode:
    policy = read_policy(policy_root(Path.cwd()))
    if args.json:
        rules = [_rule_json(rule) for rule in policy.rules]
        ignored = [_rule_json(rule) for rule in policy.ignored]
        print_json({"per_minute": policy.per_minute, "rules": rules, "ignored": ignored})
        return ExitCode.OK
    for rule in policy.rules:
        print_out(f"{rule.source:<10}  {rule.text}" + (f"  # {rule.reason}" if rule.reason else ""))
    for rule in policy.ignored:
        print_err(
            f"ignored: the repository's rule `{rule.text}`; a repository can only make the policy stricter"
        )
    print_err(
        f"you are asked about every call that no rule allows or denies; "
        f"at most {policy.per_minute} calls per minute are approved by rule"
    )
    return ExitCode.OK


def _add(args: argparse.Namespace) -> ExitCode:
    parts = {name: getattr(args, name) for name in _FIELDS}
    rule = {"decision": args.decision, **{name: value for name, value in parts.items() if value is not None}}
    if not rule.keys() & {"tool", "command", "path"}:
        raise UsageError(
            "a rule needs a tool, a command or a path",
            hint="Add --tool, --command or --path.",
        )
    try:
        added = parse_policy({"rule": [rule]})
    except BadPolicy as error:
        error.hint = "Correct the options; `chorus policy add --help` explains them."
        raise
    path = user_config_path()
    append_rule(path, rule)
    print_err(f"added to {path}")
    new = added.rules[0]
    reason = explain_no_effect(new)
    if reason is not None:
        would_help = explain_no_effect(replace(new, any_arguments=True)) is None
        also = ", or add --any-arguments" if would_help else ""
        print_err(f"the rule has no effect: {reason}. Write the command in full, without *{also}.")
    return ExitCode.OK


def _test(args: argparse.Namespace) -> ExitCode:
    root = policy_root(Path.cwd())
    verdict = judge_call(
        args.tool,
        _tool_input(args),
        read_policy(root),
        root=str(root),
        resolve=PathResolver(str(Path.cwd()), str(root)).resolve,
        find_git_root=find_git_root,
        policy_file=os.path.realpath(user_config_path()),
        is_directory=os.path.isdir,
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


def _tool_input(args: argparse.Namespace) -> dict[str, Any]:
    path_key = find_tool(args.tool).path_key
    if args.tool == SHELL_TOOL:
        if not args.words:
            raise UsageError(
                "no command to test", hint="Give it as one argument: chorus policy test 'git status'."
            )
        return {COMMAND_KEY: args.words[0] if len(args.words) == 1 else shlex.join(args.words)}
    if path_key is not None and args.path is None:
        raise UsageError(f"{args.tool} needs a file", hint="Give it with --path.")
    return {path_key or PATH_KEYS[0]: args.path}


def _explain(verdict: Verdict) -> None:
    for finding in verdict.findings:
        print_out(f"  {finding.decision:<5}  {finding.about}", f"         {finding.because}")


def _rule_json(rule: Rule) -> RuleJson:
    command = None if rule.command is None else rule.command.text
    return {
        "decision": rule.decision,
        "tool": rule.tool,
        "command": command,
        "path": rule.path,
        "arguments": "any" if rule.any_arguments else None,
        "reason": rule.reason,
        "source": rule.source,
    }
