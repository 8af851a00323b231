"""`chorus log`: actions grouped by turn, newest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby, islice

from chorus.commands.access.history import absolute, has_several_trees, read_log, read_whole_log
from chorus.commands.parser.options import add_here_option, parse_count
from chorus.commands.terminal.git_settings import wants_colour
from chorus.commands.terminal.pager import page
from chorus.commands.terminal.patch import paint
from chorus.errors import ExitCode
from chorus.model.review_state import REVERT_TOOL, STATUS_MEANINGS, render_undone, shorten_turn
from chorus.output import print_err, print_json, style

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from chorus.model.api.json_api import LogEntryJson
    from chorus.model.api.requests import LogView

EXAMPLES = (
    ("chorus log --open", "actions that are not reviewed yet"),
    ("chorus log --path src --since 2h", "what changed below src in the last two hours"),
    ("chorus log --prompts", "which prompts were answered, by whom and how"),
    ("chorus log --turns", "duration, tokens and cost of each turn, and why one failed"),
)
RED = "31"
COLOURS = {
    "committed": "33", "kept": "32", "landed": "36", "reverted": RED, "undone": RED, "failed": RED,
    "denied": RED, "outside": "36",
}  # fmt: skip
MAX_LISTED_PATHS = 2
# More than any screen shows: older entries are read while the user looks at these.
FIRST_PAGE_SIZE = 200
# Each further page is this many times as long: few requests are needed, and none keeps the watcher busy for
# long.
PAGE_GROWTH = 4


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--lane", metavar="NAME", help="only actions of this lane")
    parser.add_argument(
        "--turn",
        action="append",
        default=[],
        metavar="ID",
        help="only actions of this turn (an id or its beginning; repeatable)",
    )
    parser.add_argument("--path", metavar="PATH", help="only actions that changed this file or directory")
    parser.add_argument("--tool", metavar="NAME", help="only actions of this tool (Edit, Write, Bash, …)")
    parser.add_argument(
        "--status",
        choices=tuple(STATUS_MEANINGS),
        metavar="STATUS",
        help="only actions with this status: "
        + ", ".join(f"{status} ({meaning})" for status, meaning in STATUS_MEANINGS.items()),
    )
    parser.add_argument("--since", metavar="TIME", help="only newer actions: 2h, 3d, 2026-01-31T14:00")
    parser.add_argument("--outside", action="store_true", help="also list changes that no action made")
    parser.add_argument(
        "--open", action="store_true", help="only actions not kept, reverted, undone or landed"
    )
    parser.add_argument("--reverse", action="store_true", help="oldest first")
    parser.add_argument(
        "-n", dest="limit", type=parse_count, metavar="COUNT", help="only the newest COUNT actions"
    )
    add_here_option(parser)
    parser.add_argument(
        "--prompts", action="store_true", help="list answered prompts instead, with who answered and how"
    )
    parser.add_argument(
        "--turns",
        action="store_true",
        help="list turns instead, with their duration, tokens, cost and errors",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: Namespace) -> ExitCode:
    if args.prompts:
        return _list_answers(args)
    if args.turns:
        return _list_turns(args)
    wanted: LogView = {
        "lane": args.lane,
        "turns": args.turn,
        "path": absolute(args.path) if args.path else None,
        "tool": args.tool,
        "status": args.status,
        "since": args.since,
        "outside": args.outside,
        "open": args.open,
        "here": args.here,
    }
    if len(args.turn) > 1:
        for turn in args.turn:
            read_log(turns=[turn], here=args.here, limit=1)  # raises an error if no work tree has the turn
    if args.json:
        whole: LogView = {**wanted, "limit": args.limit}
        print_json(read_whole_log(**whole))
        return ExitCode.OK
    size = args.limit if args.reverse else min(args.limit or FIRST_PAGE_SIZE, FIRST_PAGE_SIZE)
    newest: LogView = {**wanted, "limit": size}
    first = read_log(**newest)
    if not first:
        filtered = any(wanted.values()) or args.limit is not None
        print_err("chorus: no recorded action matches" if filtered else "chorus: nothing is recorded yet")
        return ExitCode.NOT_FOUND
    joint = not args.here and has_several_trees()
    entries = iter(first) if args.reverse else newest_first(first, wanted, args.limit, joint=joint)
    width = max(len(render_number(entry, joint=joint)) for entry in first)
    page(render(entries, width, colour=wants_colour(), joint=joint, known=first), "log")
    return ExitCode.OK


def newest_first(
    first: list[LogEntryJson], wanted: LogView, limit: int | None, *, joint: bool = False
) -> Iterator[LogEntryJson]:
    """Yield at most `limit` entries, newest first. Further pages are read only when reached."""
    return islice(_joint_pages(first, wanted) if joint else _pages(first, wanted), limit or None)


def render(
    entries: Iterable[LogEntryJson],
    width: int,
    *,
    colour: bool,
    joint: bool = False,
    known: Iterable[LogEntryJson] = (),
) -> Iterator[str]:
    """Yield the lines of the log, with a heading for each turn.

    `width`: the width of the number column. `joint`: put the name of the work tree before each number.
    `known`: entries whose numbers are known from the start. A line may show the number of a later line.
    """
    numbers = {entry["id"]: render_number(entry, joint=joint) for entry in known if entry["id"]}
    for _, turn in groupby(entries, _turn_key()):
        read = list(_until_lane(turn))
        if read[0]["status"] != "outside":
            yield paint(_render_heading(read[0], read[-1]["lane"]), "1", colour)
        for entry in chain(read, turn):
            number = render_number(entry, joint=joint)
            if entry["id"]:
                numbers[entry["id"]] = number
            holder = numbers.get(entry["within"], entry["within"]) if entry["within"] else None
            yield _render_entry(entry, f"{number:>{width}}", holder, colour)


def render_number(entry: LogEntryJson, *, joint: bool) -> str:
    """Return an action's number as commands accept it, or a dot if the entry has none."""
    number = str(entry["n"]) if entry["n"] is not None else "\u00b7"
    return f"{entry['worktree']}:{number}" if joint else number


