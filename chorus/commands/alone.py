"""What a history says when no agent runs: the same answers, read by this process itself.

Imported only then: with an agent, a command costs little more than asking it.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from chorus.lanes import queries
from chorus.lanes.blaming import blame
from chorus.lanes.queries import Filter
from chorus.lanes.recorder import Recorder


def log(**wanted: Any) -> list[dict[str, Any]]:  # noqa: ANN401  the fields of Filter
    with Recorder.open(Path.cwd()) as recorder:
        return queries.log(recorder, Filter(**wanted))


def lanes() -> list[dict[str, Any]]:
    with Recorder.open(Path.cwd()) as recorder:
        return queries.lanes(recorder)


def actions(names: Iterable[str]) -> Iterator[dict[str, Any]]:
    """One after the other, each when it is asked for."""
    with Recorder.open(Path.cwd()) as recorder:
        for name in names:
            yield queries.show(recorder, name)


def lines(path: str, line: int | None) -> list[dict[str, Any]]:
    with Recorder.open(Path.cwd()) as recorder:
        return blame(recorder, path, line)
