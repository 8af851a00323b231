"""`chorus revert`: take actions back, and nothing else."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from chorus.commands.access.history import absolute, watcher
from chorus.commands.diff import coloured_patch
from chorus.commands.terminal.hunk_picker import pick_hunks
from chorus.commands.terminal.pager import page
from chorus.errors import ExitCode, UsageError
from chorus.output import print_err, print_json, print_out
from chorus.text.sanitize import printable

# As many as a person reads; all of them are in the dry run, in `chorus show` and in the JSON.
MOST_PATHS = 5


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("actions", nargs="*", metavar="ACTION", help="numbers, tool_use ids or lane commits")
    parser.add_argument("--turn", metavar="ID", help="everything this turn did")
    parser.add_argument("--lane", metavar="NAME", help="everything on this lane")
    parser.add_argument("--path", action="append", default=[], metavar="PATH", help="only this file's part")
    parser.add_argument("-p", "--patch", action="store_true", help="pick hunks one by one")
    parser.add_argument(
        "--hunk", action="append", type=int, default=[], metavar="N", help="only this hunk, as -p counts them"
    )
    parser.add_argument("--dry-run", action="store_true", help="show the exact change and make none")
    parser.add_argument(
        "--with-dependents", action="store_true", help="also what was built on them, newest first"
    )
    parser.add_argument(
        "--markers", action="store_true", help="write conflict markers where it does not come apart"
    )
    parser.add_argument("--no-tell", action="store_true", help="do not let the session hear of it")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> ExitCode:
    if (args.patch or args.hunk) and (len(args.actions) != 1 or args.turn or args.lane):
        raise UsageError("hunks are taken back of one action at a time", hint="Name one action.")
    with watcher() as connection:
        hunks = args.hunk
        if args.patch:
            found = connection.ask("hunks", cwd=str(Path.cwd()), action=args.actions[0])
            if args.json:
                print_json(found)
                return ExitCode.OK
            hunks = pick_hunks(found)
            if not hunks:
                print_err("chorus: nothing was taken back")
                return ExitCode.OK
        done = connection.ask(
            "revert",
            cwd=str(Path.cwd()),
            actions=args.actions,
            turn=args.turn,
            lane=args.lane,
            path=[absolute(path) for path in args.path],
            hunks=hunks,
            dry_run=args.dry_run,
            with_dependents=args.with_dependents,
            markers=args.markers,
            notify=not args.no_tell,
        )
    return tell(done, args, "reverted")


def tell(done: dict[str, object], args: argparse.Namespace, word: str) -> ExitCode:
    if args.json:
        print_json(done)
    elif args.dry_run:
        page(coloured_patch(str(done["patch"])), "diff")
    else:
        numbers, paths = done.get("restored") or done["reverted"], done["paths"]
        assert isinstance(numbers, list)
        assert isinstance(paths, list)
        print_out(f"{word} {', '.join(map(str, numbers))} in {_named(paths)} (action {done['n']})")
        told = done["notified"]
        assert isinstance(told, list)
        if told:
            print_err(f"chorus: {', '.join(told)} will hear of it with its next step")
    return ExitCode.OK


def _named(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - MOST_PATHS} more" if len(paths) > MOST_PATHS else ""
    return ", ".join(map(printable, paths[:MOST_PATHS])) + more
