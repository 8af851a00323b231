"""`chorus redo`: redo reverted actions, byte for byte."""

import argparse
from pathlib import Path

from chorus.commands.access.watcher import open_watcher
from chorus.commands.revert import report
from chorus.errors import ExitCode

EXAMPLES = (("chorus redo 12", "redo the reverted action 12"),)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "actions",
        nargs="+",
        metavar="ACTION",
        help="the number of the reverted action, or of the action that reverted it",
    )
    parser.add_argument("--dry-run", action="store_true", help="show the exact change without making it")
    parser.add_argument("--no-notify", action="store_true", help="don't notify the session")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> ExitCode:
    with open_watcher() as connection:
        done = connection.ask(
            "redo",
            cwd=str(Path.cwd()),
            actions=args.actions,
            dry_run=args.dry_run,
            notify=not args.no_notify,
        )
    return report(done, args, "redone")
