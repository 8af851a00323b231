"""`chorus drop`: delete a lane's branch, or restore it."""

import argparse
from pathlib import Path

from chorus.commands.access.watcher import open_watcher
from chorus.errors import ExitCode, UsageError
from chorus.output import print_json, print_out

ABOUT = "The recorded actions and your files stay. A dropped lane can be restored until you run `chorus gc`."
EXAMPLES = (
    ("chorus drop LANE", "delete the branch"),
    ("chorus drop LANE --restore", "restore it"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lane", metavar="LANE", nargs="?", help="a name from `chorus lanes`")
    parser.add_argument("--all", action="store_true", help="drop every lane of this work tree")
    parser.add_argument("--restore", action="store_true", help="restore a dropped lane")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> ExitCode:
    if (args.lane is None) != args.all or (args.all and args.restore):
        raise UsageError(
            "give either a lane or --all; --restore needs a lane",
            hint="Name one lane, or drop all lanes of this work tree with `chorus drop --all`.",
        )
    with open_watcher() as connection:
        done = connection.ask("drop", cwd=str(Path.cwd()), lane=args.lane, restore=args.restore)
    if args.json:
        print_json(done)
    else:
        print_out(f"{'restored' if args.restore else 'dropped'} {', '.join(done['lanes'])}")
    return ExitCode.OK
