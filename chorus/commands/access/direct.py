"""The history read by this process itself, where no watcher is running.

Imported only then: with a watcher, a command costs little more than one request. What the newest part of
the history can answer is read from that end; the whole history is loaded only where it is needed.
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


def read_log(**wanted: Any) -> list[LogEntryJson]:  # noqa: ANN401  the fields of LogFilter
    log_filter = LogFilter(**wanted)
    with suppress(TimelineUnreadable), DiskLog.open(Path.cwd()) as disk_log, garbage_collection_paused():
        return disk_log.select(log_filter, locate)
    from chorus.history.recorder import Recorder  # noqa: PLC0415  loaded only where needed

    with Recorder.open(Path.cwd()) as recorder:
        return recorder.log.select(log_filter)


def add_paths(entries: list[LogEntryJson]) -> None:
    paths = read_git_paths(Git(Path.cwd()))
    json_views.add_paths(Git(Path(paths.work_tree)), f"{paths.git_dir}/chorus", entries)


def read_actions(names: Sequence[str]) -> Iterator[ActionJson]:
    """One after the other, each read when it is needed."""
    count = 0
    with suppress(TimelineUnreadable), DiskLog.open(Path.cwd()) as disk_log:
        for name in names:
            with garbage_collection_paused():
                found = disk_log.show(name)
            count += 1
            yield found
        return
    from chorus.history.recorder import Recorder  # noqa: PLC0415  loaded only where needed

    with Recorder.open(Path.cwd()) as recorder:
        for name in names[count:]:
            yield recorder.log.show(name)


def read_lanes() -> list[LaneJson]:
    with suppress(TimelineUnreadable), DiskLog.open(Path.cwd()) as disk_log, garbage_collection_paused():
        return disk_log.lanes()
    from chorus.history.recorder import Recorder  # noqa: PLC0415  loaded only where needed

    with Recorder.open(Path.cwd()) as recorder:
        return recorder.log.lanes()


def read_blame(path: str, line: int | None) -> list[BlameLineJson]:
    from chorus.history.log.file_history import DiskFileHistory  # noqa: PLC0415  loaded only where needed
    from chorus.history.workspace import Workspace  # noqa: PLC0415  loaded only where needed
    from chorus.review.blame import blame  # noqa: PLC0415  loaded only where needed

    with (
        suppress(TimelineUnreadable),
        closing(Workspace.open(Path.cwd())) as workspace,
        DiskLog.open(Path.cwd()) as disk_log,
        garbage_collection_paused(),
    ):
        return blame(DiskFileHistory(workspace, disk_log), path, line)
    from chorus.history.log.file_history import MemoryFileHistory  # noqa: PLC0415  loaded only where needed
    from chorus.history.recorder import Recorder  # noqa: PLC0415  loaded only where needed

    with Recorder.open(Path.cwd()) as recorder:
        return blame(MemoryFileHistory(recorder), path, line)


def locate(path: str) -> RepoPath | None:
    from chorus.history.workspace import Workspace  # noqa: PLC0415  loaded only where needed

    with closing(Workspace.open(Path.cwd())) as workspace:
        return workspace.locate(path)
