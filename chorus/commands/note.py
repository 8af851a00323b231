"""`chorus note`: write a review note on an action or a line, for the agent that made the change."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from chorus.commands.access.watcher import open_watcher
from chorus.errors import ExitCode, UsageError
from chorus.output import print_err, print_json, print_out

if TYPE_CHECKING:
    from chorus.model.api.json_api import NoteJson

ABOUT = """\
The note is a draft until you run `chorus notes send`. Your next message to the session
that made the change also sends it. The agent gets all notes together, each quoting its
lines as they are at that moment."""
EXAMPLES = (
    ("chorus note 12 'this needs a test'", "a note on action 12"),
    ("chorus note 12:40 'what if it is None?'", "on line 40 of its file, as `chorus show 12` numbers it"),
    ("chorus note 12:src/cart.py:40 'too slow'", "if the action changed several files"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        metavar="ACTION[:[PATH:]LINE]",
        help="an action, and a line of the file as the action left it",
    )
    parser.add_argument("text", nargs="+", metavar="TEXT", help="what to tell the agent")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> ExitCode:
    action, path, line = parse_note_place(args.action)
    with open_watcher() as connection:
        connection.ask("sync")
        note: NoteJson = connection.ask(
            "note", cwd=str(Path.cwd()), action=action, text=" ".join(args.text), path=path, line=line
        )
    if args.json:
        print_json(note)
        return ExitCode.OK
    print_out(f"note {note['n']} on {render_place(note)}: draft")
    print_err("chorus: `chorus notes send` sends all drafts; they are also sent with your next message")
    return ExitCode.OK


def parse_note_place(text: str) -> tuple[str, str | None, int | None]:
    """Parse `12`, `12:40` or `12:src/cart.py:40` into action, path and line.

    The name of a work tree may precede the action: `feature:12:40`.
    """
    action, *rest = text.split(":")
    if rest and not action.isdigit() and rest[0].isdigit():
        action, rest = f"{action}:{rest[0]}", rest[1:]
    if not rest:
        return action, None, None
    *path, line = rest
    if not line.isdigit() or not int(line):
        raise UsageError(f"not a line number: {line or 'nothing'}", hint="Write ACTION:LINE, such as 12:40.")
    return action, ":".join(path) or None, int(line)


def render_place(note: NoteJson) -> str:
    line = f":{note['at']}" if note["at"] is not None else ""
    return f"action {note['action']}, {note['path']}{line}"
