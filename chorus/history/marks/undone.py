"""Find the actions whose changes are gone from disk, when an outside change or a revert is recorded.

A branch switch undoes nothing: the change is still on the other branch.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from chorus.changes.diff import split_lines
from chorus.changes.line_history import FileVersion, LineCounts, LineHistory, Presence
from chorus.history.marks.mark_log import Mark
from chorus.history.records import Edit, Record, is_agents
from chorus.history.timeline.timeline import Timeline
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.history.workspace import PLAIN_MODES, Workspace
from chorus.model.ids import Oid, RepoPath
from chorus.model.review_state import REVERT_TOOL
from chorus.store.objects.trees import TreeEntry

# How many records of a file are followed. Older actions keep the status that they have.
MAX_RECORDS_FOLLOWED = 200
# Larger files are compared as a whole.
MAX_FOLLOWED_BYTES = 2**20
# How many files are remembered with their lines: following one from the start costs a comparison per record.
MAX_FILES_REMEMBERED = 32
# How the reflog names operations that leave changes on another branch, or restore them by themselves.
SWITCHES = ("checkout:", "rebase", "pull --rebase")


@dataclass(frozen=True, slots=True)
class FollowedFile:
    """The lines of a file after the first `count` records that changed it."""

    lines: LineHistory
    count: int


class UndoneActions:
    def __init__(self, workspace: Workspace, timeline: Timeline) -> None:
        self._workspace = workspace
        self._timeline = timeline
        self._first: Oid | None = None  # the timeline's first record, which a rewrite replaces
        self._files: OrderedDict[RepoPath, FollowedFile] = OrderedDict()
        self._marked: dict[str, dict[str, LineCounts]] = {}  # what the marks say, by action and path
        self._landed: set[str] = set()

    def take(self, mark: Mark) -> None:
        """Note which actions a mark reports as undone or landed."""
        match mark.get("kind"):
            case "undone":
                for name, path, gone, changed in mark["parts"]:
                    self._marked.setdefault(name, {})[path] = LineCounts(gone, changed)
            case "landed":
                self._landed.update(mark["ids"])
                for name in mark["ids"]:
                    self._marked.pop(name, None)

    def forget(self) -> None:
        """Forget the lines of all files, because they may include a record that was not written."""
        self._files.clear()

    def compare(
        self,
        edits: Iterable[Edit],
        reason: str | None,
        *,
        by_git: bool = False,
        revert: Sequence[str] | None = None,
    ) -> list[tuple[str, str, int, int]]:
        """Return what these edits undo or restore, as (action, path, gone, changed).

        `changed`: how many lines the action changed in the file. `gone`: how many of them are gone now,
        other than by a revert.

        `revert`: the actions that the edits revert; None if the edits are an outside change. A revert undoes
        no other action, but may restore lines that were gone. Landed actions are left out unless `by_git`.
        """
        if is_switch(reason):
            return []
        settled: Collection[str] = () if by_git else self._landed
        found: list[tuple[str, str, int, int]] = []
        for edit in edits:
            if not self._has_actions(edit.path):
                continue
            lines = self._follow(edit, revert)
            for action in lines.actions:
                counts = lines.count(action)
                marked = self._marked.get(action, {}).get(edit.path, LineCounts(0, counts.changed))
                if counts != marked and action not in settled:
                    found.append((action, edit.path, *counts))
        return found

    def _has_actions(self, path: RepoPath) -> bool:
        newest = islice(self._timeline.touching(path), MAX_RECORDS_FOLLOWED)
        return any(is_agents(recorded.record) for recorded in newest)

    def _follow(self, edit: Edit, revert: Sequence[str] | None) -> LineHistory:
        """Follow the lines of a file through its records, then through this edit, which is recorded later.

        Only the newest MAX_RECORDS_FOLLOWED records are read, unless older ones were followed before.
        """
        if self._first != self._timeline.records[0].oid:
            self._first = self._timeline.records[0].oid
            self._files.clear()
        path, total = edit.path, self._timeline.count_touching(edit.path)
        known = self._files.pop(path, None)
        if known is not None and known.count <= total:
            lines, new = known.lines, self._timeline.touching_since(path, known.count)
        else:
            new = self._timeline.touching_since(path, max(0, total - MAX_RECORDS_FOLLOWED))
            lines = LineHistory.start(self._version(self._edit(new[0], path).before))
        for recorded in new:
            self._add(lines, recorded.record, self._version(self._edit(recorded, path).after))
        if revert is None:
            lines.add_other(self._version(edit.after))
        else:
            self._add_revert(lines, revert, self._version(edit.after))
        self._files[path] = FollowedFile(lines, total + 1)
        if len(self._files) > MAX_FILES_REMEMBERED:
            self._files.popitem(last=False)
        return lines

    def _add(self, lines: LineHistory, record: Record, version: FileVersion) -> None:
        if is_agents(record):
            lines.add_action(record.action or "", version)
        elif record.tool == REVERT_TOOL:
            self._add_revert(lines, record.reverts, version)
        else:
            lines.add_other(version, Presence.AWAY if is_switch(record.reason) else Presence.GONE)

    def _add_revert(self, lines: LineHistory, reverts: Sequence[str], version: FileVersion) -> None:
        redone = self._redone(reverts)
        if redone is None:
            lines.add_other(version, Presence.REVERTED)
        else:
            lines.redo(redone, version)

    def _redone(self, reverts: Sequence[str]) -> str | None:
        """Return the action that is redone when `reverts` are reverted; None if none is redone.

        An action is redone if `reverts` is a single revert, and that revert reverted this action only.
        """
        if len(reverts) != 1:
            return None
        first = self._timeline.find_action(reverts[0])
        if first is None or is_agents(first.record) or len(first.record.reverts) != 1:
            return None
        action = self._timeline.find_action(first.record.reverts[0])
        return action.record.action if action is not None and is_agents(action.record) else None

    def _edit(self, recorded: TimelineCommit, path: RepoPath) -> Edit:
        return next(edit for edit in self._timeline.edits(recorded) if edit.path == path)

    def _version(self, entry: TreeEntry | None) -> FileVersion:
        if entry is None:
            return FileVersion(None)
        whole = FileVersion(f"{entry.mode:o} {entry.oid}")
        if entry.mode not in PLAIN_MODES:
            return whole
        data = self._workspace.read(entry) or b""
        if len(data) > MAX_FOLLOWED_BYTES or b"\0" in data:
            return whole
        lines = split_lines(data if data.endswith(b"\n") else data + b"\n") if data else []
        ending = "" if data.endswith(b"\n") or not data else " no newline"
        return FileVersion(f"{entry.mode:o}{ending}", lines)


def is_switch(reason: str | None) -> bool:
    """Whether this reason names an operation of git that checks out another commit."""
    return reason is not None and reason.startswith(SWITCHES)
