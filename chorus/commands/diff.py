"""`chorus diff`: the changes of actions, as git prints them, with the user's own diff settings."""

import argparse

from chorus.commands.access.history import read_actions, read_log
from chorus.commands.parser.argument_parser import add_action_options
from chorus.commands.terminal.pager import page
from chorus.commands.terminal.patch import render_action_patch
from chorus.errors import ExitCode, NotFound, UsageError
from chorus.output import print_json

EXAMPLES = (
    ("chorus diff 12 14", "the changes of actions 12 and 14"),
    ("chorus diff --turn 3f2a", "the changes of one turn"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    add_action_options(parser)
    parser.add_argument("--json", action="store_true", help="print a JSON list of patches")


def run(args: argparse.Namespace) -> ExitCode:
    actions = read_actions(_action_names(args))
    if args.json:
        print_json([{"n": action["n"], "id": action["id"], "patch": action["patch"]} for action in actions])
    else:
        page((line for action in actions for line in render_action_patch(action)), "diff")
    return ExitCode.OK


def _action_names(args: argparse.Namespace) -> list[str]:
    if (args.turn is None and args.lane is None) == (not args.actions):
        raise UsageError("give either actions, or a turn or lane", hint="Run `chorus log` to list them.")
    if args.actions:
        return list(args.actions)
    entries = read_log(turn=args.turn, lane=args.lane)
    names = [str(entry["n"]) for entry in entries if entry["commit"] and not entry["within"]]
    if not names:
        raise NotFound("no action of that turn or lane changed a file", hint="Run `chorus log` to list them.")
    return names