def describe(entry: LogEntryJson) -> str:
    """Describe an entry in one line: paths, summary and notes."""
    paths, summary = entry["paths"], _summary_without_columns(entry)
    more = f" and {len(paths) - MAX_LISTED_PATHS} more" if len(paths) > MAX_LISTED_PATHS else ""
    named = ", ".join(paths[:MAX_LISTED_PATHS]) + more
    if not paths and entry.get("files"):
        named = f"{entry['files']} files"  # too many to be listed
    text = summary if not named or named in summary else f"{named}: {summary}" if summary else named
    notes = ", ".join(f"note {note['n']}: {note['state']}" for note in entry.get("notes", ()))
    return f"{text} ({notes})" if notes else text


def _list_answers(args: Namespace) -> ExitCode:
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


def _list_turns(args: Namespace) -> ExitCode:
    from chorus.commands.access.turns import read_turns, render_turns  # noqa: PLC0415  not for the log

    found = [turn for wanted in args.turn or [None] for turn in read_turns(turn=wanted)]
    found = found[-args.limit :] if args.limit else found
    if args.json:
        print_json(found)
    elif found:
        shown = found if args.reverse else reversed(found)
        page(render_turns(shown, colour=wants_colour()), "log")
    else:
        print_err("chorus: no recorded turn matches" if args.turn else "chorus: no turn is recorded yet")
        return ExitCode.NOT_FOUND
    return ExitCode.OK


def _pages(page: list[LogEntryJson], wanted: LogView) -> Iterator[LogEntryJson]:
    size, before = FIRST_PAGE_SIZE, None
    oldest: LogEntryJson | None = None
    while page:
        # The next page is requested by the number of the oldest action on this page. Outside changes that are
        # older than that action are on both pages; the second time they are skipped.
        repeated = (index for index, entry in enumerate(page) if oldest and _is_same(entry, oldest))
        yield from reversed(page[: next(repeated, None)])
        if len(page) < size:
            return
        oldest = page[0]
        before = next((entry["n"] for entry in page if entry["n"] is not None), before)
        size *= PAGE_GROWTH
        older: LogView = {**wanted, "before": before, "limit": size}
        page = read_log(**older)


