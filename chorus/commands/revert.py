"""`chorus revert`: revert actions without touching anything else."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chorus.commands.access.history import absolute
from chorus.commands.access.watcher import open_watcher
from chorus.commands.parser.options import add_action_options
from chorus.commands.terminal.hunk_picker import pick_hunks
from chorus.commands.terminal.pager import page
from chorus.commands.terminal.patch import render_patch
from chorus.errors import ExitCode, UsageError
from chorus.model.review_state import render_revert_warnings
from chorus.output import print_err, print_json, print_out
from chorus.text.width import list_of

if TYPE_CHECKING:
    from chorus.model.api.json_api import RevertJson

ABOUT = """\
Reverts exactly the changes of the actions and keeps other edits made since. If later
changes touch the same lines, no file is changed, those changes are listed, and the
exit code is 5."""
EXAMPLES = (
    ("chorus revert 12", "revert action 12"),
    ("chorus revert 12 -p", "choose its hunks one by one"),
    ("chorus revert --turn 3f2a --dry-run", "show what reverting a whole turn would change"),
)
# More paths would hide the numbers. The dry run, `chorus show` and the JSON list all paths.
MAX_LISTED_PATHS = 5


def configure(parser: argparse.ArgumentParser) -> None:
    add_action_options(parser)
    parser.add_argument(
        "--path", action="append", default=[], metavar="PATH", help="only this file or directory (repeatable)"
    )
    parser.add_argument("-p", "--patch", action="store_true", help="choose hunks interactively")
    parser.add_argument(
        "--hunk",
        action="append",
        type=int,
        default=[],
        metavar="N",
        help="only this hunk, numbered as in -p (repeatable)",
    )
    parser.add_argument("--dry-run", action="store_true", help="show the exact change without making it")
    parser.add_argument(
        "--with-dependents", action="store_true", help="also revert later actions that changed the same lines"
    )
    parser.add_argument(
        "--markers", action="store_true", help="write conflict markers for hunks that conflict"
    )
    parser.add_argument("--no-notify", action="store_true", help="don't notify the session")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> ExitCode:
    if (args.patch or args.hunk) and (len(args.actions) != 1 or args.turn or args.lane):
        raise UsageError("hunks can be chosen from one action only", hint="Give one action.")
    with open_watcher() as connection:
        hunks = args.hunk
        if args.patch:
            found = connection.ask("hunks", cwd=str(Path.cwd()), action=args.actions[0])
            if args.json:
                print_json(found)
                return ExitCode.OK
            hunks = pick_hunks(found)
            if not hunks:
                print_err("chorus: nothing was reverted")
                return ExitCode.OK
        done = connection.ask(
            "revert",
            cwd=str(Path.cwd()),
            actions=args.actions,
            turns=args.turn,
            lane=args.lane,
            path=[absolute(path) for path in args.path],
            hunks=hunks,
            dry_run=args.dry_run,
            with_dependents=args.with_dependents,
            markers=args.markers,
            notify=not args.no_notify,
        )
    return report(done, args, "reverted")


def report(done: RevertJson, args: argparse.Namespace, verb: str) -> ExitCode:
    """Print what a revert or redo did, or would do."""
    if args.json:
        print_json(done)
    elif args.dry_run:
        page(render_patch(done["patch"]), "diff")
    else:
        numbers = ", ".join(map(str, done.get("restored") or done["reverted"]))
        made = done.get("made", [])
        this = "this is" if len(made) == 1 else "these are"
        print_out(f"{verb} {numbers} in {_render_paths(done['paths'])}; {this} {list_of(made, 'action')}")
        if sessions := done.get("notified"):
            whose = "its" if len(sessions) == 1 else "their"
            print_err(f"chorus: {', '.join(sessions)} will be notified at {whose} next step")
    for warning in render_revert_warnings([] if args.json else done.get("warnings", [])):
        print_err(f"chorus: warning: {warning}")
    return ExitCode.OK


def _render_paths(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - MAX_LISTED_PATHS} more" if len(paths) > MAX_LISTED_PATHS else ""
    return ", ".join(paths[:MAX_LISTED_PATHS]) + more
