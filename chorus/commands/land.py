"""`chorus land`: make clean commits of what a lane holds, on a branch of the user's."""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from chorus.commands.access.history import watcher
from chorus.commands.terminal.editor import edit_messages
from chorus.errors import ExitCode
from chorus.output import print_err, print_json, print_out
from chorus.wire.home import find_home


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lane", metavar="LANE", help="a name that `chorus lanes` lists")
    parser.add_argument(
        "--by", choices=("turn", "action", "all"), default="turn", help="one commit for each (default: turn)"
    )
    parser.add_argument("--onto", metavar="BRANCH", help="the branch to land on; else the one checked out")
    parser.add_argument("-m", "--message", metavar="MSG", help="the commit message, before its trailers")
    parser.add_argument("-e", "--edit", action="store_true", help="write the messages in your editor")
    parser.add_argument("--dry-run", action="store_true", help="say which commits that would make")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> ExitCode:
    wanted: dict[str, Any] = {"cwd": str(Path.cwd()), "lane": args.lane, "by": args.by, "onto": args.onto}
    with watcher() as connection:
        connection.ask("sync")
        messages = []
        if args.edit and not args.dry_run:
            planned = connection.ask("land", **wanted, message=args.message, dry_run=True)
            with tempfile.TemporaryDirectory(prefix="message-", dir=find_home(Path.cwd()).root) as folder:
                messages = edit_messages(planned["commits"], planned["onto"], Path(folder))
        done = connection.ask("land", **wanted, message=args.message, messages=messages, dry_run=args.dry_run)
    if args.json:
        print_json(done)
        return ExitCode.OK
    for commit in done["commits"]:
        actions = "action" if len(commit["actions"]) == 1 else "actions"
        numbers = ", ".join(map(str, commit["actions"]))
        print_out(f"{(commit['oid'] or 'would be')[:8]} {commit['subject']} ({actions} {numbers})")
    if done["present"]:
        print_err(f"chorus: {done['onto']} holds {', '.join(map(str, done['present']))} already")
    return ExitCode.OK