def _joint_pages(first: list[LogEntryJson], wanted: LogView) -> Iterator[LogEntryJson]:
    """Yield the first page. If it is full, read all other entries at once, and yield them too.

    Pages cannot be requested by number here: older versions of Chorus numbered each work tree separately.
    """
    yield from reversed(first)
    if len(first) >= FIRST_PAGE_SIZE:
        shown = {_identity(entry) for entry in first}
        yield from (entry for entry in reversed(read_log(**wanted)) if _identity(entry) not in shown)


def _identity(entry: LogEntryJson) -> tuple[object, ...]:
    return (entry["worktree"], entry["n"], entry["id"], entry["timeline"])


def _is_same(one: LogEntryJson, other: LogEntryJson) -> bool:
    return _identity(one) == _identity(other)


def _turn_key() -> Callable[[LogEntryJson], object]:
    """Return a key function with which `groupby` groups entries by turn.

    An outside change has no turn: it gets the key of the entry before it.
    """
    turn: object = None

    def key(entry: LogEntryJson) -> object:
        nonlocal turn
        if entry["status"] != "outside":
            turn = (entry["session"], entry["turn"])
        return turn

    return key


def _until_lane(turn: Iterable[LogEntryJson]) -> Iterator[LogEntryJson]:
    """Yield a turn's entries up to the first that has a lane, but at most FIRST_PAGE_SIZE."""
    for entry in islice(turn, FIRST_PAGE_SIZE):
        yield entry
        if entry["lane"]:
            return


def _render_heading(entry: LogEntryJson, lane: str | None) -> str:
    message = " ".join((entry["message"] or "(no message)").split())
    branch = f"  [{lane}]" if lane else ""
    turn = f"  turn {shorten_turn(entry['turn'])}" if entry["turn"] else ""
    return f"> {message[:100]}{branch}{turn}"


def _render_entry(entry: LogEntryJson, number: str, holder: str | None, colour: bool) -> str:
    status = entry["status"]
    mark = paint(f"{status:<9}", COLOURS.get(status), colour)
    tool = entry["tool"] or ""
    sub = " (sub-agent)" if entry["agent"] else ""
    counts = _render_counts(entry, colour)
    undone = f" ({render_undone(entry['undone'])})" if entry.get("undone") else ""
    inside = f" (part of action {holder})" if holder else ""
    text = f" {describe(entry)}{sub}{undone}{inside}"
    pieces = (f"  {number} ", mark, f" {tool:<12} ", counts, text)
    return style(*pieces) if colour else "".join(pieces)


def _render_counts(entry: LogEntryJson, colour: bool) -> str:
    added, removed = entry["added"], entry["removed"]
    if added is None or removed is None:
        return " " * 11
    plus, minus = f"{f'+{added}':>5}", f"{f'-{removed}':<5}"
    return style(paint(plus, "32", colour), " ", paint(minus, "31", colour)) if colour else f"{plus} {minus}"


def _summary_without_columns(entry: LogEntryJson) -> str:
    summary, tool = entry["summary"], entry["tool"]
    if tool == REVERT_TOOL:
        return summary  # "Revert 2: …": the number alone would say nothing
    if len(entry["paths"]) == 1:
        # A summary made from the file's name starts with it; the whole path is shown instead.
        made = f"{tool} {entry['paths'][0].rsplit('/', 1)[-1]}"
        summary = "" if summary == made else summary.removeprefix(f"{made}: ")
    summary = summary.removeprefix(f"{tool}: ")
    counts = f"+{entry['added']} \u2212{entry['removed']}"
    return summary.removesuffix(counts).rstrip(" ,:") if summary.endswith(counts) else summary
