"""`chorus log`: actions grouped by turn, newest first.

The newest actions are on the screen before older ones are read.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, Any

from chorus.commands.access.history import absolute, read_log, read_whole_log
from chorus.commands.parser.argument_parser import parse_count
from chorus.commands.terminal.git_settings import wants_colour
from chorus.commands.terminal.pager import page
from chorus.commands.terminal.patch import paint
from chorus.errors import ExitCode
from chorus.output import print_err, print_json
from chorus.text.sanitize import printable

if TYPE_CHECKING:
    from chorus.model.json_api import LogEntryJson

EXAMPLES = (
    ("chorus log --open", "actions that are not reviewed yet"),
    ("chorus log --path src --since 2h", "what changed below src in the last two hours"),
    ("chorus log --prompts", "which prompts were answered, by whom and how"),
)
STATUSES = ("committed", "reverted", "kept", "noop", "failed", "denied", "outside")
COLOURS = {"committed": "33", "kept": "32", "reverted": "31", "failed": "31", "denied": "31", "outside": "36"}
MAX_LISTED_PATHS = 2
# More than any screen shows: older entries are read while the user looks at these.
FIRST_PAGE_SIZE = 200
# Each further page is this many times as long: few requests, none of which keeps the watcher busy for long.
PAGE_GROWTH = 4
# Enough of a turn's id to tell it from others; `--turn` takes any prefix.
TURN_LENGTH = 8


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lane", metavar="NAME", help="only actions of this lane")
    parser.add_argument("--turn", metavar="ID", help="only actions of this turn (an id or its beginning)")
    parser.add_argument("--path", metavar="PATH", help="only actions that changed this file or directory")
    parser.add_argument("--tool", metavar="NAME", help="only actions of this tool (Edit, Write, Bash, …)")
    parser.add_argument("--status", choices=STATUSES, help="only actions with this status")
    parser.add_argument("--since", metavar="TIME", help="only newer actions: 2h, 3d, 2026-01-31T14:00")
    parser.add_argument("--outside", action="store_true", help="also list changes that no action made")
    parser.add_argument("--open", action="store_true", help="only actions not kept, reverted or landed yet")
    parser.add_argument("--reverse", action="store_true", help="oldest first")
    parser.add_argument(
        "-n", dest="limit", type=parse_count, metavar="COUNT", help="only the newest COUNT actions"
    )
    parser.add_argument(
        "--prompts", action="store_true", help="list answered prompts instead, with who answered and how"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> ExitCode:
    if args.prompts:
        return _list_answers(args)
    names = ("lane", "turn", "tool", "status", "since", "outside", "open")
    wanted = {name: getattr(args, name) for name in names}
    wanted["path"] = absolute(args.path) if args.path else None
    if args.json:
        print_json(read_whole_log(**wanted, limit=args.limit))
        return ExitCode.OK
    size = args.limit if args.reverse else min(args.limit or FIRST_PAGE_SIZE, FIRST_PAGE_SIZE)
    first = read_log(**wanted, limit=size)
    if not first:
        filtered = any(wanted.values()) or args.limit is not None
        print_err("chorus: no recorded action matches" if filtered else "chorus: nothing is recorded yet")
        return ExitCode.NOT_FOUND
    entries = iter(first) if args.reverse else newest_first(first, wanted, args.limit)
    page(render(entries, len(str(first[-1]["n"] or 0)), colour=wants_colour()), "log")
    return ExitCode.OK


def newest_first(
    first: list[LogEntryJson], wanted: dict[str, Any], limit: int | None
) -> Iterator[LogEntryJson]:
    """Yield the first page, then older ones, each read only when it is reached."""
    return islice(_pages(first, wanted), limit or None)


def render(entries: Iterable[LogEntryJson], width: int, *, colour: bool) -> Iterator[str]:
    """Yield the lines of the log, with a heading for each turn. `width` is that of the numbers."""
    for _, turn in groupby(entries, _turn_key()):
        read = list(_until_lane(turn))
        if read[0]["status"] != "outside":
            yield paint(_render_heading(read[0], read[-1]["lane"]), "1", colour)
        for entry in chain(read, turn):
            yield _render_entry(entry, width, colour)


def describe(entry: LogEntryJson) -> str:
    """Return paths and summary, without what the columns before it show already."""
    paths, summary = entry["paths"], _summary_without_columns(entry)
    more = f" and {len(paths) - MAX_LISTED_PATHS} more" if len(paths) > MAX_LISTED_PATHS else ""
    named = ", ".join(paths[:MAX_LISTED_PATHS]) + more
    if not paths and entry.get("files"):
        named = f"{entry['files']} files"  # too many to be listed
    if len(paths) == 1:
        # A summary made from the file's name starts with it; the whole path is shown instead.
        summary = summary.removeprefix(paths[0].rsplit("/", 1)[-1]).removeprefix(": ")
    return summary if not named or named in summary else f"{named}: {summary}" if summary else named


def _list_answers(args: argparse.Namespace) -> ExitCode:
    from chorus.commands.access.answers import read_answers, render_answers  # noqa: PLC0415  not for the log

    entries = read_answers(args.limit)
    if args.json:
        print_json(entries)
    elif entries:
        page(render_answers(entries), "log")
    else:
        print_err("chorus: no prompt has been answered through Chorus")
        return ExitCode.NOT_FOUND
    return ExitCode.OK


def _pages(page: list[LogEntryJson], wanted: dict[str, Any]) -> Iterator[LogEntryJson]:
    size, before = FIRST_PAGE_SIZE, None
    oldest: LogEntryJson | None = None
    while page:
        # An outside change has no number to continue from: it is repeated with those before the next action.
        repeated = (index for index, entry in enumerate(page) if oldest and _is_same(entry, oldest))
        yield from reversed(page[: next(repeated, None)])
        if len(page) < size:
            return
        oldest = page[0]
        before = next((entry["n"] for entry in page if entry["n"] is not None), before)
        size *= PAGE_GROWTH
        page = read_log(**wanted, before=before, limit=size)


def _is_same(one: LogEntryJson, other: LogEntryJson) -> bool:
    return (one["n"], one["id"], one["timeline"]) == (other["n"], other["id"], other["timeline"])


def _turn_key() -> Callable[[LogEntryJson], object]:
    """Return a grouping key: an entry's turn; for an outside change, the turn of the entry before it."""
    turn: object = None

    def key(entry: LogEntryJson) -> object:
        nonlocal turn
        if entry["status"] != "outside":
            turn = (entry["session"], entry["turn"])
        return turn

    return key


