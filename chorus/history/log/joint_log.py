"""The logs of all work trees of a repository as one: merge their entries, find an action in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from heapq import merge
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from chorus.history.log.lookup import NoSuchAction

if TYPE_CHECKING:
    from chorus.model.api.json_api import LogEntryJson

T = TypeVar("T")
R = TypeVar("R")

# Times are compared to the second: sources write them with and without fractions.
SECOND = len("2026-01-31T14:00:00")


def merge_logs(logs: Iterable[Sequence[LogEntryJson]], limit: int | None) -> list[LogEntryJson]:
    """Merge several logs by time, oldest first. Entries of one log keep their order.

    `limit`: keep only the newest entries, at most this many. A single log is returned whole.
    """
    parts = [log for log in logs if log]
    if len(parts) == 1:
        return list(parts[0])
    merged = list(merge(*parts, key=lambda entry: (entry["time"][:SECOND], entry["n"] or 0)))
    return merged[-limit:] if limit else merged


def read_each(trees: Mapping[str, T], read: Callable[[T], Sequence[R]]) -> list[Sequence[R]]:
    """Call `read` for each work tree, and return the results.

    Leave out the work trees for which `read` raises NoSuchAction. If it does so for all of them, raise the
    first error.
    """
    found: list[Sequence[R]] = []
    missing: NoSuchAction | None = None
    for tree in trees.values():
        try:
            found.append(read(tree))
        except NoSuchAction as error:
            missing = missing or error
    if missing is not None and not found:
        raise missing
    return found


def find_action(name: str, trees: Mapping[str, T], here: str, look: Callable[[T, str], R]) -> R:
    """Look up an action by calling `look`, which raises NoSuchAction if a tree does not have the action.

    `TREE:NAME` is looked up in that tree only. A bare NAME is looked up in `here`; if it is not there, in the
    other trees. Raises NoSuchAction if it is not found, or if several of the other trees have it.
    """
    tree, colon, rest = name.partition(":")
    if colon and tree in trees:
        return look(trees[tree], rest)
    missing = NoSuchAction(f"there is no action {name}")
    if here in trees:
        try:
            return look(trees[here], name)
        except NoSuchAction as error:
            missing = error
    found: dict[str, R] = {}
    for other in trees.keys() - {here}:
        with suppress(NoSuchAction):
            found[other] = look(trees[other], name)
    if len(found) > 1:
        choices = " or ".join(f"{other}:{name}" for other in sorted(found))
        raise NoSuchAction(f"several work trees have an action {name}", hint=f"Write {choices}.")
    for only in found.values():
        return only
    raise missing


def path_in_tree(path: str, here: Path, tree: Path) -> str:
    """Return the same path in another work tree. A path outside `here` is returned as it is."""
    with suppress(ValueError):
        return str(tree / Path(path).relative_to(here))
    return path
