"""The positions of a file's lines, from its versions on the timeline.

Versions are read only in the rare case that a merge cannot otherwise decide which line is which.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from chorus.changes.line_merge import Positions
from chorus.changes.line_places import LinePlaces
from chorus.history.disk_changes.head_moves import parse_head
from chorus.history.records import NOTHING, Edit
from chorus.history.timeline.timeline import Timeline
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.history.workspace import PLAIN_MODES, Workspace
from chorus.model.ids import Oid, RepoPath
from chorus.store.objects.trees import TreeEntry

# How far back a file is followed, and by how many versions the start moves at a time.
MAX_VERSIONS = 200
VERSIONS_STEP = 100
# Larger files are not followed.
MAX_BYTES = 2**19
# How many files are remembered with their lines: following one from the start costs a comparison per version.
MAX_FILES = 16

Versions: TypeAlias = tuple[TreeEntry | None, ...]


@dataclass(slots=True)
class _Recorded:
    """The edits of one file, without the oldest `start` edits. `first` is the timeline's first record."""

    first: Oid
    start: int
    edits: list[Edit] = field(default_factory=list)


class FileLines:
    """Finds the positions of lines in the files of a timeline."""

    def __init__(self, workspace: Workspace, timeline: Timeline) -> None:
        self._workspace = workspace
        self._timeline = timeline
        self._follower = LineFollower(workspace)
        self._recorded: OrderedDict[RepoPath, _Recorded] = OrderedDict()

    def now(
        self, path: RepoPath, content: bytes | None, step: Callable[[], None] = lambda: None
    ) -> Positions:
        """Return a function that finds the positions of the lines in a file now.

        `content`: the file's current content, recorded or not. The function calls `step` before it reads each
        version of the file. If `step` raises, the next call continues at that version.
        """
        return lambda: self._follower.positions(path, self.versions(path), content, step)

    def at_edit(self, edit: Edit, recorded: TimelineCommit | None = None) -> Positions:
        """Return a function that finds the positions of a file's lines after an edit.

        `recorded`: the edit's record, if it is written already.
        """
        return partial(self._at_edit, edit, recorded)

    def versions(self, path: RepoPath, before: TimelineCommit | None = None) -> Versions:
        """Return a file's versions, oldest first: as committed when the timeline began, then as recorded.

        `before`: leave out this record and newer ones. If there are very many versions, the oldest are left
        out.
        """
        count = self._timeline.count_touching(path, before)
        start = self._first_version(count)
        known = self._recorded.pop(path, None)
        if known is None or known.start != start or known.first != self._timeline.records[0].oid:
            known = _Recorded(self._timeline.records[0].oid, start)
        new = self._timeline.touching_since(path, start + len(known.edits))
        known.edits += [next(e for e in self._timeline.edits(each) if e.path == path) for each in new]
        self._recorded[path] = known
        if len(self._recorded) > MAX_FILES:
            self._recorded.popitem(last=False)
        return self._join(path, known.edits[: count - start], self._committed_tree())

    def versions_of(self, paths: Collection[RepoPath]) -> dict[RepoPath, Versions]:
        """Return the versions of many files, reading each record only once."""
        starts = {path: self._first_version(self._timeline.count_touching(path)) for path in paths}
        edits: dict[RepoPath, list[Edit]] = {path: [] for path in paths}
        for recorded, touched in self._timeline.touching_any(starts):
            for edit in self._timeline.edits(recorded):
                if edit.path in touched:
                    edits[edit.path].append(edit)
        tree = self._committed_tree()
        return {path: self._join(path, found, tree) for path, found in edits.items()}

    @staticmethod
    def _first_version(count: int) -> int:
        return max(0, count - MAX_VERSIONS) // VERSIONS_STEP * VERSIONS_STEP

    def _join(self, path: RepoPath, edits: Sequence[Edit], committed: Oid | None) -> Versions:
        first = [edit.before for edit in edits[:1]]
        return (*self._in_tree(committed, path), *first, *(edit.after for edit in edits))

    def _at_edit(self, edit: Edit, recorded: TimelineCommit | None) -> Mapping[bytes, int]:
        versions = self.versions(edit.path, recorded)
        # The last version is usually the one before this edit: do not follow it twice.
        start = () if versions and versions[-1] == edit.before else (edit.before,)
        return self._follower.positions(edit.path, (*versions, *start, edit.after))

    def _committed_tree(self) -> Oid | None:
        """The tree of the commit that was checked out when the timeline began."""
        head = self._timeline.records[0].record.head
        commit = None if head == NOTHING else parse_head(head).oid
        if commit is None or not self._workspace.store.has(commit):
            return None
        return self._workspace.store.read_commit(commit).tree

    def _in_tree(self, tree: Oid | None, path: RepoPath) -> Versions:
        found = None if tree is None else self._workspace.trees.lookup(tree, path)
        return () if found is None or found.is_tree else (found,)


class LineFollower:
    """Follows files through given versions, and keeps the result for the last few files."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._followed: OrderedDict[RepoPath, tuple[Versions, LinePlaces]] = OrderedDict()

    def positions(
        self,
        path: RepoPath,
        versions: Versions,
        content: bytes | None = None,
        step: Callable[[], None] = lambda: None,
    ) -> Mapping[bytes, int]:
        """Map the text of each line to its place in the file's history (see `LinePlaces`).

        The history is `versions`, then `content`. For `step`, see `FileLines.now`.
        """
        known, places = self._followed.pop(path, ((), LinePlaces()))
        if versions[: len(known)] != known:
            known, places = (), LinePlaces()
        for count, entry in enumerate(versions[len(known) :], len(known)):
            try:
                step()
            except BaseException:
                self._followed[path] = (versions[:count], places)
                raise
            plain = entry is not None and entry.mode in PLAIN_MODES
            lines = _lines(self._workspace.read(entry)) if plain else None
            if lines is not None:
                places.move(lines)
        self._followed[path] = (versions, places)
        if len(self._followed) > MAX_FILES:
            self._followed.popitem(last=False)
        lines = _lines(content)
        if lines is not None and not places.holds(lines):
            places = places.copy()
            places.move(lines)
        return places


def _lines(content: bytes | None) -> list[bytes] | None:
    """The lines of a content; None if it is missing, binary or too large to be followed."""
    if content is None or len(content) > MAX_BYTES or b"\0" in content:
        return None
    return content.removesuffix(b"\n").split(b"\n") if content else []
