"""`chorus keep`: mark actions as reviewed, so that they leave the queue."""

import argparse
from pathlib import Path

from chorus.commands.access.history import watcher
from chorus.errors import ExitCode, NotFound
from chorus.output import print_json, print_out


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("actions", nargs="*", metavar="ACTION", help="numbers, tool_use ids or lane commits")
    parser.add_argument("--turn", metavar="ID", help="everything this turn did")
    parser.add_argument("--lane", metavar="NAME", help="everything on this lane")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> ExitCode:
    with watcher() as connection:
        done = connection.ask(
            "keep", cwd=str(Path.cwd()), actions=args.actions, turn=args.turn, lane=args.lane
        )
    if args.json:
        print_json(done)
    elif done["kept"]:
        print_out(f"kept {', '.join(map(str, done['kept']))}")
    else:
        raise NotFound(f"{_named(args)}: nothing is open there", hint="`chorus log --open` lists what is.")
    return ExitCode.OK


def _named(args: argparse.Namespace) -> str:
    if args.actions:
        return f"action {', '.join(args.actions)}"
    return " and ".join(f"{name} {getattr(args, name)}" for name in ("turn", "lane") if getattr(args, name))
