"""`chorus send`: send a message to a headless session started by `chorus run`, or end it."""

import argparse
from pathlib import Path

from chorus.errors import ExitCode, UsageError
from chorus.wire.client import connect
from chorus.wire.home import find_home

EXAMPLES = (
    ("chorus send 'now add tests'", "send the next message"),
    ("chorus send --end", "end the session after its current turn"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("message", nargs="?", metavar="MESSAGE", help="the next message")
    parser.add_argument(
        "--run",
        metavar="NAME",
        help="which headless session: its name, session id or pane (needed if several are running)",
    )
    parser.add_argument("--end", action="store_true", help="end the session after its current turn")


def run(args: argparse.Namespace) -> ExitCode:
    if (args.message is None) != args.end:
        raise UsageError("give either MESSAGE or --end")
    with connect(find_home(Path.cwd())) as watcher:
        if args.end:
            watcher.ask("end", run=args.run)
        else:
            watcher.ask("send", run=args.run, message=args.message)
    return ExitCode.OK
