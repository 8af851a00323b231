"""`chorus interrupt`: interrupt the turn of a headless session started by `chorus run`."""

import argparse
from pathlib import Path

from chorus.errors import ExitCode
from chorus.output import print_json, print_out
from chorus.wire.client import connect
from chorus.wire.home import find_home

ABOUT = """\
Asks the client first; if it stops, the session goes on and takes further messages. A
client that does not react within 5 seconds gets SIGINT, then SIGTERM: continue such a
session with `chorus run --resume`."""
EXAMPLES = (("chorus interrupt", "interrupt the turn of the only headless session"),)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--run",
        metavar="NAME",
        help="which headless session: its name, session id or pane (needed if several are running)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> ExitCode:
    with connect(find_home(Path.cwd())) as watcher:
        done = watcher.ask("interrupt", run=args.run)
    if args.json:
        print_json(done)
    else:
        how = "" if done["how"] == "request" else f" by {done['how']}: its client has ended"
        print_out(f"{done['run']} interrupted{how}")
    return ExitCode.OK
