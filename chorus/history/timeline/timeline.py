"""The timeline of one work tree: every observed change, in order, each with its cause.

A hidden ref points to a linear chain of commits. The tree of a commit holds the raw bytes last seen of every
file. It differs from the previous tree by exactly the edits of the commit's record.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping

from chorus.history.records import Edit, Record, is_agents, parse_record, render_record, without_unlisted
from chorus.history.timeline.position_index import PositionIndex
from chorus.history.timeline.record_list import RecordList
from chorus.history.timeline.timeline_log import OLD_REF_PREFIX, REF_PREFIX, TimelineCommit, read_timeline
from chorus.history.workspace import Authorship, Workspace
from chorus.model.ids import Oid, RepoPath
from chorus.store.objects.trees import EMPTY_TREE, TreeEntry

# Up to this many new records are read one by one. If there are more, one `git log` reads them all.
MAX_READ_SINGLY = 16
NOWHERE: "array[int]" = array("I")


class Timeline:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.ref = REF_PREFIX + workspace.name
        self._old_ref = OLD_REF_PREFIX + workspace.name
        self._clear()

    @property
    def tip(self) -> Oid | None:
        last = self.records.last
        return last.oid if last is not None else None

    @property
    def tree(self) -> Oid | None:
        """The tree of the work tree as last recorded."""
        last = self.records.last
        return last.tree if last is not None else None

    def refresh(self) -> bool:
        """Read what other processes wrote; return True if the timeline has changed."""
        tip = self._workspace.refs.read(self.ref) or self._workspace.refs.read(self._old_ref)
        if tip == self.tip:
            return False
        added = self._read_back(tip)
        if added is None:
            self._clear()
            added = read_timeline(self._workspace.repository.git, tip) if tip else []
        for recorded in added:
            self._take(recorded)
        return True

    def hide(self) -> None:
        """Move the timeline out of `refs/`, where older versions kept it. Needs the recording lock."""
        refs = self._workspace.refs
        old = refs.read(self._old_ref)
        if old is None:
            return
        if refs.read(self.ref) is None:
            refs.update(self.ref, old, None, "")
        if refs.read(self.ref) == old:
            refs.delete(self._old_ref, old, "chorus: hidden")
            refs.protect_from_gc(self.ref, old)  # git removed the reflog with the ref

    def append(self, record: Record, *, seconds: int | None = None) -> TimelineCommit:
        """Add a record: write its objects, then move the ref once."""
        changes = {edit.path: edit.after for edit in record.edits}
        tree = self._workspace.splice(self.tree, changes) if changes else self.tree or EMPTY_TREE
        return self.append_tree(record, tree, seconds=seconds)

    def append_tree(self, record: Record, tree: Oid, *, seconds: int | None = None) -> TimelineCommit:
        parents = (self.tip,) if self.tip else ()
        authorship = Authorship(self._workspace.now(), seconds, by_agent=is_agents(record))
        oid = self._workspace.commit(tree, parents, render_record(record), authorship)
        self._workspace.refs.update(self.ref, oid, self.tip, f"{record.kind.value}: {record.summary}")
        # The record is as a reader of the commit gets it.
        recorded = TimelineCommit(oid, tree, authorship.committed, without_unlisted(record))
        self._take(recorded)
        return recorded

    def entry(self, path: RepoPath) -> TreeEntry | None:
        """The file last seen at `path`."""
        found = self._workspace.trees.lookup(self.tree, path)
        return None if found is None or found.is_tree else found

    def edits(self, recorded: TimelineCommit) -> tuple[Edit, ...]:
        if recorded.record.listed:
            return recorded.record.edits
        position = self.position(recorded)
        before = self.records[position - 1].tree if position else None
        changes = self._workspace.trees.diff(before, recorded.tree)
        return tuple(Edit(change.path, change.before, change.after) for change in changes)

    def find_action(self, action: str) -> TimelineCommit | None:
        position = self._actions.get(action)
        found = None if position is None else self.records[position]
        if found is None or (found.record.action != action and action not in found.record.contained):
            return None
        return found

    def find_number(self, number: int) -> TimelineCommit | None:
        position = self._numbers.get(number)
        found = None if position is None else self.records[position]
        return found if found is not None and found.record.number == number else None

    def find_commit(self, oid: Oid) -> TimelineCommit | None:
        """The record of a lane commit, or of a timeline commit."""
        for index in (self._commits, self._positions):
            position = index.get(oid)
            if position is not None:
                found = self.records[position]
                lane_commit = found.record.lane_commit
                if oid == found.oid or (lane_commit is not None and oid == lane_commit.commit):
                    return found
        return None

    def touching(self, path: RepoPath) -> Iterator[TimelineCommit]:
        """The records that changed `path`, newest first."""
        return (self.records[position] for position in reversed(self._touched.get(path, NOWHERE)))

    def touching_after(self, path: RepoPath, position: int) -> Iterator[TimelineCommit]:
        """The records after this position that changed `path`, oldest first."""
        touched = self._touched.get(path, NOWHERE)
        return (self.records[touched[at]] for at in range(bisect_right(touched, position), len(touched)))

    def touching_any(self, starts: Mapping[RepoPath, int]) -> Iterator[tuple[TimelineCommit, set[RepoPath]]]:
        """Yield the records that changed one of these paths, oldest first, with the paths that each changed.

        `starts`: the number of oldest records to leave out, for each path.
        """
        paths: dict[int, set[RepoPath]] = {}
        for path, start in starts.items():
            for position in self._touched.get(path, NOWHERE)[start:]:
                paths.setdefault(position, set()).add(path)
        for position in sorted(paths):
            yield self.records[position], paths[position]

    def count_touching(self, path: RepoPath, before: TimelineCommit | None = None) -> int:
        """The number of records that changed `path`. With `before`, only records older than it count."""
        touched = self._touched.get(path, NOWHERE)
        return len(touched) if before is None else bisect_left(touched, self.position(before))

    def touching_since(self, path: RepoPath, start: int) -> list[TimelineCommit]:
        """The records that changed `path`, oldest first, without the oldest `start` of them."""
        return [self.records[position] for position in self._touched.get(path, NOWHERE)[start:]]

    @property
    def last_branch(self) -> str | None:
        """The user's branch that the newest lane commit was made for; None if there is no lane yet."""
        placed = (recorded.record.lane_commit for recorded in reversed(self.records))
        return next((lane_commit.branch for lane_commit in placed if lane_commit), None)

    def position(self, recorded: TimelineCommit) -> int:
        """The position of a record: 0 is the oldest."""
        position = self._positions.get(recorded.oid)
        assert position is not None, recorded.oid
        return position

    def _clear(self) -> None:
        self.records = RecordList()
        self._positions = PositionIndex()
        self._actions = PositionIndex()
        self._numbers = PositionIndex()
        self.last_number = 0
        self._commits = PositionIndex()
        self._touched: dict[RepoPath, array[int]] = {}

    def _take(self, recorded: TimelineCommit) -> None:
        position, record = len(self.records), recorded.record
        self.records.append(recorded)
        self._positions[recorded.oid] = position
        for action in (*([record.action] if record.action else []), *record.contained):
            if self._actions.get(action) is None:
                self._actions[action] = position
        if record.number is not None:
            self._numbers[record.number] = position
            self.last_number = max(self.last_number, record.number)
        if record.lane_commit:
            self._commits[record.lane_commit.commit] = position
        for edit in self.edits(recorded):
            touched = self._touched.get(edit.path)
            if touched is None:
                touched = self._touched[edit.path] = array("I")
            touched.append(position)

    def _read_back(self, tip: Oid | None) -> list[TimelineCommit] | None:
        """Return the records after the newest known one, up to `tip`, oldest first.

        None if there are more than MAX_READ_SINGLY, or if the newest known record is not below `tip`.
        """
        added: list[TimelineCommit] = []
        while tip is not None and len(added) < MAX_READ_SINGLY:
            commit = self._workspace.store.read_commit(tip)
            added.append(
                TimelineCommit(tip, commit.tree, commit.committer.seconds, parse_record(commit.message))
            )
            tip = commit.first_parent
            if tip == self.tip:
                return added[::-1]
        return None
