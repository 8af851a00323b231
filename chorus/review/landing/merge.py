"""Merge the changes of a lane into another branch's tree and into the user's index.

All files are in the form git stores. A change that the user staged at a landed path is merged with the landed
change, and stays staged.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from chorus.changes.line_merge import Positions
from chorus.history.lanes.lane_change import LaneChange, in_the_way, lane_entry, merge_tree_entries
from chorus.history.timeline.file_lines import LineFollower, Versions
from chorus.history.workspace import Workspace
from chorus.model.ids import Oid, RepoPath
from chorus.store.maintenance.side_store import pack_into
from chorus.store.objects.trees import TreeChange, TreeEntry
from chorus.store.user_index import StagedEntry, read_index, update_index
from chorus.store.worktree.sparse import find_excluded_by_sparse

PositionsOf: TypeAlias = Callable[[RepoPath], Positions]


@dataclass(frozen=True, slots=True)
class PathChange:
    """A change of one path. `numbers`: the actions that made it; several if their changes were joined."""

    path: RepoPath
    before: TreeEntry | None
    after: TreeEntry | None
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PathConflict:
    change: PathChange
    ours: TreeEntry | None


@dataclass(frozen=True, slots=True)
class StagedConflict:
    """A path at which the user's staged change conflicts with the landing."""

    path: RepoPath
    before: TreeEntry | None  # on the branch
    staged: TreeEntry | None
    after: TreeEntry | None  # after the landing


@dataclass(frozen=True, slots=True)
class IndexUpdate:
    """The entries to put into the index. `merged`: the blobs of merged files, which are in no tree."""

    entries: dict[RepoPath, TreeEntry | None] = field(default_factory=dict)
    merged: list[Oid] = field(default_factory=list)
    conflicts: list[StagedConflict] = field(default_factory=list)


def positions_from(workspace: Workspace, versions: Mapping[RepoPath, Versions]) -> PositionsOf:
    follower = LineFollower(workspace)
    return lambda path: lambda: follower.positions(path, versions.get(path, ()))


def tree_of(workspace: Workspace, commit: Oid | None) -> Oid | None:
    return workspace.store.read_commit(commit).tree if commit else None


def commit_changes(workspace: Workspace, number: int, commit: Oid) -> list[PathChange]:
    made = workspace.store.read_commit(commit)
    parent = tree_of(workspace, made.first_parent)
    return [PathChange(c.path, c.before, c.after, (number,)) for c in workspace.trees.diff(parent, made.tree)]


def restore_sparse_paths(
    workspace: Workspace, base: Oid | None, changes: Sequence[PathChange]
) -> list[PathChange]:
    """Replace "no file" by the file of the lane's base, at paths that a sparse checkout leaves out.

    Such a file is in the base but not on disk, so an action seems to have created or deleted it.
    """
    ends = [change.path for change in changes if change.before is None or change.after is None]
    left_out = find_excluded_by_sparse(workspace.repository, ends)
    tree = tree_of(workspace, base) if left_out else None
    kept = {path: lane_entry(workspace, tree, path) for path in left_out}
    return [
        PathChange(c.path, c.before or kept[c.path], c.after or kept[c.path], c.numbers)
        if c.path in kept
        else c
        for c in changes
    ]


def join_changes(changes: Iterable[PathChange], paths: Collection[RepoPath]) -> list[PathChange]:
    """Join successive changes of the same path, for each of these paths.

    Two changes are joined only if the second starts from the content that the first left.
    """
    joined: list[PathChange] = []
    last: dict[RepoPath, int] = {}
    for change in changes:
        index = last.get(change.path)
        if index is not None and change.path in paths and joined[index].after == change.before:
            old = joined[index]
            joined[index] = PathChange(change.path, old.before, change.after, old.numbers + change.numbers)
        else:
            last[change.path] = len(joined)
            joined.append(change)
    return joined


