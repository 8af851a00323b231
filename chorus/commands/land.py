"""`chorus land`: commit a lane's actions to a branch."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chorus.commands.access.watcher import open_watcher
from chorus.commands.terminal.editor import CommitMessage, edit_messages
from chorus.errors import ExitCode
from chorus.output import print_err, print_json, print_out
from chorus.wire.home import find_home

if TYPE_CHECKING:
    from chorus.model.json_api import LandJson

ABOUT = """\
Commits what the lane's session changed and nothing else. Reverted actions are left
out, your uncommitted changes stay, and commit hooks and signing run as usual."""
EXAMPLES = (
    ("chorus land LANE", "one commit per turn, on the current branch"),
    ("chorus land LANE --by all -m 'Add login'", "one commit for everything"),
    ("chorus land LANE --onto feature --dry-run", "show the commits without making them"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lane", metavar="LANE", help="a name from `chorus lanes`")
    parser.add_argument(
        "--by",
        choices=("turn", "action", "all"),
        default="turn",
        help="make one commit per turn, per action, or for all (default: turn)",
    )
    parser.add_argument("--onto", metavar="BRANCH", help="the branch to commit to (default: the current one)")
    parser.add_argument(
        "-m",
        "--message",
        metavar="MSG",
        help="the commit message; Chorus adds its trailers (default: made from your messages)",
    )
    parser.add_argument("-e", "--edit", action="store_true", help="edit the messages in your editor")
    parser.add_argument("--dry-run", action="store_true", help="show the commits without making them")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> ExitCode:
    wanted: dict[str, Any] = {"cwd": str(Path.cwd()), "lane": args.lane, "by": args.by, "onto": args.onto}
    wanted["message"] = args.message
    with open_watcher() as connection:
        connection.ask("sync")
        messages: list[CommitMessage] = []
        if args.edit and not args.dry_run:
            plan: LandJson = connection.ask("land", **wanted, dry_run=True)
            with tempfile.TemporaryDirectory(prefix="message-", dir=find_home(Path.cwd()).root) as directory:
                messages = edit_messages(plan["commits"], plan["onto"], Path(directory))
        done: LandJson = connection.ask("land", **wanted, messages=messages, dry_run=args.dry_run)
    if args.json:
        print_json(done)
        return ExitCode.OK
    for commit in done["commits"]:
        actions = "action" if len(commit["actions"]) == 1 else "actions"
        numbers = ", ".join(map(str, commit["actions"]))
        print_out(f"{(commit['oid'] or 'would be')[:8]} {commit['subject']} ({actions} {numbers})")
    if done["present"]:
        print_err(f"chorus: {done['onto']} already has {', '.join(map(str, done['present']))}")
    return ExitCode.OK
