"""`chorus interrupt`: interrupt the turn of a headless session started by `chorus run`."""

import argparse

from chorus.commands.access.watcher import open_watcher
from chorus.errors import ExitCode
from chorus.output import print_json, print_out

ABOUT = """\
Asks the client to stop its turn; the session then takes further messages. A client that
does not react within 5 seconds gets SIGINT, then SIGTERM, and ends: continue its session
with `chorus run --resume`."""
EXAMPLES = (("chorus interrupt", "interrupt the turn of the only headless session"),)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--run",
        metavar="NAME",
        help="which headless session: its name, pane or session id (needed if several are running)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> ExitCode:
    with open_watcher() as watcher:
        done = watcher.ask("interrupt", run=args.run)
    if args.json:
        print_json(done)
    else:
        how = "" if done["how"] == "request" else f" by {done['how']}: its client has ended"
        print_out(f"{done['run']} interrupted{how}")
    return ExitCode.OK
