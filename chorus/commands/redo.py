"""`chorus redo`: bring back what was reverted, byte for byte."""

import argparse
from pathlib import Path

from chorus.commands.access.history import watcher
from chorus.commands.revert import tell
from chorus.errors import ExitCode


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("actions", nargs="+", metavar="ACTION", help="the reverted action, or its revert")
    parser.add_argument("--dry-run", action="store_true", help="show the exact change and make none")
    parser.add_argument("--no-tell", action="store_true", help="do not let the session hear of it")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> ExitCode:
    with watcher() as connection:
        done = connection.ask(
            "redo",
            cwd=str(Path.cwd()),
            actions=args.actions,
            dry_run=args.dry_run,
            notify=not args.no_tell,
        )
    return tell(done, args, "brought back")
