"""`chorus revert`: take actions back, and nothing else."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from chorus.commands.diff import coloured_patch
from chorus.commands.history import absolute, watcher
from chorus.commands.paging import page
from chorus.commands.picking import pick
from chorus.errors import ExitCode, UsageError
from chorus.output import answer, answer_json, inert, note

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
                answer_json(found)
                return ExitCode.DONE
            hunks = pick(found)
            if not hunks:
                note("chorus: nothing was taken back")
                return ExitCode.DONE
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
        answer_json(done)
    elif args.dry_run:
        page(coloured_patch(str(done["patch"])), "diff")
    else:
        numbers, paths = done.get("restored") or done["reverted"], done["paths"]
        assert isinstance(numbers, list)
        assert isinstance(paths, list)
        answer(f"{word} {', '.join(map(str, numbers))} in {_named(paths)} (action {done['n']})")
        told = done["notified"]
        assert isinstance(told, list)
        if told:
            note(f"chorus: {', '.join(told)} will hear of it with its next step")
    return ExitCode.DONE


def _named(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - MOST_PATHS} more" if len(paths) > MOST_PATHS else ""
    return ", ".join(map(inert, paths[:MOST_PATHS])) + more
