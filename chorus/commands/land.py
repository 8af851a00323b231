"""`chorus land`: make clean commits of what a lane holds, on a branch of the user's."""

import argparse
from pathlib import Path

from chorus.commands.history import agent
from chorus.errors import ExitCode
from chorus.output import answer, answer_json, note


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lane", metavar="LANE", help="a name that `chorus lanes` lists")
    parser.add_argument("--by", choices=("turn", "action", "all"), default="turn", help="one commit for each")
    parser.add_argument("--onto", metavar="BRANCH", help="the branch to land on; else the one checked out")
    parser.add_argument("-m", "--message", metavar="MSG", help="the commit message, before its trailers")
    parser.add_argument("--dry-run", action="store_true", help="say which commits that would make")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> ExitCode:
    with agent() as connection:
        connection.ask("sync")
        done = connection.ask(
            "land",
            cwd=str(Path.cwd()),
            lane=args.lane,
            by=args.by,
            onto=args.onto,
            message=args.message,
            dry_run=args.dry_run,
        )
    if args.json:
        answer_json(done)
        return ExitCode.DONE
    for commit in done["commits"]:
        numbers = ", ".join(map(str, commit["actions"]))
        answer(f"{(commit['oid'] or 'would be')[:8]} {commit['subject']} (action {numbers})")
    if done["present"]:
        note(f"chorus: {done['onto']} holds {', '.join(map(str, done['present']))} already")
    return ExitCode.DONE
