"""`chorus land`: commit a lane's actions to a branch."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from chorus.commands.access.watcher import open_watcher
from chorus.commands.parser.options import add_turn_option
from chorus.errors import ExitCode, UsageError
from chorus.output import print_err, print_json, print_out
from chorus.system.editor import edit_messages
from chorus.text.width import list_of
from chorus.wire.home import find_home

if TYPE_CHECKING:
    from chorus.model.api.json_api import LandJson
    from chorus.model.api.requests import LandArguments, LandMessage

ABOUT = """\
Commits what the lane's session changed and nothing else. What fits the branch is
landed; the rest stays open and is listed with the file, the line and the reason. If
nothing fits, the exit code is 5. Reverted actions and actions whose change is gone from
disk are left out unless you name them. Your uncommitted changes stay as they are, and
commit hooks and signing run as usual."""
EXAMPLES = (
    ("chorus land LANE", "one commit per turn, on the current branch"),
    ("chorus land LANE 12 14 --onto feature", "two actions, on a branch that is created if missing"),
    ("chorus land LANE --by all -m 'Add login'", "one commit for everything"),
    ("chorus land LANE --message-for 3f2a 'Add login'", "a message for one turn's commit"),
    ("chorus land LANE --turn 3f2a --fixup HEAD~2", "fold a turn into an earlier commit"),
    ("chorus land LANE --dry-run", "show the commits without making them"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lane", metavar="LANE", help="a name from `chorus lanes`")
    parser.add_argument(
        "actions",
        nargs="*",
        default=[],
        metavar="ACTION",
        help="only these: numbers from `chorus log`, or tool_use ids",
    )
    add_turn_option(parser)
    parser.add_argument("--kept", action="store_true", help="only actions marked with `chorus keep`")
    parser.add_argument(
        "--hunk", action="append", type=int, default=[], metavar="N",
        help="only this hunk of one action, numbered as in `chorus revert -p` (repeatable)",
    )  # fmt: skip
    parser.add_argument(
        "--by",
        choices=("turn", "action", "all"),
        default="turn",
        help="make one commit per turn, per action, or one for everything (default: turn)",
    )
    parser.add_argument(
        "--onto",
        metavar="BRANCH",
        help="the branch to commit to, created from HEAD if missing (default: the current one)",
    )
    parser.add_argument(
        "--with-context", action="store_true",
        help="first commit the uncommitted lines that the actions build on: yours, or another session's",
    )  # fmt: skip
    parser.add_argument(
        "--fixup", metavar="COMMIT", help="fold everything into this commit of the branch instead"
    )
    parser.add_argument(
        "-m",
        "--message",
        action="append",
        metavar="MSG",
        help="the commit message, to which Chorus adds its trailers; repeat it for more paragraphs "
        "(default: made from your messages to the agent)",
    )
    parser.add_argument(
        "--message-for", nargs=2, action="append", default=[], metavar=("TURN", "MSG"),
        help="the message for the commit of one turn, or of one action with --by action (repeatable)",
    )  # fmt: skip
    parser.add_argument("-e", "--edit", action="store_true", help="edit the messages in your editor")
    parser.add_argument("--dry-run", action="store_true", help="show the commits without making them")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> ExitCode:
    if args.hunk and len(args.actions) != 1:
        raise UsageError("hunks can be chosen from one action only", hint="Give one action.")
    if args.fixup and (args.message or args.message_for or args.edit):
        raise UsageError(
            "--fixup keeps the message of its commit", hint="Leave out -m, --message-for and -e."
        )
    wanted: LandArguments = {
        "cwd": str(Path.cwd()),
        "lane": args.lane,
        "actions": args.actions,
        "turns": args.turn,
        "kept": args.kept,
        "hunks": args.hunk,
        "by": args.by,
        "onto": args.onto,
        "with_context": args.with_context,
        "fixup": args.fixup,
        "message": "\n\n".join(args.message) if args.message else None,
        "named_messages": [{"name": name, "message": message} for name, message in args.message_for],
    }
    with open_watcher() as connection:
        connection.ask("sync")
        messages: list[LandMessage] = []
        if args.edit and not args.dry_run:
            preview: LandArguments = {**wanted, "dry_run": True}
            plan: LandJson = connection.ask("land", **preview)
            edited = [commit for commit in plan["commits"] if commit["actions"]]
            with tempfile.TemporaryDirectory(prefix="message-", dir=find_home(Path.cwd()).root) as directory:
                messages = edit_messages(edited, plan["onto"], Path(directory))
        wanted = {**wanted, "messages": messages, "dry_run": args.dry_run}
        done: LandJson = connection.ask("land", **wanted)
    if args.json:
        print_json(done)
        return ExitCode.OK
    _report(done)
    return ExitCode.OK


def _report(done: LandJson) -> None:
    would = "would be " if done["dry_run"] else ""
    for commit in done["commits"]:
        of = list_of(commit["actions"], "action") if commit["actions"] else "your uncommitted lines"
        name = commit["oid"][:8] if commit["oid"] else "would commit"
        print_out(f"{name} {commit['subject']} ({of})")
    if done["created"]:
        print_err(f"chorus: branch {done['onto']} {would}created from HEAD")
    if done["present"]:
        print_err(f"chorus: {done['onto']} already has {list_of(done['present'], 'action')}")
    for warning in done["warnings"]:
        print_err(f"chorus: {warning}")
    if done["left"]:
        count = len({place["n"] for place in done["left"]})
        print_err(f"chorus: {count} {'action' if count == 1 else 'actions'} {would}left open")
        for place in done["left"]:
            print_err(f"  action {place['n']}: {place['reason']}")
        for hint in done["hints"]:
            print_err(f"hint: {hint}")
