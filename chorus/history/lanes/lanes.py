"""The lanes of one work tree: their commits, and the choice of a lane for a session's next action.

A session has one lane for each branch that the user had checked out. If that lane is dropped or checked out,
the session's next action starts a new one. A branch is never moved if it is checked out anywhere, or if
Chorus did not create it.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from chorus.history.lanes.context_lines import ContextFinder, ContextPart
from chorus.history.lanes.lane_change import plan_lane_change
from chorus.history.records import Edit, LaneCommit, Record, identity_trailers
from chorus.history.timeline.file_lines import FileLines
from chorus.history.timeline.timeline import Timeline
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.history.workspace import Authorship, Workspace
from chorus.model.commits import commit_message as message
from chorus.model.commits.commit_message import MessageText, render_message, shorten
from chorus.model.ids import LaneName, Oid, RepoPath, SessionId
from chorus.model.lane_name import BRANCHES, branch_name, choose_lane_name, lane_ref
from chorus.model.review_state import REVERT_TOOL
from chorus.store.loose_refs import MAX_REF_BYTES
from chorus.store.objects.object_store import ObjectMissing
from chorus.store.objects.trees import EMPTY_TREE, TreeEntry
from chorus.store.refs import Head

# How many commits of the user on top of a lane are read in search of the lane's own.
MAX_ADDED_COMMITS = 100
# The files that name the branch a work tree is on, or returns to after a rebase.
BRANCH_FILES = ("HEAD", "rebase-merge/head-name", "rebase-apply/head-name")

Changes: TypeAlias = Mapping[RepoPath, TreeEntry | None]


@dataclass(frozen=True, slots=True)
class Lane:
    """A lane. `base`: the commit it started from; None if the branch was unborn.

    `branch`: the user's branch that was checked out when the lane started, or a name for a detached HEAD.
    """

    name: LaneName
    session: SessionId | None
    branch: str
    base: Oid | None

    @property
    def ref(self) -> str:
        return lane_ref(self.name)


@dataclass(frozen=True, slots=True)
class PreparedCommit:
    """A lane commit that is not on its branch yet. `tip`: the branch's commit when it was prepared."""

    lane: Lane
    tip: Oid | None
    record: Record


