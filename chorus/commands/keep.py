"""`chorus keep`: mark actions as reviewed."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from chorus.commands.access.watcher import open_watcher
from chorus.commands.parser.argument_parser import add_action_options
from chorus.errors import ExitCode, NotFound
from chorus.output import print_json, print_out

if TYPE_CHECKING:
    from chorus.model.json_api import KeepJson

ABOUT = "Kept actions are no longer listed by `chorus log --open`. No file is changed."
EXAMPLES = (
    ("chorus keep 12 13", "mark two actions"),
    ("chorus keep --lane LANE", "mark everything on a lane"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    add_action_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> ExitCode:
    with open_watcher() as connection:
        done: KeepJson = connection.ask(
            "keep", cwd=str(Path.cwd()), actions=args.actions, turn=args.turn, lane=args.lane
        )
    if args.json:
        print_json(done)
    elif done["kept"]:
        print_out(f"kept {', '.join(map(str, done['kept']))}")
    else:
        raise NotFound(
            f"{_describe_selection(args)}: no open action",
            hint="Run `chorus log --open` to list the open actions.",
        )
    return ExitCode.OK


def _describe_selection(args: argparse.Namespace) -> str:
    if args.actions:
        return f"action {', '.join(args.actions)}"
    return " and ".join(f"{name} {getattr(args, name)}" for name in ("turn", "lane") if getattr(args, name))
