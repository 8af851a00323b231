"""Select entries of the log by a `LogFilter`, newest first, and read no older entries than needed."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import NamedTuple, TypeAlias

from chorus.errors import UsageError
from chorus.history.log.entry import LogEntry
from chorus.history.log.lookup import NoSuchAction, find_turn
from chorus.model.ids import Oid, RepoPath, TurnId
from chorus.model.lane_name import lane_spellings
from chorus.model.repo_paths import is_at_or_below

# Tells whether a timeline commit changed a file, or any file below a directory.
ChangesPath: TypeAlias = Callable[[Oid, RepoPath], bool]
# Converts a path as the user gives it to one relative to the work tree; None if it is outside.
Locate: TypeAlias = Callable[[str], RepoPath | None]


class LogFilter(NamedTuple):
    """Conditions for entries. None: no condition. `outside`: list outside changes too, not only calls."""

    lane: str | None = None
    turns: Sequence[str] = ()  # ids, or the beginnings of ids; none: any
    path: str | None = None  # as the user gives it; a directory means all files below it
    tool: str | None = None
    status: str | None = None
    since: str | None = None
    outside: bool = False
    open: bool = False
    before: int | None = None  # only entries before the action with this number
    limit: int | None = None  # only the newest entries, at most this many


def filter_entries(
    newest: Iterable[LogEntry], wanted: LogFilter, locate: Locate, changes_path: ChangesPath
) -> list[LogEntry]:
    """The entries that match, oldest first."""
    turns: set[TurnId] = set()
    if wanted.turns:
        # Only the whole log shows whether the start of a turn's name is unique.
        newest = list(newest)
        turns = _find_turns(newest, wanted.turns)
    entries = newest if wanted.before is None else _skip_to(newest, wanted.before)
    root = locate(wanted.path) if wanted.path is not None else None
    for test in _tests(wanted, turns, root, changes_path):
        entries = filter(test, entries)
    return list(islice(entries, wanted.limit))[::-1]


def _find_turns(entries: Sequence[LogEntry], names: Iterable[str]) -> set[TurnId]:
    """Return the turns with these names. Raises NoSuchAction if none of the names is found.

    Other names that are not found are ignored: they may be turns of another work tree.
    """
    found: set[TurnId] = set()
    missing: NoSuchAction | None = None
    for name in names:
        try:
            found.add(find_turn(entries, name))
        except NoSuchAction as error:
            missing = missing or error
    if missing is not None and not found:
        raise missing
    return found


def _skip_to(newest: Iterable[LogEntry], before: int) -> Iterator[LogEntry]:
    """The entries older than action `before`.

    Outside changes have no number, so their place in the log decides.
    """
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


def _tests(
    wanted: LogFilter, turns: Collection[TurnId], root: RepoPath | None, changes_path: ChangesPath
) -> list[Callable[[LogEntry], bool]]:
    tests: list[Callable[[LogEntry], bool]] = []
    if not (wanted.outside or wanted.status == "outside"):
        tests.append(lambda entry: entry.status != "outside")
    if wanted.lane is not None:
        lanes = lane_spellings(wanted.lane)
        tests.append(lambda entry: entry.lane in lanes)
    if turns:
        tests.append(lambda entry: entry.turn in turns)
    if wanted.tool is not None:
        tool = wanted.tool.lower()
        tests.append(lambda entry: (entry.tool or "").lower() == tool)
    if wanted.path is not None:
        tests.append(lambda entry: root is not None and _touches(entry, root, changes_path))
    if wanted.since is not None:
        since = parse_since(wanted.since)
        tests.append(lambda entry: entry.seconds >= since)
    if wanted.status is not None:
        tests.append(lambda entry: entry.status == wanted.status)
    if wanted.open:
        tests.append(lambda entry: entry.open)
    return tests


def _touches(entry: LogEntry, root: RepoPath, changes_path: ChangesPath) -> bool:
    if entry.timeline is not None and not entry.paths:
        return changes_path(entry.timeline, root)  # too many files for its message to list
    return any(is_at_or_below(path, [root]) for path in entry.paths)


_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def parse_since(text: str) -> float:
    """Convert `2h`, `3d`, or a date and time to seconds since the epoch."""
    if text[:-1].isdigit() and text[-1:] in _UNIT_SECONDS:
        return datetime.now(UTC).timestamp() - int(text[:-1]) * _UNIT_SECONDS[text[-1]]
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise UsageError(
            f"not a time: {text!r}",
            hint="Write 30m, 2h, 3d, or a date such as 2026-01-31 or 2026-01-31T14:00.",
        ) from None
