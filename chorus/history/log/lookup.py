"""Entries and turns as people name them.

Receives the log and a name, gives what is meant, or says that there is no such thing.
"""

from collections.abc import Iterable, Sequence

from chorus.errors import NotFound
from chorus.history.log.entry import LogEntry
from chorus.model.ids import TurnId

# Nobody names a commit by fewer digits than this.
SHORTEST_OID = 4


class NoSuchAction(NotFound):
    hint = "`chorus log` lists the actions with their numbers."


def find_entry(entries: Sequence[LogEntry], name: str) -> LogEntry:
    """The action with that number, tool_use id or (abbreviated) lane commit."""
    for entry in entries:
        if name in (str(entry.n), entry.id):
            return entry
    if len(name) >= SHORTEST_OID:
        found = [
            e for e in entries if e.commit is not None and e.commit.startswith(name) and e.within is None
        ]
        if len(found) == 1:
            return found[0]
    raise NoSuchAction(f"there is no action {name}")


def refuse_unknown_lane(entries: Iterable[LogEntry], name: str) -> None:
    if all(entry.lane not in (name, f"chorus/{name}") for entry in entries):
        raise NoSuchAction(f"there is no lane {name}", hint="`chorus lanes` lists the lanes.")


def find_turn(entries: Iterable[LogEntry], name: str) -> TurnId:
    """The turn of that name, or the only one whose name begins so."""
    turns = dict.fromkeys(entry.turn for entry in entries if entry.turn)
    found = [turn for turn in turns if turn == name] or [turn for turn in turns if turn.startswith(name)]
    if len(found) == 1:
        return found[0]
    why = f"several turns begin with {name}" if found else f"there is no turn {name}"
    raise NoSuchAction(why, hint="`chorus log` shows the turns with their names.")
