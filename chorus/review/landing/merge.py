"""Changes of a lane carried over to another branch's tree.

Receives what each action did to each path on its lane, and a tree. Gives the tree with that change and no
other, or says where the two do not fit. Works on git's own form of files. Never moves a ref.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from chorus.history.lane_change import LaneChange, in_the_way, lane_entry, merge_entries
from chorus.history.workspace import Workspace
from chorus.model.ids import Oid, RepoPath
from chorus.store.maintenance.side_store import pack_into
from chorus.store.objects.trees import TreeChange, TreeEntry
from chorus.store.user_index import StagedEntry, read_index, update_index
from chorus.store.worktree.sparse import find_excluded_by_sparse


@dataclass(frozen=True, slots=True)
class PathChange:
    """What actions, by number, made of one path: several where each began with what the last one left."""

    path: RepoPath
    before: TreeEntry | None
    after: TreeEntry | None
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PathConflict:
    """A path whose content on the branch does not take the change."""

    path: RepoPath
    numbers: tuple[int, ...]


def commit_changes(workspace: Workspace, number: int, commit: Oid) -> list[PathChange]:
    """The change of one lane commit."""
    made = workspace.store.read_commit(commit)
    parent = workspace.store.read_commit(made.parents[0]).tree if made.parents else None
    return [PathChange(c.path, c.before, c.after, (number,)) for c in workspace.trees.diff(parent, made.tree)]


def restore_sparse_paths(
    workspace: Workspace, base: Oid | None, steps: Sequence[PathChange]
) -> list[PathChange]:
    """The same steps, where a file that a sparse checkout leaves out is not one that is gone: whoever writes
    it writes over what the lane began with, and whoever takes that back brings it back."""
    ends = [step.path for step in steps if step.before is None or step.after is None]
    left_out = find_excluded_by_sparse(workspace.repository, ends)
    tree = workspace.store.read_commit(base).tree if base and left_out else None
    kept = {path: lane_entry(workspace, tree, path) for path in left_out}
    return [
        PathChange(step.path, step.before or kept[step.path], step.after or kept[step.path], step.numbers)
        if step.path in kept
        else step
        for step in steps
    ]


def join_changes(steps: Iterable[PathChange]) -> list[PathChange]:
    """Steps of one path that follow on each other become one."""
    joined: list[PathChange] = []
    last: dict[RepoPath, int] = {}
    for step in steps:
        place = last.get(step.path)
        if place is not None and joined[place].after == step.before:
            old = joined[place]
            joined[place] = PathChange(step.path, old.before, step.after, old.numbers + step.numbers)
        else:
            last[step.path] = len(joined)
            joined.append(step)
    return joined


def find_applied(workspace: Workspace, tree: Oid | None, steps: Sequence[PathChange]) -> set[PathChange]:
    """The steps that the tree holds already: it has what the last of them left."""
    by_path: dict[RepoPath, list[PathChange]] = {}
    for step in steps:
        by_path.setdefault(step.path, []).append(step)
    present: set[PathChange] = set()
    for path, own in by_path.items():
        now = lane_entry(workspace, tree, path)
        if now != own[0].before:
            reached = [place for place, step in enumerate(own) if step.after == now]
            present.update(own[: reached[-1] + 1] if reached else [])
    return present


def merge_changes(
    workspace: Workspace, tree: Oid | None, steps: Sequence[PathChange]
) -> dict[RepoPath, TreeEntry | None] | list[PathConflict]:
    """The entries that differ once the steps are made, or where they cannot be."""
    changes: dict[RepoPath, TreeEntry | None] = {}
    misfits: list[PathConflict] = []
    for step in steps:
        ours = changes[step.path] if step.path in changes else lane_entry(workspace, tree, step.path)
        if ours == step.before:
            changes[step.path] = step.after
        elif step.after not in (step.before, ours):
            merged = merge_entries(workspace, step.before, ours, step.after)
            if merged is None:
                misfits.append(PathConflict(step.path, step.numbers))
            else:
                changes[step.path] = merged
    misfits += [
        PathConflict(step.path, step.numbers)
        for step in steps
        if _has_no_room(workspace, tree, step, changes)
    ]
    if misfits:
        return misfits
    return {path: entry for path, entry in changes.items() if entry != lane_entry(workspace, tree, path)}


def _has_no_room(
    workspace: Workspace, tree: Oid | None, step: PathChange, changes: dict[RepoPath, TreeEntry | None]
) -> bool:
    """A file of the branch's own stands where a directory is to be, or the other way round."""
    if changes.get(step.path) is None or lane_entry(workspace, tree, step.path) is not None:
        return False
    return any(in_the_way(workspace, tree, step.path, LaneChange(changes=changes)))


@dataclass(frozen=True, slots=True)
class IndexUpdate:
    """The entries to put into the index. `merged`: those that no tree holds."""

    entries: dict[RepoPath, TreeEntry | None] = field(default_factory=dict)
    merged: list[Oid] = field(default_factory=list)
    conflicts: list[RepoPath] = field(default_factory=list)


def tree_of(workspace: Workspace, commit: Oid | None) -> Oid | None:
    return workspace.store.read_commit(commit).tree if commit else None


def find_staged_conflicts(workspace: Workspace, old: Oid | None, new: Oid | None) -> list[RepoPath]:
    """Landed paths at which the user staged something else: it would be lost, or look like a change back."""
    changed = workspace.trees.diff(old, new)
    return _plan(workspace, changed, read_index(workspace.repository, [c.path for c in changed])).conflicts


def update_user_index(workspace: Workspace, old: Oid | None, new: Oid | None) -> None:
    changed = workspace.trees.diff(old, new)
    staged = read_index(workspace.repository, [change.path for change in changed])
    plan = _plan(workspace, changed, staged)
    if plan.merged:
        # Into the user's own store, like all that their index names.
        wanted = "".join(f"{oid}\n" for oid in plan.merged).encode()
        pack_into(workspace.repository.git, workspace.store, workspace.store.main_directory, wanted)
    update_index(workspace.repository, plan.entries, staged)


def _plan(
    workspace: Workspace, changed: Sequence[TreeChange], staged: Mapping[RepoPath, StagedEntry]
) -> IndexUpdate:
    plan = IndexUpdate()
    for change in changed:
        now = staged[change.path].entry
        if now == change.before:
            plan.entries[change.path] = change.after
        elif now != change.after:
            merged = merge_entries(workspace, change.before, now, change.after)
            if merged is None:
                plan.conflicts.append(change.path)
            elif merged != now:
                plan.entries[change.path] = merged
                plan.merged.append(merged.oid)
    return plan
