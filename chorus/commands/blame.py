"""`chorus blame`: which action wrote each line of a file."""

from __future__ import annotations

import os

from chorus.commands.access.history import read_blame
from chorus.commands.terminal.pager import page
from chorus.errors import ExitCode
from chorus.model.commits.commit_message import shorten
from chorus.output import print_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from chorus.model.api.json_api import BlameLineJson

ABOUT = "Works for uncommitted lines, and after landing, rebasing or squashing."
EXAMPLES = (
    ("chorus blame app.py", "every line"),
    ("chorus blame app.py:12", "line 12"),
)
MESSAGE_LENGTH = 40


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE[:LINE]", help="a file, or one line of it")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> ExitCode:
    name, line = parse_file_line(args.file)
    found = read_blame(name, line)
    if args.json:
        print_json(found)
    else:
        page(map(render_line, found), "blame")
    return ExitCode.OK


def parse_file_line(text: str) -> tuple[str, int | None]:
    """Split FILE:LINE, unless a file with the whole text as its name exists."""
    name, colon, number = text.rpartition(":")
    if colon and number.isdecimal() and not os.path.exists(text):
        return name, int(number)
    return text, None


def render_line(found: BlameLineJson) -> str:
    if found["id"] is None:
        who = "no action"
    elif found["n"] is None:
        who = f"{found['id']} ({found['session']})"
    else:
        about = shorten(found["message"] or found["summary"] or "", MESSAGE_LENGTH)
        session = (found["session"] or "")[:8]
        who = f"{found['n']} {found['tool']} {session} {(found['time'] or '')[:16]} {about}"
    return f"{who:<86} {found['line']:>5}) {found['text']}"