def find_applied(workspace: Workspace, tree: Oid | None, changes: Sequence[PathChange]) -> set[PathChange]:
    """Find the changes that the tree already has.

    The tree has a change if the tree's file is exactly as the change left it. The tree then also has the
    earlier changes of the file, as long as each one ends with the content from which the next one starts. If
    the file is as it was before its first change, the tree has none of its changes.
    """
    by_path: dict[RepoPath, list[PathChange]] = {}
    for change in changes:
        by_path.setdefault(change.path, []).append(change)
    applied: set[PathChange] = set()
    for path, own in by_path.items():
        now = lane_entry(workspace, tree, path)
        reached = [index for index, change in enumerate(own) if change.after == now]
        if now != own[0].before and reached:
            first = last = reached[-1]
            while first > 0 and own[first - 1].after == own[first].before:
                first -= 1
            applied.update(own[first : last + 1])
    return applied


def merge_changes(
    workspace: Workspace,
    tree: Oid | None,
    changes: Sequence[PathChange],
    disk: Oid | None,
    positions_of: PositionsOf,
) -> dict[RepoPath, TreeEntry | None] | list[PathConflict]:
    """Merge the changes into `tree`. Return the entries that differ from `tree`, or else the conflicts.

    Lines inserted at one point get their order from `disk`, the recorded tree of the work tree.
    """
    entries: dict[RepoPath, TreeEntry | None] = {}
    conflicts: list[PathConflict] = []
    for change in changes:
        ours = entries[change.path] if change.path in entries else lane_entry(workspace, tree, change.path)
        if ours == change.before:
            entries[change.path] = change.after
        elif change.after not in (change.before, ours):
            order = workspace.normal(change.path, lane_entry(workspace, disk, change.path))
            positions = positions_of(change.path)
            merged = merge_tree_entries(
                workspace, change.before, ours, change.after, order=order, positions=positions
            )
            if merged is None:
                conflicts.append(PathConflict(change, ours))
            else:
                entries[change.path] = merged
    conflicts += [PathConflict(c, None) for c in changes if _is_obstructed(workspace, tree, c, entries)]
    if conflicts:
        return conflicts
    return {path: entry for path, entry in entries.items() if entry != lane_entry(workspace, tree, path)}


def find_staged_conflicts(
    workspace: Workspace, old: Oid | None, new: Oid | None, positions_of: PositionsOf
) -> list[StagedConflict]:
    changed = workspace.trees.diff(old, new)
    staged = read_index(workspace.repository, [c.path for c in changed])
    return _plan_index(workspace, changed, staged, positions_of).conflicts


def update_user_index(
    workspace: Workspace, old: Oid | None, new: Oid | None, positions_of: PositionsOf
) -> None:
    """Update the user's index with what changed between the trees `old` and `new`."""
    changed = workspace.trees.diff(old, new)
    staged = read_index(workspace.repository, [change.path for change in changed])
    update = _plan_index(workspace, changed, staged, positions_of)
    if update.merged:
        # These blobs go into the user's own object store, like everything else that the index names.
        wanted = "".join(f"{oid}\n" for oid in update.merged).encode()
        pack_into(workspace.repository.git, workspace.store, workspace.store.main_directory, wanted)
    update_index(workspace.repository, update.entries, staged)


def _is_obstructed(
    workspace: Workspace, tree: Oid | None, change: PathChange, entries: dict[RepoPath, TreeEntry | None]
) -> bool:
    """Whether the branch has a file where a directory is needed, or a directory where a file is needed."""
    if entries.get(change.path) is None or lane_entry(workspace, tree, change.path) is not None:
        return False
    return any(in_the_way(workspace, tree, change.path, LaneChange(changes=entries)))


def _plan_index(
    workspace: Workspace,
    changed: Sequence[TreeChange],
    staged: Mapping[RepoPath, StagedEntry],
    positions_of: PositionsOf,
) -> IndexUpdate:
    update = IndexUpdate()
    for change in changed:
        now = staged[change.path].entry
        if now == change.before:
            update.entries[change.path] = change.after
        elif now != change.after:
            positions = positions_of(change.path)
            merged = merge_tree_entries(workspace, change.before, now, change.after, positions=positions)
            if merged is None:
                update.conflicts.append(StagedConflict(change.path, change.before, now, change.after))
            elif merged != now:
                update.entries[change.path] = merged
                update.merged.append(merged.oid)
    return update
