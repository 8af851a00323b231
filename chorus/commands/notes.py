"""`chorus notes`: list the notes to the agent, send the drafts, mark or drop notes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from chorus.commands.access.watcher import open_watcher
from chorus.commands.note import render_place
from chorus.commands.parser.options import add_here_option
from chorus.errors import ExitCode, UsageError
from chorus.output import print_err, print_json, print_out

if TYPE_CHECKING:
    from chorus.model.api.json_api import NoteJson, SentNotesJson
    from chorus.wire.client import Connection

ABOUT = """\
A note is first a draft, then sent, then addressed: by the session, when it changes the
lines of the note, or by you, with `chorus notes done`. Notes are delivered through the
session's hooks or the mod, or as a message to a headless session. Nothing is typed into
a pane."""
EXAMPLES = (
    ("chorus notes", "list the notes with their lines as they are now"),
    ("chorus notes send", "send all drafts, grouped by session"),
    ("chorus notes send 3 5", "send these two"),
    ("chorus notes done 3", "mark one as addressed"),
    ("chorus notes drop 3", "delete one"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "do", nargs="?", choices=("list", "send", "done", "drop"), default="list",
        metavar="list|send|done|drop",
        help="list notes (default), send drafts, mark notes as addressed, or delete them",
    )  # fmt: skip
    parser.add_argument("notes", nargs="*", type=int, metavar="N", help="only these notes")
    add_here_option(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> ExitCode:
    if args.do in ("drop", "done") and not args.notes:
        purpose = "delete" if args.do == "drop" else "mark as addressed"
        raise UsageError(f"no note given; name the notes to {purpose}, such as `chorus notes {args.do} 3`")
    with open_watcher() as connection:
        if args.do == "send":
            return _send(connection, args)
        if args.do == "drop":
            notes = connection.ask("drop_notes", cwd=str(Path.cwd()), notes=args.notes)
        elif args.do == "done":
            notes = connection.ask("address_notes", cwd=str(Path.cwd()), notes=args.notes)
        else:
            notes = connection.ask("notes", cwd=str(Path.cwd()), notes=args.notes, here=args.here)
    if args.json:
        print_json(notes)
        return ExitCode.OK
    if not notes:
        print_err("chorus: there are no notes; write one: chorus note ACTION TEXT")
        return ExitCode.NOT_FOUND
    for note in notes:
        if args.do == "drop":
            print_out(f"dropped note {note['n']}")
        else:
            _print(note)
    return ExitCode.OK


def _send(connection: Connection, args: argparse.Namespace) -> ExitCode:
    done: SentNotesJson = connection.ask("send_notes", cwd=str(Path.cwd()), notes=args.notes, here=args.here)
    if args.json:
        print_json(done)
        return ExitCode.OK
    print_out(f"sent {', '.join(map(str, done['sent']))}")
    for session in done["queued"]:
        print_err(f"chorus: session {session} gets them at its next step or with your next message")
    return ExitCode.OK


def _print(note: NoteJson) -> None:
    changed = "; its lines have changed since then" if note["changed"] else ""
    print_out(f"{note['n']} {note['state']}: {render_place(note)}{changed}")
    for offset, line in enumerate(note["quote"]):
        print_out(f"    {(note['at'] or 0) + offset:>5} | {line}")
    for line in note["text"].splitlines():
        print_out(f"  {line}")
