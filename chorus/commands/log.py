"""`chorus log`: what the agent did, action by action, grouped by what it was asked."""

import argparse
from collections.abc import Iterator
from typing import Any

from chorus.commands.history import absolute, read_log
from chorus.commands.paging import page, wants_colour
from chorus.errors import ExitCode
from chorus.output import answer_json, note

STATUSES = ("committed", "reverted", "kept", "noop", "failed", "denied", "outside")
COLOURS = {"committed": "33", "kept": "32", "reverted": "31", "failed": "31", "denied": "31", "outside": "36"}
MOST_PATHS = 2


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lane", metavar="NAME", help="only this lane's")
    parser.add_argument("--turn", metavar="ID", help="only this turn's")
    parser.add_argument("--path", metavar="PATH", help="only what changed this file, or files below it")
    parser.add_argument("--tool", metavar="NAME", help="only this tool's (Edit, Write, Bash, …)")
    parser.add_argument("--status", choices=STATUSES, help="only with this status")
    parser.add_argument("--since", metavar="TIME", help="only since then: 2h, 3d, 2026-01-31T14:00")
    parser.add_argument("--outside", action="store_true", help="also what no action changed")
    parser.add_argument(
        "--open", action="store_true", help="only what nobody has kept, reverted or landed yet"
    )
    parser.add_argument("-n", dest="limit", type=int, metavar="COUNT", help="only the newest so many")
    parser.add_argument(
        "--prompts",
        action="store_true",
        help="instead: which prompts were answered, by whom, with which keys",
    )
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> ExitCode:
    if args.prompts:
        from chorus.commands.answered import list_answered  # noqa: PLC0415  the agent's modules are heavy

        return list_answered(args)
    names = ("lane", "turn", "tool", "status", "since", "outside", "open", "limit")
    wanted = {name: getattr(args, name) for name in names}
    entries = read_log(**wanted, path=absolute(args.path) if args.path else None)
    if args.json:
        answer_json(entries)
    elif entries:
        page(render(entries, colour=wants_colour()))
    else:
        note("chorus: nothing is recorded that fits")
        return ExitCode.NOTHING
    return ExitCode.DONE


def render(entries: list[dict[str, Any]], *, colour: bool) -> Iterator[str]:
    """Newest turn last, as in a terminal's scrollback; a heading whenever the turn changes."""
    width = max((len(str(entry["n"] or "")) for entry in entries), default=1)
    turn: object = ()
    for entry in entries:
        if entry["status"] != "outside" and (entry["session"], entry["turn"]) != turn:
            turn = (entry["session"], entry["turn"])
            yield paint(_heading(entry), "1", colour)
        yield _line(entry, width, colour)


def paint(text: str, code: str | None, colour: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if colour and code else text


def inert(text: str) -> str:
    """Text from files and models, harmless in a terminal."""
    return "".join(char if char.isprintable() else "�" for char in text)


def _heading(entry: dict[str, Any]) -> str:
    message = " ".join((entry["message"] or "(no message)").split())
    lane = f"  [{entry['lane']}]" if entry["lane"] else ""
    return inert(f"> {message[:100]}{lane}")


def _line(entry: dict[str, Any], width: int, colour: bool) -> str:
    number = str(entry["n"]) if entry["n"] is not None else "·"
    paths = entry["paths"]
    named = ", ".join(paths[:MOST_PATHS]) + (
        f" and {len(paths) - MOST_PATHS} more" if len(paths) > MOST_PATHS else ""
    )
    status = "landed" if entry["landed"] and entry["status"] in ("committed", "kept") else entry["status"]
    mark = paint(f"{status:<9}", COLOURS.get(status), colour)
    tool = entry["tool"] or ""
    sub = " (sub-agent)" if entry["agent"] else ""
    summary = (
        entry["summary"]
        if named and named in entry["summary"]
        else f"{named}: {entry['summary']}"
        if named
        else entry["summary"]
    )
    return f"  {number:>{width}} {mark} {tool:<12} {inert(summary)}{sub}"
