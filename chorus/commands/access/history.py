"""The history of the current work tree: through the watcher, or read directly where none is running.

Commands that only read ask a running watcher, after it has processed everything it was sent so far.
Without one they read the history themselves (`access.direct`, imported only then).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chorus.wire.client import Connection, WatcherNotRunning, connect
from chorus.wire.home import find_home

if TYPE_CHECKING:
    from chorus.model.json_api import ActionJson, BlameLineJson, LaneJson, LogEntryJson


def read_log(**wanted: Any) -> list[LogEntryJson]:  # noqa: ANN401  the fields of LogFilter
    found = _ask_running("log", **wanted)
    if found is not None:
        return list(found)
    from chorus.commands.access import direct  # noqa: PLC0415  loads git: only without a watcher

    return direct.read_log(**wanted)


def read_whole_log(**wanted: Any) -> list[LogEntryJson]:  # noqa: ANN401  the fields of LogFilter
    """Return the log with the paths of every action, even if there are too many for the watcher to send."""
    entries = read_log(**wanted)
    if any(entry["timeline"] and not entry["paths"] for entry in entries):
        from chorus.commands.access import direct  # noqa: PLC0415  as above

        direct.add_paths(entries)
    return entries


def read_lanes() -> list[LaneJson]:
    found = _ask_running("lanes")
    if found is not None:
        return list(found)
    from chorus.commands.access import direct  # noqa: PLC0415  as above

    return direct.read_lanes()


def read_action(name: str) -> ActionJson:
    return next(read_actions([name]))


def read_actions(names: Sequence[str]) -> Iterator[ActionJson]:
    """Yield each action when it is needed, over one connection."""
    count = 0
    with suppress(WatcherNotRunning), _running() as connection:
        for name in names:
            found: ActionJson = connection.ask("show", cwd=str(Path.cwd()), action=name)
            count += 1
            yield found
        return
    from chorus.commands.access import direct  # noqa: PLC0415  as above

    yield from direct.read_actions(names[count:])


def read_blame(name: str, line: int | None) -> list[BlameLineJson]:
    with suppress(WatcherNotRunning), _running():
        pass  # a running watcher has now recorded what it was sent
    from chorus.commands.access import direct  # noqa: PLC0415  as above

    return direct.read_blame(absolute(name), line)


def absolute(path: str) -> str:
    """Return an absolute path for a process with another working directory. A final symlink is kept."""
    return str(Path.cwd() / path)


@contextmanager
def _running() -> Iterator[Connection]:
    """Connect to a running watcher that has caught up; WatcherNotRunning if there is none."""
    with connect(find_home(Path.cwd())) as connection:
        connection.ask("sync")
        yield connection


def _ask_running(do: str, **arguments: Any) -> Any:  # noqa: ANN401  each request has its own reply
    with suppress(WatcherNotRunning), _running() as connection:
        return connection.request(do, {"cwd": str(Path.cwd()), **arguments})
    return None
