"""`chorus log`: what the agent did, action by action, grouped by what it was asked.

The newest comes first, as in `git log`, and is on the screen before the rest is asked for.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby, islice
from typing import Any

from chorus.commands.access.history import absolute, read_log, read_whole_log
from chorus.commands.parser.argument_parser import parse_count
from chorus.commands.terminal.git_settings import wants_colour
from chorus.commands.terminal.pager import page
from chorus.errors import ExitCode
from chorus.model.json_api import LogEntryJson
from chorus.output import print_err, print_json
from chorus.text.sanitize import printable

STATUSES = ("committed", "reverted", "kept", "noop", "failed", "denied", "outside")
COLOURS = {"committed": "33", "kept": "32", "reverted": "31", "failed": "31", "denied": "31", "outside": "36"}
MOST_PATHS = 2
# More than any screen shows: what follows is asked for while a person reads this.
FIRST_SCREEN = 200
# Each further page is so many times as long: few requests, and none that keeps the watcher busy for nobody.
GROWTH = 4
# Of a turn's name, enough to tell it from others; `--turn` takes any beginning.
TURN_LENGTH = 8


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lane", metavar="NAME", help="only this lane's")
    parser.add_argument("--turn", metavar="ID", help="only this turn's: its name, or how that begins")
    parser.add_argument("--path", metavar="PATH", help="only what changed this file, or files below it")
    parser.add_argument("--tool", metavar="NAME", help="only this tool's (Edit, Write, Bash, …)")
    parser.add_argument("--status", choices=STATUSES, help="only with this status")
    parser.add_argument("--since", metavar="TIME", help="only since then: 2h, 3d, 2026-01-31T14:00")
    parser.add_argument("--outside", action="store_true", help="also what no action changed")
    parser.add_argument(
        "--open", action="store_true", help="only what nobody has kept, reverted or landed yet"
    )
    parser.add_argument("--reverse", action="store_true", help="oldest first")
    parser.add_argument("-n", dest="limit", type=parse_count, metavar="COUNT", help="only the newest so many")
    parser.add_argument(
        "--prompts",
        action="store_true",
        help="instead: which prompts were answered, by whom, with which keys",
    )
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> ExitCode:
    if args.prompts:
        from chorus.commands.answered import list_answered  # noqa: PLC0415  the watcher's modules are heavy

        return list_answered(args)
    names = ("lane", "turn", "tool", "status", "since", "outside", "open")
    wanted = {name: getattr(args, name) for name in names}
    wanted["path"] = absolute(args.path) if args.path else None
    if args.json:
        print_json(read_whole_log(**wanted, limit=args.limit))
        return ExitCode.OK
    first = read_log(
        **wanted, limit=args.limit if args.reverse else min(args.limit or FIRST_SCREEN, FIRST_SCREEN)
    )
    if not first:
        narrowed = any(wanted.values()) or args.limit is not None
        print_err(f"chorus: nothing is recorded {'that fits' if narrowed else 'yet'}")
        return ExitCode.NOT_FOUND
    entries = iter(first) if args.reverse else newest_first(first, wanted, args.limit)
    page(render(entries, len(str(first[-1]["n"] or 0)), colour=wants_colour()), "log")
    return ExitCode.OK


def newest_first(
    first: list[LogEntryJson], wanted: dict[str, Any], limit: int | None
) -> Iterator[LogEntryJson]:
    """What is read already, then what is older, page by page: each asked for when somebody comes that far."""
    return islice(_pages(first, wanted), limit or None)


def _pages(page: list[LogEntryJson], wanted: dict[str, Any]) -> Iterator[LogEntryJson]:
    size, before = FIRST_SCREEN, None
    oldest: LogEntryJson | None = None
    while page:
        # What no action made has no number to ask from: it comes again with what is before the next action.
        places = (place for place, entry in enumerate(page) if oldest and _same(entry, oldest))
        yield from reversed(page[: next(places, None)])
        if len(page) < size:
            return
        oldest = page[0]
        before = next((entry["n"] for entry in page if entry["n"] is not None), before)
        size *= GROWTH
        page = read_log(**wanted, before=before, limit=size)


def render(entries: Iterable[LogEntryJson], width: int, *, colour: bool) -> Iterator[str]:
    """A heading whenever the turn changes. `width`: of the numbers."""
    for _, turn in groupby(entries, _turns()):
        read = list(_until_lane(turn))
        if read[0]["status"] != "outside":
            yield paint(_heading(read[0], read[-1]["lane"]), "1", colour)
        for entry in chain(read, turn):
            yield _line(entry, width, colour)


def _turns() -> Callable[[LogEntryJson], object]:
    """Which turn an entry stands under: what no action made, under the one before it."""
    turn: object = None

    def turn_of(entry: LogEntryJson) -> object:
        nonlocal turn
        if entry["status"] != "outside":
            turn = (entry["session"], entry["turn"])
        return turn

    return turn_of


def _until_lane(turn: Iterable[LogEntryJson]) -> Iterator[LogEntryJson]:
    """As much of a turn as its heading needs: calls that changed nothing are on no lane."""
    for entry in islice(turn, FIRST_SCREEN):
        yield entry
        if entry["lane"]:
            return


def _same(one: LogEntryJson, other: LogEntryJson) -> bool:
    return all(one[key] == other[key] for key in ("n", "id", "timeline"))


def paint(text: str, code: str | None, colour: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if colour and code else text


def _heading(entry: LogEntryJson, lane: str | None) -> str:
    message = " ".join((entry["message"] or "(no message)").split())
    branch = f"  [{lane}]" if lane else ""
    turn = f"  turn {entry['turn'][:TURN_LENGTH]}" if entry["turn"] else ""
    return printable(f"> {message[:100]}{branch}{turn}")


def _line(entry: LogEntryJson, width: int, colour: bool) -> str:
    number = str(entry["n"]) if entry["n"] is not None else "\u00b7"
    status = "landed" if entry["landed"] and entry["status"] in ("committed", "kept") else entry["status"]
    mark = paint(f"{status:<9}", COLOURS.get(status), colour)
    tool = entry["tool"] or ""
    sub = " (sub-agent)" if entry["agent"] else ""
    return f"  {number:>{width}} {mark} {tool:<12} {_counts(entry, colour)} {printable(_what(entry))}{sub}"


def _counts(entry: LogEntryJson, colour: bool) -> str:
    """Lines added and removed, in a column of their own."""
    added, removed = entry["added"], entry["removed"]
    if added is None or removed is None:
        return " " * 11
    plus, minus = f"{f'+{added}':>5}", f"{f'-{removed}':<5}"
    return f"{paint(plus, '32', colour)} {paint(minus, '31', colour)}"


def _what(entry: LogEntryJson) -> str:
    """Paths and summary, without what the columns before it say already."""
    paths, summary = entry["paths"], _without_columns(entry)
    more = f" and {len(paths) - MOST_PATHS} more" if len(paths) > MOST_PATHS else ""
    named = ", ".join(paths[:MOST_PATHS]) + more
    if not paths and entry.get("files"):
        named = f"{entry['files']} files"  # too many to be listed
    if len(paths) == 1:
        # A summary made from the file's name begins with it; the whole path stands there instead.
        summary = summary.removeprefix(paths[0].rsplit("/", 1)[-1]).removeprefix(": ")
    return summary if not named or named in summary else f"{named}: {summary}" if summary else named


def _without_columns(entry: LogEntryJson) -> str:
    if entry["tool"] == "Revert":
        return str(entry["summary"])  # "Revert 2: …": the number alone would say nothing
    summary = str(entry["summary"]).removeprefix(f"{entry['tool']} ").removeprefix(f"{entry['tool']}: ")
    counts = f"+{entry['added']} \u2212{entry['removed']}"
    return summary.removesuffix(counts).rstrip(" ,:") if summary.endswith(counts) else summary
