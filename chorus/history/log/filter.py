"""Which entries of the log are wanted.

Receives the log, newest first, and what is asked for. Gives the entries that match, taking no more of the
log than that needs. Never reads anything by itself.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from chorus.errors import UsageError
from chorus.history.log.entry import LogEntry, entry_json
from chorus.history.log.lookup import find_turn
from chorus.model.ids import Oid, RepoPath, TurnId
from chorus.model.repo_paths import is_at_or_below

# Whether a timeline commit changed a file, or one below a directory.
Changes: TypeAlias = Callable[[Oid, RepoPath], bool]


class LogFilter(NamedTuple):
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


def list_log(
    newest: Iterable[LogEntry],
    wanted: LogFilter,
    locate: Callable[[str], RepoPath | None],
    changes: Changes,
) -> list[dict[str, Any]]:
    """The entries that match, oldest first. `locate`: a path as a person names it, inside the work tree."""
    turn = None
    if wanted.turn is not None:
        # Whether the beginning of a name is one turn's alone, only the whole log can say.
        newest = list(newest)
        turn = find_turn(newest, wanted.turn)
    entries = newest if wanted.before is None else skip_to(newest, wanted.before)
    root = locate(wanted.path) if wanted.path is not None else None
    matches = compile_filter(wanted, turn, root, changes)
    return [entry_json(entry) for entry in islice(filter(matches, entries), wanted.limit)][::-1]


def skip_to(newest: Iterable[LogEntry], before: int) -> Iterator[LogEntry]:
    """What comes before the action with that number. What no action made has none, but a place."""
    unnumbered: list[LogEntry] = []
    entries = iter(newest)
    for entry in entries:
        if entry.n is None:
            unnumbered.append(entry)
        elif entry.n >= before:
            unnumbered.clear()
        else:
            yield from (*unnumbered, entry)
            yield from entries
            return
    yield from unnumbered


def compile_filter(
    wanted: LogFilter, turn: TurnId | None, root: RepoPath | None, changes: Changes
) -> Callable[[LogEntry], bool]:
    """The one test an entry has to pass: only what is asked for is looked at."""
    tests: list[Callable[[LogEntry], bool]] = []
    if not (wanted.outside or wanted.status == "outside"):
        tests.append(lambda entry: entry.status != "outside")
    if wanted.lane is not None:
        names = (wanted.lane, f"chorus/{wanted.lane}")
        tests.append(lambda entry: entry.lane in names)
    if wanted.turn is not None:
        tests.append(lambda entry: entry.turn == turn)
    if wanted.tool is not None:
        tool = wanted.tool.lower()
        tests.append(lambda entry: (entry.tool or "").lower() == tool)
    if wanted.path is not None:
        tests.append(lambda entry: root is not None and _touches(entry, root, changes))
    if wanted.since is not None:
        since = parse_since(wanted.since)
        tests.append(lambda entry: entry.seconds >= since)
    if wanted.status is not None:
        tests.append(lambda entry: entry.status == wanted.status)
    if wanted.open:
        tests.append(lambda entry: entry.open)
    return lambda entry: all(test(entry) for test in tests)


def _touches(entry: LogEntry, root: RepoPath, changes: Changes) -> bool:
    if entry.timeline is not None and not entry.paths:
        return changes(entry.timeline, root)  # so many files that its message lists none
    return any(is_at_or_below(path, [root]) for path in entry.paths)


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
