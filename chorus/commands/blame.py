"""`chorus blame`: which action wrote a line, and what it was asked for."""

import argparse
from pathlib import Path

from chorus.commands.access.history import read_blame
from chorus.commands.terminal.pager import page
from chorus.errors import ExitCode
from chorus.model.commit_message import shorten
from chorus.model.json_api import BlameLineJson
from chorus.output import print_json
from chorus.text.sanitize import printable

MESSAGE_LENGTH = 40


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE[:LINE]", help="a file, or one line of it")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> ExitCode:
    name, line = parse_place(args.file)
    found = read_blame(name, line)
    if args.json:
        print_json(found)
    else:
        page([render_line(each) for each in found], "blame")
    return ExitCode.OK


def parse_place(text: str) -> tuple[str, int | None]:
    """A file whose name ends in a colon and a number is that file."""
    name, colon, number = text.rpartition(":")
    if colon and number.isdecimal() and not (Path.cwd() / text).exists():
        return name, int(number)
    return text, None


def render_line(found: BlameLineJson) -> str:
    if found["id"] is None:
        who = "no action"
    elif found["n"] is None:
        who = f"{found['id']} ({found['session']})"
    else:
        asked = shorten(found["message"] or found["summary"] or "", MESSAGE_LENGTH)
        session = (found["session"] or "")[:8]
        who = f"{found['n']} {found['tool']} {session} {(found['time'] or '')[:16]} {asked}"
    text = printable(found["text"], keep="\t")
    return f"{printable(who):<86} {found['line']:>5}) {text}"
