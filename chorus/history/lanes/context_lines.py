"""Find who wrote the lines that an action builds on and its lane does not have."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from chorus.changes.diff import hunks
from chorus.changes.line_trace import trace_lines_back
from chorus.history.records import RecordKind
from chorus.history.timeline.timeline import Timeline
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.history.workspace import Workspace
from chorus.model.ids import LaneName, RepoPath

# How many changes of a file are searched for the one that wrote a line.
MAX_SEARCHED = 100
START = "start"
OUTSIDE = "outside:"


class ContextPart(NamedTuple):
    """Lines of a file with one origin, counted from 1. No lines: the whole file.

    `origin` is an action's id, `outside:COMMIT`, or `start` for lines older than the timeline.
    """

    path: RepoPath
    origin: str
    lines: tuple[int, ...]

    @property
    def is_users(self) -> bool:
        return is_users(self.origin)


def is_users(origin: str) -> bool:
    return origin == START or origin.startswith(OUTSIDE)


@dataclass(frozen=True, slots=True)
class ContextFinder:
    workspace: Workspace
    timeline: Timeline

    def find(self, lane: LaneName, path: RepoPath, lines: Sequence[int]) -> list[ContextPart]:
        """Return these lines of the file's last recorded version, by origin. The user's lines come first."""
        if not lines:
            return [ContextPart(path, self._last_origin(lane, path), ())]
        origins: dict[str, list[int]] = {}
        left = {line: line - 1 for line in lines}
        for recorded in islice(self.timeline.touching(path), MAX_SEARCHED):
            left, written = self._trace_back(left, path, recorded)
            if written:
                origin = _origin_of(recorded, lane) or self._last_origin(lane, path)
                origins.setdefault(origin, []).extend(written)
            if not left:
                break
        if left:
            searched_all = self.timeline.count_touching(path) <= MAX_SEARCHED
            origins.setdefault(START if searched_all else self._last_origin(lane, path), []).extend(left)
        parts = [ContextPart(path, origin, tuple(sorted(found))) for origin, found in origins.items()]
        return sorted(parts, key=lambda part: not part.is_users)

    def _trace_back(
        self, lines: dict[int, int], path: RepoPath, recorded: TimelineCommit
    ) -> tuple[dict[int, int], dict[int, int]]:
        edit = next(edit for edit in self.timeline.edits(recorded) if edit.path == path)
        before, after = (self.workspace.read(entry) or b"" for entry in (edit.before, edit.after))
        return trace_lines_back(lines, hunks(before, after))

    def _last_origin(self, lane: LaneName, path: RepoPath) -> str:
        """Return who last changed the file, not counting the lane's own actions."""
        found = (_origin_of(recorded, lane) for recorded in self.timeline.touching(path))
        return next((origin for origin in found if origin is not None), START)


def _origin_of(recorded: TimelineCommit, lane: LaneName) -> str | None:
    """Return the origin of what a record changed; None for the lane's own actions."""
    record = recorded.record
    if record.kind is RecordKind.OUTSIDE:
        return f"{OUTSIDE}{recorded.oid[:12]}"
    is_own = record.lane_commit is not None and record.lane_commit.lane == lane
    return None if is_own or not record.action else record.action
