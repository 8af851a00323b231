"""Access to a work tree's history for commands: through the watcher, or without one.

What only reads asks the watcher if it runs (which first catches up with what was told so far), and
otherwise looks by itself (`commands.alone`, imported only then). What changes history always goes through
the watcher.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from chorus.errors import NotFound
from chorus.model.json_api import ActionJson, BlameLineJson, LaneJson, LogEntryJson
from chorus.wire.client import Connection, WatcherNotRunning, connect, connect_or_start
from chorus.wire.home import find_home


class NoHistory(NotFound):
    hint = "`chorus claude` starts a session that is watched, `chorus attach` finds one that runs already."


@contextmanager
def watcher() -> Iterator[Connection]:
    """The watcher, started if need be; not where there is nothing of Chorus's to act on."""
    home = find_home(Path.cwd())
    if not home.root.exists():
        raise NoHistory("Chorus keeps nothing in this repository")
    with connect_or_start(home) as connection:
        yield connection


def read_log(**wanted: Any) -> list[LogEntryJson]:  # noqa: ANN401  the fields of LogFilter
    found = _ask_running("log", **wanted)
    if found is not None:
        return list(found)
    from chorus.commands.access import direct  # noqa: PLC0415  loads git: only without a watcher

    return direct.log(**wanted)


def read_whole_log(**wanted: Any) -> list[LogEntryJson]:  # noqa: ANN401  the fields of LogFilter
    """With the files of actions that changed too many to be listed, which git tells and no watcher sends."""
    entries = read_log(**wanted)
    if any(entry["timeline"] and not entry["paths"] for entry in entries):
        from chorus.commands.access import direct  # noqa: PLC0415  loads git: only without a watcher

        direct.add_paths(entries)
    return entries


def read_lanes() -> list[LaneJson]:
    found = _ask_running("lanes")
    if found is not None:
        return list(found)
    from chorus.commands.access import direct  # noqa: PLC0415  loads git: only without a watcher

    return direct.lanes()


def read_action(name: str) -> ActionJson:
    return next(read_actions([name]))


def read_actions(names: Sequence[str]) -> Iterator[ActionJson]:
    """Each action when it is asked for: who shows many of them connects once."""
    shown = 0
    with suppress(WatcherNotRunning), _running() as connection:
        for name in names:
            found: ActionJson = connection.ask("show", cwd=str(Path.cwd()), action=name)
            shown += 1
            yield found
        return
    from chorus.commands.access import direct  # noqa: PLC0415  loads git: only without a watcher

    yield from direct.actions(names[shown:])


def read_blame(name: str, line: int | None) -> list[BlameLineJson]:
    with suppress(WatcherNotRunning), _running():
        pass  # it has caught up
    from chorus.commands.access import direct  # noqa: PLC0415  loads git: only without a watcher

    return direct.lines(absolute(name), line)


def absolute(path: str) -> str:
    """A path as typed here, for somebody who runs elsewhere. A last link stays a link."""
    return str(Path.cwd() / path)


@contextmanager
def _running() -> Iterator[Connection]:
    """The watcher that runs, once it has caught up; AgentGone if there is none."""
    with connect(find_home(Path.cwd())) as connection:
        connection.ask("sync")
        yield connection


def _ask_running(do: str, **arguments: Any) -> Any:  # noqa: ANN401  each request has its own answer
    with suppress(WatcherNotRunning), _running() as connection:
        return connection.ask(do, cwd=str(Path.cwd()), **arguments)
    return None
