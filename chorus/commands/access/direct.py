"""Read the history in this process, without the watcher. Imported only when needed, because it loads git."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from chorus.history.log import json_views
from chorus.history.log.disk_log import DiskLog
from chorus.history.log.filter import LogFilter
from chorus.history.log.joint_log import find_action, merge_logs, path_in_tree, read_each
from chorus.history.timeline.timeline_log import TimelineUnreadable
from chorus.model.ids import RepoPath
from chorus.store.git_paths import read_git_paths
from chorus.store.git_process import Git
from chorus.system.garbage_collection import garbage_collection_paused
from chorus.wire.home import find_work_tree, label_work_tree, list_work_trees

if TYPE_CHECKING:
    from chorus.model.api.json_api import ActionJson, BlameLineJson, LaneJson, LogEntryJson
    from chorus.model.api.requests import LogSelection


def read_log(*, here: bool = False, **wanted: Unpack[LogSelection]) -> list[LogEntryJson]:
    log_filter = LogFilter(**wanted)
    trees, current = _list_trees(here=here)
    if len(trees) == 1:
        return _read_tree_log(Path.cwd(), log_filter)

    def read(root: Path) -> list[LogEntryJson]:
        path = path_in_tree(log_filter.path, trees[current], root) if log_filter.path else None
        return _read_tree_log(root, log_filter._replace(path=path))

    return merge_logs(read_each(trees, read), log_filter.limit)


def _read_tree_log(root: Path, log_filter: LogFilter) -> list[LogEntryJson]:
    with suppress(TimelineUnreadable), DiskLog.open(root) as disk_log, garbage_collection_paused():
        return disk_log.select(log_filter, partial(locate, root))
    from chorus.history.recorder import Recorder  # noqa: PLC0415  loaded only where needed

    with Recorder.open(root) as recorder:
        return recorder.log.select(log_filter)


def add_missing_paths(entries: list[LogEntryJson]) -> None:
    """Add the paths that log entries lack. The watcher leaves them out of entries that have too many."""
    paths = read_git_paths(Git(Path.cwd()))
    json_views.add_paths(Git(Path(paths.work_tree)), f"{paths.git_dir}/chorus", entries)


def read_actions(names: Sequence[str], *, user_diff: bool) -> Iterator[ActionJson]:
    """Yield the actions with these names, each read only when it is requested.

    `user_diff`: make patches with the user's diff settings.
    """
    trees, current = _list_trees(here=False)
    with ExitStack() as stack:
        logs: dict[Path, DiskLog] = {}

        def show(root: Path, name: str) -> ActionJson:
            with suppress(TimelineUnreadable), garbage_collection_paused():
                if root not in logs:
                    logs[root] = stack.enter_context(DiskLog.open(root))
                return logs[root].show(name, user_diff=user_diff)
            from chorus.history.recorder import Recorder  # noqa: PLC0415  loaded only where needed

            with Recorder.open(root) as recorder:
                return recorder.log.show(name, user_diff=user_diff)

        for name in names:
            yield find_action(name, trees, current, show)


def read_lanes(*, here: bool = False) -> list[LaneJson]:
    trees, _ = _list_trees(here=here)
    return [lane for root in trees.values() for lane in _read_tree_lanes(root)]


def _read_tree_lanes(root: Path) -> list[LaneJson]:
    with suppress(TimelineUnreadable), DiskLog.open(root) as disk_log, garbage_collection_paused():
        return disk_log.lanes()
    from chorus.history.recorder import Recorder  # noqa: PLC0415  loaded only where needed

    with Recorder.open(root) as recorder:
        return recorder.log.lanes()


def _list_trees(*, here: bool) -> tuple[dict[str, Path], str]:
    """Return the work trees to read, by name, and the name of the current one."""
    root, home = find_work_tree(Path.cwd())
    current = label_work_tree(root, home)
    others = {} if here else list_work_trees(home)
    return {**others, current: root}, current


def read_blame(path: str, line: int | None) -> list[BlameLineJson]:
    from chorus.review.blame import blame, blame_from_disk  # noqa: PLC0415  loaded only where needed

    with suppress(TimelineUnreadable), garbage_collection_paused():
        return blame_from_disk(Path.cwd(), path, line)
    from chorus.history.log.file_history import MemoryFileHistory  # noqa: PLC0415  loaded only where needed
    from chorus.history.recorder import Recorder  # noqa: PLC0415  loaded only where needed

    with Recorder.open(Path.cwd()) as recorder:
        return blame(MemoryFileHistory(recorder), path, line)


def locate(root: Path, path: str) -> RepoPath | None:
    from chorus.history.workspace import Workspace  # noqa: PLC0415  loaded only where needed

    with closing(Workspace.open(root)) as workspace:
        return workspace.locate(path)
