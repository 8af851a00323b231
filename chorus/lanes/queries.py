"""What can be asked about the history of one work tree, answered as data.

The agent answers these over its socket, and a command answers them itself when no agent runs: the same
functions, so the same answers.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from chorus.errors import UsageError
from chorus.lanes.entries import LogEntry
from chorus.lanes.listing import entry_json, find_entry, lanes_json, show_json
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
    before: int | None = None  # numbers below this
    limit: int | None = None  # the newest so many


def log(recorder: Recorder, wanted: Filter) -> list[dict[str, Any]]:
    """The entries that match, oldest first."""
    found = [entry for entry in recorder.entries() if _matches(recorder, entry, wanted)]
    return [entry_json(entry) for entry in (found[-wanted.limit :] if wanted.limit else found)]


def lanes(recorder: Recorder) -> list[dict[str, Any]]:
    return lanes_json(recorder)


def show(recorder: Recorder, action: str) -> dict[str, Any]:
    return show_json(recorder, find_entry(recorder.entries(), action))


def _matches(recorder: Recorder, entry: LogEntry, wanted: Filter) -> bool:
    if entry.status == "outside" and not (wanted.outside or wanted.status == "outside"):
        return False
    return all(
        (
            wanted.lane is None or entry.lane in (wanted.lane, f"chorus/{wanted.lane}"),
            wanted.turn in (None, entry.turn),
            wanted.tool is None or (entry.tool or "").lower() == wanted.tool.lower(),
            wanted.status in (None, entry.status),
            wanted.path is None or _touches(entry.paths, recorder.site.locate(wanted.path)),
            wanted.since is None or entry.seconds >= parse_since(wanted.since),
            not wanted.open or (entry.status == "committed" and not entry.landed),
            wanted.before is None or (entry.n is not None and entry.n < wanted.before),
        )
    )


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
