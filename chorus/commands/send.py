"""`chorus send`: say something more to a headless session that `chorus run` started, or end it."""

import argparse
from pathlib import Path

from chorus.errors import ExitCode, UsageError
from chorus.wire.client import connect
from chorus.wire.home import find_home


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("message", nargs="?", metavar="MESSAGE", help="the next message")
    parser.add_argument("--run", metavar="NAME", help="which one: the run's name, session or pane")
    parser.add_argument("--end", action="store_true", help="let it finish what it does, and leave")


def run(args: argparse.Namespace) -> ExitCode:
    if (args.message is None) != args.end:
        raise UsageError("give a MESSAGE, or --end")
    with connect(find_home(Path.cwd())) as watcher:
        if args.end:
            watcher.ask("end", run=args.run)
        else:
            watcher.ask("send", run=args.run, message=args.message)
    return ExitCode.OK
