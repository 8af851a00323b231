"""What can be asked about the history of one work tree, answered as data.

The agent answers these over its socket, and a command answers them itself when no agent runs: the same
functions, so the same answers.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice, takewhile
from typing import Any

from chorus.errors import UsageError
from chorus.lanes.entries import LogEntry
from chorus.lanes.listing import entry_json, find_entry, find_turn, lanes_json, show_json
from chorus.lanes.recorder import Recorder


@dataclass(frozen=True, slots=True)
class Filter:
    """Which entries are wanted; what is None does not matter."""

    lane: str | None = None
    turn: str | None = None
    path: str | None = None  # as a person names it, or a directory above it
    tool: str | None = None
    status: str | None = None
    since: str | None = None
    outside: bool = False
    open: bool = False
    before: int | None = None  # what comes before the action with this number
    limit: int | None = None  # the newest so many


def log(recorder: Recorder, wanted: Filter) -> list[dict[str, Any]]:
    """The entries that match, oldest first."""
    entries = _older(recorder.entries(), wanted.before)
    matches = _compile(recorder, entries, wanted)
    if not wanted.limit:
        return [entry_json(entry) for entry in entries if matches(entry)]
    newest = islice(filter(matches, reversed(entries)), wanted.limit)
    return [entry_json(entry) for entry in newest][::-1]


def lanes(recorder: Recorder) -> list[dict[str, Any]]:
    return lanes_json(recorder)


def show(recorder: Recorder, action: str) -> dict[str, Any]:
    entries = recorder.entries()
    outside = next((e for e in entries if e.status == "outside" and e.timeline == action), None)
    return show_json(recorder, outside or find_entry(entries, action))


def _older(entries: Sequence[LogEntry], before: int | None) -> Sequence[LogEntry]:
    """Up to the action with that number: what no action made has none, but a place."""
    if before is None:
        return entries
    return list(takewhile(lambda entry: entry.n is None or entry.n < before, entries))


def _compile(recorder: Recorder, entries: Sequence[LogEntry], wanted: Filter) -> Callable[[LogEntry], bool]:
    """The one test an entry has to pass: only what is asked for is looked at."""
    tests: list[Callable[[LogEntry], bool]] = []
    if not (wanted.outside or wanted.status == "outside"):
        tests.append(lambda entry: entry.status != "outside")
    if wanted.lane is not None:
        names = (wanted.lane, f"chorus/{wanted.lane}")
        tests.append(lambda entry: entry.lane in names)
    if wanted.turn is not None:
        turn = find_turn(entries, wanted.turn)
        tests.append(lambda entry: entry.turn == turn)
    if wanted.tool is not None:
        tool = wanted.tool.lower()
        tests.append(lambda entry: (entry.tool or "").lower() == tool)
    if wanted.path is not None:
        root = recorder.site.locate(wanted.path)
        tests.append(lambda entry: _touches(entry.paths, root))
    if wanted.since is not None:
        since = parse_since(wanted.since)
        tests.append(lambda entry: entry.seconds >= since)
    if wanted.status is not None:
        tests.append(lambda entry: entry.status == wanted.status)
    if wanted.open:
        tests.append(lambda entry: entry.status == "committed" and not entry.landed)
    return lambda entry: all(test(entry) for test in tests)


def _touches(paths: Iterable[str], root: str | None) -> bool:
    return root is not None and any(path == root or path.startswith(root + "/") for path in paths)


# What a person writes after a number.
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def parse_since(text: str) -> float:
    """`2h`, `3d`, or a date and time, as seconds since the epoch."""
    if text[:-1].isdigit() and text[-1:] in _UNITS:
        return datetime.now(UTC).timestamp() - int(text[:-1]) * _UNITS[text[-1]]
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise UsageError(
            f"not a time: {text!r}",
            hint="Write 30m, 2h, 3d, or a date such as 2026-01-31 or 2026-01-31T14:00.",
        ) from None
