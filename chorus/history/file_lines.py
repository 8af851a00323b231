"""Where the lines of a file are, from all versions of it on the timeline.

Read only where a merge cannot tell two lines apart: most never ask. Never writes.
"""

from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from typing import TypeAlias

from chorus.changes.line_merge import Positions
from chorus.changes.line_places import LinePlaces
from chorus.history.head_moves import parse_head
from chorus.history.records import NOTHING, Edit
from chorus.history.timeline import Timeline
from chorus.history.timeline_log import TimelineCommit
from chorus.history.workspace import PLAIN_MODES, Workspace
from chorus.model.ids import RepoPath
from chorus.store.objects.trees import TreeEntry

# How far back a file is followed, and by how many versions the start moves at a time.
MAX_VERSIONS = 200
VERSIONS_STEP = 100
# Larger files are not followed.
MAX_BYTES = 2**19
# Files whose lines are remembered: following one from the start costs a comparison per version.
MAX_FILES = 16

Versions: TypeAlias = tuple[TreeEntry | None, ...]


class FileLines:
    """The lines of the timeline's files."""

    def __init__(self, workspace: Workspace, timeline: Timeline) -> None:
        self._workspace = workspace
        self._timeline = timeline
        self._follower = LineFollower(workspace)

    def now(self, path: RepoPath, content: bytes | None) -> Positions:
        """Positions as of now; `content` is what the file holds, recorded or not."""
        return lambda: self._follower.positions(path, self.versions(path), content)

    def at_edit(self, edit: Edit, recorded: TimelineCommit | None = None) -> Positions:
        """Positions as of this edit: of a record, or of the one that is written next."""
        return partial(self._at_edit, edit, recorded)

    def versions(self, path: RepoPath, before: TimelineCommit | None = None) -> Versions:
        """The versions of a file, oldest first: as committed when the timeline began, then as recorded.

        `before`: only what was recorded before this.
        """
        count = self._timeline.count_touching(path, before)
        start = max(0, count - MAX_VERSIONS) // VERSIONS_STEP * VERSIONS_STEP
        records = self._timeline.touching_since(path, start)[: count - start]
        edits = [next(e for e in self._timeline.edits(each) if e.path == path) for each in records]
        first = [edit.before for edit in edits[:1]]
        return (*self._committed(path), *first, *(edit.after for edit in edits))

    def _at_edit(self, edit: Edit, recorded: TimelineCommit | None) -> Mapping[bytes, int]:
        contents = [self._workspace.read(entry) for entry in (edit.before, edit.after)]
        return self._follower.positions(edit.path, self.versions(edit.path, recorded), *contents)

    def _committed(self, path: RepoPath) -> Versions:
        """The file in the commit that was checked out when the timeline began."""
        head = self._timeline.records[0].record.head
        commit = None if head == NOTHING else parse_head(head).oid
        if commit is None or not self._workspace.store.has(commit):
            return ()
        found = self._workspace.trees.lookup(self._workspace.store.read_commit(commit).tree, path)
        return () if found is None or found.is_tree else (found,)


class LineFollower:
    """Follows files through given versions, and remembers the last few."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._followed: OrderedDict[RepoPath, tuple[Versions, LinePlaces]] = OrderedDict()

    def positions(self, path: RepoPath, versions: Versions, *more: bytes | None) -> Mapping[bytes, int]:
        """The position of each line that has only one, after these versions and then `more` contents."""
        known, places = self._followed.pop(path, ((), LinePlaces()))
        if versions[: len(known)] != known:
            known, places = (), LinePlaces()
        for entry in versions[len(known) :]:
            if entry is not None and entry.mode in PLAIN_MODES:
                _move(places, self._workspace.read(entry))
        self._followed[path] = (versions, places)
        if len(self._followed) > MAX_FILES:
            self._followed.popitem(last=False)
        if more:
            places = places.copy()
            for content in more:
                _move(places, content)
        return places.positions()


def _move(places: LinePlaces, content: bytes | None) -> None:
    if content is not None and len(content) <= MAX_BYTES and b"\0" not in content:
        places.move(content.removesuffix(b"\n").split(b"\n") if content else [])