def _until_lane(turn: Iterable[LogEntryJson]) -> Iterator[LogEntryJson]:
    """Yield as much of a turn as its heading needs: calls that changed nothing are on no lane."""
    for entry in islice(turn, FIRST_PAGE_SIZE):
        yield entry
        if entry["lane"]:
            return


def _render_heading(entry: LogEntryJson, lane: str | None) -> str:
    message = " ".join((entry["message"] or "(no message)").split())
    branch = f"  [{lane}]" if lane else ""
    turn = f"  turn {entry['turn'][:TURN_LENGTH]}" if entry["turn"] else ""
    return printable(f"> {message[:100]}{branch}{turn}")


def _render_entry(entry: LogEntryJson, width: int, colour: bool) -> str:
    number = str(entry["n"]) if entry["n"] is not None else "\u00b7"
    status = "landed" if entry["landed"] and entry["status"] in ("committed", "kept") else entry["status"]
    mark = paint(f"{status:<9}", COLOURS.get(status), colour)
    tool = entry["tool"] or ""
    sub = " (sub-agent)" if entry["agent"] else ""
    counts = _render_counts(entry, colour)
    return f"  {number:>{width}} {mark} {tool:<12} {counts} {printable(describe(entry))}{sub}"


def _render_counts(entry: LogEntryJson, colour: bool) -> str:
    """Return the column of added and removed lines."""
    added, removed = entry["added"], entry["removed"]
    if added is None or removed is None:
        return " " * 11
    plus, minus = f"{f'+{added}':>5}", f"{f'-{removed}':<5}"
    return f"{paint(plus, '32', colour)} {paint(minus, '31', colour)}"


def _summary_without_columns(entry: LogEntryJson) -> str:
    summary, tool = entry["summary"], entry["tool"]
    if tool == "Revert":
        return summary  # "Revert 2: …": the number alone would say nothing
    summary = summary.removeprefix(f"{tool} ").removeprefix(f"{tool}: ")
    counts = f"+{entry['added']} \u2212{entry['removed']}"
    return summary.removesuffix(counts).rstrip(" ,:") if summary.endswith(counts) else summary
