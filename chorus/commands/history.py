"""Access to a work tree's history for commands: through the agent, or without one.

What only reads asks the agent if it runs (which first catches up with what was told so far), and
otherwise looks by itself. What changes history always goes through the agent.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chorus.lanes import queries
from chorus.lanes.blaming import blame
from chorus.lanes.queries import Filter
from chorus.lanes.recorder import Recorder
from chorus.wire.client import AgentGone, Connection, connect, connect_or_start
from chorus.wire.home import find_home


@contextmanager
def agent() -> Iterator[Connection]:
    """The agent, started if need be."""
    with connect_or_start(find_home(Path.cwd())) as connection:
        yield connection


def read_log(**wanted: Any) -> list[dict[str, Any]]:  # noqa: ANN401  the fields of Filter
    found = _ask_running("log", **wanted)
    if found is None:
        with Recorder.open(Path.cwd()) as recorder:
            found = queries.log(recorder, Filter(**wanted))
    return list(found)


def read_lanes() -> list[dict[str, Any]]:
    found = _ask_running("lanes")
    if found is None:
        with Recorder.open(Path.cwd()) as recorder:
            found = queries.lanes(recorder)
    return list(found)


def read_action(name: str) -> dict[str, Any]:
    found = _ask_running("show", action=name)
    if found is None:
        with Recorder.open(Path.cwd()) as recorder:
            found = queries.show(recorder, name)
    return dict(found)


def read_blame(name: str, line: int | None) -> list[dict[str, Any]]:
    _ask_running("lanes")  # for what it catches up with first
    with Recorder.open(Path.cwd()) as recorder:
        return blame(recorder, absolute(name), line)


def absolute(path: str) -> str:
    """A path as typed here, for somebody who runs elsewhere. A last link stays a link."""
    return str(Path.cwd() / path)


def _ask_running(do: str, **arguments: Any) -> Any:  # noqa: ANN401  each request has its own answer
    try:
        with connect(find_home(Path.cwd())) as connection:
            connection.ask("sync")
            return connection.ask(do, cwd=str(Path.cwd()), **arguments)
    except AgentGone:
        return None
