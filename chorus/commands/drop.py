"""`chorus drop`: remove a lane's branch, or bring it back."""

import argparse
from pathlib import Path

from chorus.commands.access.history import watcher
from chorus.errors import ExitCode, UsageError
from chorus.output import print_json, print_out


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lane", metavar="LANE", nargs="?", help="a name that `chorus lanes` lists")
    parser.add_argument("--all", action="store_true", help="every lane of this work tree")
    parser.add_argument("--restore", action="store_true", help="bring a dropped lane back, until `chorus gc`")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> ExitCode:
    if (args.lane is None) != args.all or (args.all and args.restore):
        raise UsageError("name one lane", hint="Or drop all of this work tree with `chorus drop --all`.")
    with watcher() as connection:
        done = connection.ask("drop", cwd=str(Path.cwd()), lane=args.lane, restore=args.restore)
    if args.json:
        print_json(done)
    else:
        word = "restored" if args.restore else "dropped"
        print_out(f"{word} {', '.join(done['lanes'])}")
    return ExitCode.OK
