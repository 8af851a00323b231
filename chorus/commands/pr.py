"""`chorus pr`: print a lane as a pull request, in Markdown."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from chorus.commands.access.watcher import open_watcher
from chorus.errors import ExitCode
from chorus.output import print_json, print_out

if TYPE_CHECKING:
    from chorus.model.api.json_api import PullRequestJson

ABOUT = """\
Prints what was asked, what was done (with links to the lines), what was reverted and
why, your notes, and the tests that were run. Land the lane and push the branch first:
links lead to the current commit at the remote `origin`. Nothing is sent anywhere."""
EXAMPLES = (
    ("chorus pr LANE", "print the description"),
    ("chorus pr LANE --title", "print only the title"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lane", metavar="LANE", help="a lane from `chorus lanes`")
    parser.add_argument("--title", action="store_true", help="print only the title")
    parser.add_argument("--json", action="store_true", help="print title and description as JSON")


def run(args: argparse.Namespace) -> ExitCode:
    with open_watcher() as connection:
        found: PullRequestJson = connection.ask("pull_request", cwd=str(Path.cwd()), lane=args.lane)
    if args.json:
        print_json(found)
    elif args.title:
        print_out(found["title"])
    else:
        for line in found["body"].splitlines():
            print_out(line)
    return ExitCode.OK
