"""`chorus keep`: mark actions as reviewed, or reopen them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from chorus.commands.access.watcher import open_watcher
from chorus.commands.parser.options import add_action_options
from chorus.errors import ExitCode, NotFound
from chorus.output import print_json, print_out
from chorus.text.width import list_of

if TYPE_CHECKING:
    from chorus.model.api.json_api import KeepJson

ABOUT = """\
Kept actions are no longer listed by `chorus log --open`. No file is changed.
`--undo` reopens kept actions."""
EXAMPLES = (
    ("chorus keep 12 13", "mark two actions"),
    ("chorus keep --lane LANE", "mark everything on a lane"),
    ("chorus keep --undo 12", "reopen an action"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    add_action_options(parser)
    parser.add_argument("--undo", action="store_true", help="reopen kept actions")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> ExitCode:
    with open_watcher() as connection:
        done: KeepJson = connection.ask(
            "keep",
            cwd=str(Path.cwd()),
            actions=args.actions,
            turns=args.turn,
            lane=args.lane,
            undo=args.undo,
        )
    if args.json:
        print_json(done)
    elif done["kept"] or done["reopened"]:
        numbers = ", ".join(map(str, done["kept"] or done["reopened"]))
        print_out(f"{'reopened' if args.undo else 'kept'} {numbers}")
    else:
        status, option = ("kept", "--status kept") if args.undo else ("open", "--open")
        raise NotFound(
            _describe_missing(args, status),
            hint=f"Run `chorus log {option}` to list the {status} actions.",
        )
    return ExitCode.OK


def _describe_missing(args: argparse.Namespace, status: str) -> str:
    if args.actions:
        verb = "is" if len(args.actions) == 1 else "are"
        return f"{list_of(args.actions, 'action')} {verb} not {status}"
    turns = [f"turn {turn}" for turn in args.turn]
    where = " and ".join([*turns, *([f"lane {args.lane}"] if args.lane else [])])
    return f"no {status} action in {where}"
