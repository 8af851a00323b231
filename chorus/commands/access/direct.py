"""What a history says when no watcher runs: the same answers, read by this process itself.

Imported only then: with a watcher, a command costs little more than asking it. What the newest part of a
history can answer is read from that end; the rest of Chorus is loaded only for what needs it.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from chorus.history.log import json_views
from chorus.history.log.disk_log import DiskLog
from chorus.history.log.filter import LogFilter
from chorus.history.timeline_log import TimelineUnreadable, garbage_collection_paused
from chorus.model.ids import RepoPath
from chorus.model.json_api import ActionJson, BlameLineJson, LaneJson, LogEntryJson
from chorus.store.git_paths import read_git_paths
from chorus.store.git_process import Git


def log(**wanted: Any) -> list[LogEntryJson]:  # noqa: ANN401  the fields of LogFilter
    asked = LogFilter(**wanted)
    with suppress(TimelineUnreadable), DiskLog.open(Path.cwd()) as newest, garbage_collection_paused():
        return newest.select(asked, locate)
    from chorus.history.recorder import Recorder  # noqa: PLC0415

    with Recorder.open(Path.cwd()) as recorder:
        return recorder.log.select(asked)


def add_paths(entries: list[LogEntryJson]) -> None:
    places = read_git_paths(Git(Path.cwd()))
    json_views.add_paths(Git(Path(places.work_tree)), f"{places.git_dir}/chorus", entries)


def actions(names: Sequence[str]) -> Iterator[ActionJson]:
    """One after the other, each when it is asked for."""
    shown = 0
    with suppress(TimelineUnreadable), DiskLog.open(Path.cwd()) as newest:
        for name in names:
            with garbage_collection_paused():
                found = newest.show(name)
            shown += 1
            yield found
        return
    from chorus.history.recorder import Recorder  # noqa: PLC0415

    with Recorder.open(Path.cwd()) as recorder:
        for name in names[shown:]:
            yield recorder.log.show(name)


def lanes() -> list[LaneJson]:
    with suppress(TimelineUnreadable), DiskLog.open(Path.cwd()) as newest, garbage_collection_paused():
        return newest.lanes()
    from chorus.history.recorder import Recorder  # noqa: PLC0415

    with Recorder.open(Path.cwd()) as recorder:
        return recorder.log.lanes()


def lines(path: str, line: int | None) -> list[BlameLineJson]:
    from chorus.history.log.file_history import DiskFileHistory  # noqa: PLC0415
    from chorus.history.workspace import Workspace  # noqa: PLC0415
    from chorus.review.blame import blame  # noqa: PLC0415  see above

    with (
        suppress(TimelineUnreadable),
        closing(Workspace.open(Path.cwd())) as workspace,
        DiskLog.open(Path.cwd()) as newest,
        garbage_collection_paused(),
    ):
        return blame(DiskFileHistory(workspace, newest), path, line)
    from chorus.history.log.file_history import MemoryFileHistory  # noqa: PLC0415  see above
    from chorus.history.recorder import Recorder  # noqa: PLC0415

    with Recorder.open(Path.cwd()) as recorder:
        return blame(MemoryFileHistory(recorder), path, line)


def locate(path: str) -> RepoPath | None:
    from chorus.history.workspace import Workspace  # noqa: PLC0415  see above

    with closing(Workspace.open(Path.cwd())) as workspace:
        return workspace.locate(path)
