"""`chorus diff`: the changes of actions, as git prints them, with the user's own diff settings."""

from __future__ import annotations

from chorus.commands.access.history import read_actions, read_log
from chorus.commands.parser.options import add_action_options
from chorus.commands.terminal.pager import page
from chorus.commands.terminal.patch import render_patch
from chorus.errors import ExitCode, NotFound, UsageError
from chorus.output import print_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

EXAMPLES = (
    ("chorus diff 12 14", "the changes of actions 12 and 14"),
    ("chorus diff --turn 3f2a --turn 81bc", "the changes of two turns"),
)


def configure(parser: ArgumentParser) -> None:
    add_action_options(parser)
    parser.add_argument("--json", action="store_true", help="print a JSON list of patches")


def run(args: Namespace) -> ExitCode:
    actions = read_actions(_action_names(args), user_diff=not args.json)
    if args.json:
        print_json([{"n": action["n"], "id": action["id"], "patch": action["patch"]} for action in actions])
    else:
        page((line for action in actions for line in render_patch(action["patch"])), "diff")
    return ExitCode.OK


def _action_names(args: Namespace) -> list[str]:
    by_turn_or_lane = args.turn or args.lane is not None
    if args.actions and by_turn_or_lane:
        raise UsageError("give either actions or --turn/--lane, not both", hint="Leave one out.")
    if not args.actions and not by_turn_or_lane:
        raise UsageError(
            "no ACTION, --turn or --lane was given", hint="Run `chorus log` to list actions and turns."
        )
    if args.actions:
        return list(args.actions)
    selections = [[turn] for turn in args.turn] or [[]]
    entries = [entry for turns in selections for entry in read_log(turns=turns, lane=args.lane)]
    numbers = {entry["n"] for entry in entries if entry["n"] and entry["commit"] and not entry["within"]}
    names = [str(number) for number in sorted(numbers)]
    if not names:
        raise NotFound(
            "no action of that turn or lane changed a file",
            hint="Run `chorus log` to list actions and turns.",
        )
    return names
