"""`chorus diff`: what actions changed, as git prints it, with the user's own diff settings."""

import argparse
from collections.abc import Iterator

from chorus.commands.access.history import read_actions, read_log
from chorus.commands.terminal.git_settings import RESET, diff_colours, read_diff, wants_colour
from chorus.commands.terminal.pager import page
from chorus.errors import ExitCode, NotFound, UsageError
from chorus.model.json_api import ActionJson
from chorus.output import print_json
from chorus.text.sanitize import printable


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("actions", nargs="*", metavar="ACTION", help="numbers, tool_use ids or lane commits")
    parser.add_argument("--turn", metavar="ID", help="all of this turn's")
    parser.add_argument("--lane", metavar="NAME", help="all of this lane's")
    parser.add_argument("--json", action="store_true", help="a list of patches, for programs")


def run(args: argparse.Namespace) -> ExitCode:
    names = _names(args)
    if args.json:
        shown = read_actions(names)
        print_json([{"n": one["n"], "id": one["id"], "patch": one["patch"]} for one in shown])
        return ExitCode.OK
    page((line for shown in read_actions(names) for line in shown_patch(shown)), "diff")
    return ExitCode.OK


def shown_patch(shown: ActionJson) -> Iterator[str]:
    """The patch of an action as `git diff` would show it to this user."""
    record = shown["timeline"]
    yield from coloured_patch((record and read_diff(f"{record}^", record)) or shown["patch"])


def coloured_patch(patch: str) -> Iterator[str]:
    """The lines of a patch, harmless in a terminal, in the user's colours where colours are wanted."""
    colours = diff_colours() if wants_colour("diff") else None
    above = False
    for line in patch.split("\n")[: -1 if patch.endswith("\n") else None]:
        above = line.startswith("diff ") or (above and not line.startswith("@@"))
        text = printable(line, keep="\t")
        colour = colours[_kind_of(line, above=above)] if colours else ""
        yield f"{colour}{text}{RESET}" if colour else text


def _names(args: argparse.Namespace) -> list[str]:
    if (args.turn is None and args.lane is None) == (not args.actions):
        raise UsageError("name the actions, or a turn or a lane", hint="`chorus log` lists them.")
    if args.actions:
        return list(args.actions)
    found = read_log(turn=args.turn, lane=args.lane)
    names = [str(entry["n"]) for entry in found if entry["commit"] and not entry["within"]]
    if not names:
        raise NotFound("no action of that turn or lane changed a file", hint="`chorus log` lists them.")
    return names


def _kind_of(line: str, *, above: bool) -> str:
    if above:
        return "meta"
    kinds = {"@": "frag", "+": "new", "-": "old"}
    return kinds.get(line[:1], "context")
