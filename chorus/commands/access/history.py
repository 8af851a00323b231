"""Read the history of the current repository: through the watcher, or directly if none is running."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from chorus.system.files.git_files import list_work_trees
from chorus.wire.client import Connection, WatcherNotRunning, connect
from chorus.wire.home import find_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Unpack

    from chorus.model.api.json_api import ActionJson, BlameLineJson, LaneJson, LogEntryJson
    from chorus.model.api.requests import LogView


def read_log(**wanted: Unpack[LogView]) -> list[LogEntryJson]:
    found = _ask_running("log", **wanted)
    if found is not None:
        return list(found)
    from chorus.commands.access import direct  # noqa: PLC0415  loads git: only without a watcher

    return direct.read_log(**wanted)


def read_whole_log(**wanted: Unpack[LogView]) -> list[LogEntryJson]:
    """Return the log with all paths. The watcher's own log lacks the paths of entries that have too many."""
    entries = read_log(**wanted)
    if any(entry["timeline"] and not entry["paths"] for entry in entries):
        from chorus.commands.access import direct  # noqa: PLC0415  loads git: only for so many paths

        direct.add_missing_paths(entries)
    return entries


def read_lanes(*, here: bool = False) -> list[LaneJson]:
    found = _ask_running("lanes", here=here)
    if found is not None:
        return list(found)
    from chorus.commands.access import direct  # noqa: PLC0415  as above

    return direct.read_lanes(here=here)


def read_action(name: str, *, user_diff: bool) -> ActionJson:
    return next(read_actions([name], user_diff=user_diff))


def read_actions(names: Sequence[str], *, user_diff: bool) -> Iterator[ActionJson]:
    """Yield the actions with these names, each requested only when it is needed.

    `user_diff`: make patches with the user's diff settings.
    """
    count = 0
    with suppress(WatcherNotRunning), _running() as connection:
        for name in names:
            found: ActionJson = connection.ask("show", cwd=os.getcwd(), action=name, user_diff=user_diff)
            count += 1
            yield found
        return
    from chorus.commands.access import direct  # noqa: PLC0415  as above

    yield from direct.read_actions(names[count:], user_diff=user_diff)


def read_blame(name: str, line: int | None) -> list[BlameLineJson]:
    found = _ask_running("blame", path=absolute(name), line=line)
    if found is not None:
        return list(found)
    from chorus.commands.access import direct  # noqa: PLC0415  as above

    return direct.read_blame(absolute(name), line)


def has_several_trees() -> bool:
    """Return True if Chorus has recorded more than one work tree of the repository."""
    return len(list_work_trees(find_home(os.getcwd()).repository)) > 1


def absolute(path: str) -> str:
    """Return an absolute path without resolving symlinks."""
    return os.path.join(os.getcwd(), path)


@contextmanager
def _running() -> Iterator[Connection]:
    """Connect to the watcher, and wait until it has caught up. Raise WatcherNotRunning if there is none."""
    with connect(find_home(os.getcwd())) as connection:
        connection.ask("sync")
        yield connection


def _ask_running(do: str, **arguments: Any) -> Any:  # noqa: ANN401  each request has its own reply
    with suppress(WatcherNotRunning), _running() as connection:
        return connection.request(do, {"cwd": os.getcwd(), **arguments})
    return None
