"""Find entries and turns of the log by the names users give."""

from collections.abc import Iterable, Sequence

from chorus.errors import NotFound
from chorus.history.log.entry import LogEntry
from chorus.model.ids import TurnId
from chorus.model.lane_name import lane_spellings
from chorus.model.review_state import find_turns

# A shorter name is not taken for an abbreviated commit.
MIN_OID_LENGTH = 4


class NoSuchAction(NotFound):
    hint = "Run `chorus log` to list the actions with their numbers."


def find_entry(entries: Sequence[LogEntry], name: str) -> LogEntry:
    """Find an action by its number, its tool_use id or its lane commit, which may be abbreviated."""
    is_number = name.isdigit()
    for entry in entries:
        if entry.id == name or (is_number and str(entry.n) == name):
            return entry
    if len(name) >= MIN_OID_LENGTH:
        found = [
            e for e in entries if e.commit is not None and e.commit.startswith(name) and e.within is None
        ]
        if len(found) == 1:
            return found[0]
    raise NoSuchAction(f"there is no action {name}")


def refuse_unknown_lane(entries: Iterable[LogEntry], name: str) -> None:
    lanes = lane_spellings(name)
    if all(entry.lane not in lanes for entry in entries):
        raise NoSuchAction(f"there is no lane {name}", hint="Run `chorus lanes` to list the lanes.")


def find_turn(entries: Iterable[LogEntry], name: str) -> TurnId:
    """The turn that `name` means: an id, its short form, or the beginning of either.

    Raises NoSuchAction if no turn fits, or if several do.
    """
    found = find_turns((entry.turn for entry in entries if entry.turn), name)
    if len(found) == 1:
        return TurnId(found[0])
    problem = f"several turns begin with {name}" if found else f"there is no turn {name}"
    raise NoSuchAction(problem, hint="Run `chorus log` to list the turns with their ids.")