class Lanes:
    def __init__(self, workspace: Workspace, timeline: Timeline) -> None:
        self._workspace = workspace
        self._timeline = timeline
        self.lines = FileLines(workspace, timeline)
        self._context = ContextFinder(workspace, timeline)
        self._seen = 0  # the number of records read for lanes
        self._seen_last: Oid | None = None  # the last of those records
        self._last: tuple[Oid | None, Oid] = (None, EMPTY_TREE)
        self._moved: tuple[LaneName, Oid] | None = None  # the lane moved last, and where to
        self._by_name: dict[LaneName, Lane] = {}
        self._by_key: dict[tuple[SessionId | None, str], Lane] = {}

    def all(self) -> list[Lane]:
        """Every lane of the timeline, oldest first, including dropped ones."""
        self._catch_up()
        return list(self._by_name.values())

    def existing(self) -> list[tuple[Lane, Oid]]:
        """The lanes whose branch exists, with their tips. A user's branch with a lane's name is left out."""
        tips = [(lane, self._workspace.refs.read(lane.ref)) for lane in self.all()]
        return [(lane, tip) for lane, tip in tips if tip is not None and self._is_ours(lane, tip)]

    def choose(
        self, session: SessionId | None, branch: str, head: Head, message: str | None, day: str
    ) -> Lane:
        """Return the session's lane for `branch`; a new lane if that one does not exist or is not free."""
        self._catch_up()
        lane = self._by_key.get((session, branch))
        if lane is not None and self._is_free(lane, head):
            return lane
        branches = self._workspace.refs.list(BRANCHES)
        taken = {branch_name(ref) for ref in branches} | set(self._by_name)
        name = choose_lane_name(session, message, day, taken)
        return Lane(name, session, branch, head.oid)

    def find_free(self, name: LaneName, head: Head) -> Lane | None:
        """Return the lane with this name, if its branch exists and is not checked out anywhere."""
        self._catch_up()
        lane = self._by_name.get(name)
        return lane if lane is not None and self._is_free(lane, head) else None

    def prepare(
        self, lane: Lane, record: Record, edits: Sequence[Edit], seconds: int | None
    ) -> PreparedCommit:
        """Write the objects of a lane commit and, if needed, of a context commit before it. Moves no ref."""
        tip = self._workspace.refs.read(lane.ref)
        parent = tip or lane.base
        tree = self._tree_of(parent) if parent else None
        change = plan_lane_change(self._workspace, tree, edits, self.lines.at_edit)
        record = record._replace(skipped=(*record.skipped, *self._workspace.drain_filter_failures()))
        if change.context:
            parts = [
                part
                for path in change.context
                for part in self._context.find(lane.name, path, change.lines.get(path, ()))
            ]
            text = self._context_text(record, parts)
            by_agent = not any(part.is_users for part in parts)
            parent, tree = self._commit(tree, change.context, parent, text, seconds, by_agent=by_agent)
            record = record._replace(context=self._describe_context(parts))
        text = MessageText(record.summary, record.message, record.file_lines, commit_trailers(record))
        by_agent = record.tool != REVERT_TOOL
        commit, _ = self._commit(tree, change.changes, parent, text, seconds, by_agent=by_agent)
        return PreparedCommit(
            lane, tip, record._replace(lane_commit=LaneCommit(lane.name, lane.branch, lane.base, commit))
        )

    def publish(self, prepared: PreparedCommit) -> None:
        """Move the branch to a prepared commit; raises RefMoved if the branch has moved since."""
        record = prepared.record
        assert record.lane_commit is not None
        reason = f"{record.action}: {record.summary}"
        self._workspace.refs.update(prepared.lane.ref, record.lane_commit.commit, prepared.tip, reason)
        self._moved = (prepared.lane.name, record.lane_commit.commit)

    def reword(self, recorded: TimelineCommit, commit: Oid, summary: str, head: Head) -> Oid | None:
        """Replace the subject of a lane's newest commit, and return the new commit; None if not possible."""
        assert recorded.record.lane_commit is not None
        lane = self.find_free(recorded.record.lane_commit.lane, head)
        if lane is None or self._workspace.refs.read(lane.ref) != commit:
            return None
        old = self._workspace.store.read_commit(commit)
        _, _, rest = old.message.partition("\n")
        new = self._workspace.store.write_commit(replace(old, message=f"{summary}\n{rest}"))
        self._workspace.refs.update(lane.ref, new, commit, f"{recorded.record.action}: {summary}")
        self._last, self._moved = (new, old.tree), (lane.name, new)
        return new

    def _commit(
        self,
        tree: Oid | None,
        changes: Changes,
        parent: Oid | None,
        text: MessageText,
        seconds: int | None,
        *,
        by_agent: bool,
    ) -> tuple[Oid, Oid]:
        """Write a commit, and return its id and its tree. Without `changes`, the commit is empty."""
        new = self._workspace.splice(tree, changes) if changes else tree or EMPTY_TREE
        parents = (parent,) if parent else ()
        authorship = Authorship(self._workspace.now(), seconds, by_agent=by_agent)
        oid = self._workspace.commit(new, parents, render_message(text), authorship)
        self._last = (oid, new)
        return oid, new

    def _tree_of(self, commit: Oid) -> Oid:
        return self._last[1] if self._last[0] == commit else self._workspace.store.read_commit(commit).tree

    def _context_text(self, record: Record, parts: Sequence[ContextPart]) -> MessageText:
        trailers = [(message.CONTEXT, f"{part.origin} {part.path}") for part in parts]
        session = [(message.SESSION, record.session)] if record.session else []
        subject = shorten(f"Context for: {record.summary}")
        return MessageText(subject, trailers=(*trailers, *session))

    def _describe_context(self, parts: Iterable[ContextPart]) -> tuple[str, ...]:
        """Return `BY LINES PATH` for each part.

        BY: the number of the action that wrote the lines, or `-` for the user. LINES: `-` for a whole file.
        """
        described = []
        for part in parts:
            other = None if part.is_users else self._timeline.find_action(part.origin)
            by = other.record.number if other is not None and other.record.number else "-"
            described.append(f"{by} {','.join(map(str, part.lines)) or '-'} {part.path}")
        return tuple(described)

    def _is_free(self, lane: Lane, head: Head) -> bool:
        tip = self._workspace.refs.read(lane.ref)
        return tip is not None and lane.ref not in self._checked_out(head) and self._is_ours(lane, tip)

    def _is_ours(self, lane: Lane, tip: Oid) -> bool:
        """Return whether the branch at `tip` is this lane.

        After a drop, another branch may have the lane's name. The newest commit that names an action decides.
        The user may have added commits on top of it. After more than MAX_ADDED_COMMITS, the result is False.
        """
        if (lane.name, tip) == self._moved:
            return True
        commit: Oid | None = tip
        for _ in range(MAX_ADDED_COMMITS + 1):
            try:
                read = self._workspace.store.read_commit(commit) if commit else None
            except ObjectMissing:  # the end of a shallow clone
                read = None
            if read is None:
                break
            action = message.parse_message(read.message).first(message.ACTION)
            if action is not None:
                found = self._timeline.find_action(action)
                placed = found.record.lane_commit if found is not None else None
                return placed is not None and placed.lane == lane.name
            commit = read.first_parent
        return False

    def _checked_out(self, head: Head) -> set[str]:
        """Return the branches checked out or being rebased in any work tree of the repository."""
        common = self._workspace.repository.common_dir
        try:
            names = os.listdir(f"{common}/worktrees")  # noqa: PTH208  hot path
            others = [f"{common}/worktrees/{name}" for name in names]
        except FileNotFoundError:
            others = []
        named = [read_branch(f"{git_dir}/{file}") for git_dir in (common, *others) for file in BRANCH_FILES]
        return {ref for ref in (head.ref, *named) if ref}

    def _catch_up(self) -> None:
        records = self._timeline.records
        if self._seen > len(records) or (self._seen and records[self._seen - 1].oid != self._seen_last):
            self._seen = 0
            self._by_name.clear()
            self._by_key.clear()
        for recorded in records[self._seen :]:
            commit = recorded.record.lane_commit
            if commit is not None:
                lane = Lane(commit.lane, recorded.record.session, commit.branch, commit.base)
                lane = self._by_name.setdefault(commit.lane, lane)
                self._by_key[lane.session, lane.branch] = lane
        self._seen, self._seen_last = len(records), self._timeline.tip


def commit_trailers(record: Record) -> tuple[tuple[str, str], ...]:
    return (*identity_trailers(record), *((message.SKIPPED, value) for value in record.skipped))


def read_branch(path: str) -> str | None:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return os.read(file, MAX_REF_BYTES).decode("utf-8", "replace").strip().removeprefix("ref: ")
    finally:
        os.close(file)
