"""`chorus diff`: what actions changed, as git prints it, with the user's own diff settings."""

import argparse
from collections.abc import Iterator

from chorus.commands.history import read_action, read_log
from chorus.commands.paging import page, wants_colour
from chorus.errors import ExitCode, UsageError
from chorus.output import answer_json

HEADER, HUNK, ADDED, REMOVED = "1", "36", "32", "31"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("actions", nargs="*", metavar="ACTION", help="numbers, tool_use ids or lane commits")
    parser.add_argument("--turn", metavar="ID", help="all of this turn's")
    parser.add_argument("--lane", metavar="NAME", help="all of this lane's")
    parser.add_argument("--json", action="store_true", help="a list of patches, for programs")


def run(args: argparse.Namespace) -> ExitCode:
    names = args.actions or _names(args)
    if args.json:
        shown = [read_action(name) for name in names]
        answer_json([{"n": one["n"], "id": one["id"], "patch": one["patch"]} for one in shown])
        return ExitCode.DONE
    page(line for name in names for line in coloured_patch(read_action(name)["patch"]))
    return ExitCode.DONE


def coloured_patch(patch: str) -> Iterator[str]:
    """The lines of a patch, harmless in a terminal, in git's colours where colours are wanted."""
    colour = wants_colour()
    for line in patch.splitlines():
        text = "".join(char if char.isprintable() or char == "\t" else "�" for char in line)
        code = _colour_of(line) if colour else None
        yield f"\x1b[{code}m{text}\x1b[0m" if code else text


def _names(args: argparse.Namespace) -> list[str]:
    if args.turn is None and args.lane is None:
        raise UsageError("name the actions, or a turn or a lane", hint="`chorus log` lists them.")
    return [str(e["n"]) for e in read_log(turn=args.turn, lane=args.lane) if e["commit"] and not e["within"]]


def _colour_of(line: str) -> str | None:
    if line.startswith(
        ("diff ", "index ", "--- ", "+++ ", "new file", "deleted file", "old mode", "new mode")
    ):
        return HEADER
    if line.startswith("@@"):
        return HUNK
    return ADDED if line.startswith("+") else REMOVED if line.startswith("-") else None
