"""Turn an action's change into a change of the lane's own tree, in the form git stores.

The action may change lines of other authors that the lane does not have. These lines are returned as context,
to be committed before the action's change.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from chorus.changes.line_merge import Overlap, Positions, merge_lines, place_change, unknown_positions
from chorus.history.records import Edit
from chorus.history.workspace import PLAIN_MODES, Workspace
from chorus.model.ids import Oid, RepoPath
from chorus.store.objects.trees import TreeEntry


@dataclass(frozen=True, slots=True)
class LaneChange:
    """The change of a lane's tree.

    `changes`: by path, the new entry, or None to remove the file. `context`: the same, but committed first,
    by itself.

    `lines`: by path, the lines that `context` adds, counted from 1 in the file before the action. If a path
    of `context` is not in `lines`, its whole file is context.
    """

    context: dict[RepoPath, TreeEntry | None] = field(default_factory=dict)
    changes: dict[RepoPath, TreeEntry | None] = field(default_factory=dict)
    lines: dict[RepoPath, tuple[int, ...]] = field(default_factory=dict)


def plan_lane_change(
    workspace: Workspace,
    tree: Oid | None,
    edits: Sequence[Edit],
    positions_of: Callable[[Edit], Positions],
) -> LaneChange:
    """Plan the change of the lane's tree. `positions_of` gives the line positions at the time of an edit."""
    plan = LaneChange()
    new: list[RepoPath] = []
    workspace.learn_conversions(edit.path for edit in edits)
    for edit in edits:
        before, after = workspace.normal(edit.path, edit.before), workspace.normal(edit.path, edit.after)
        ours = lane_entry(workspace, tree, edit.path)
        if before == after:
            continue
        if ours is None and after is not None:
            new.append(edit.path)
        if ours == before:
            plan.changes[edit.path] = after
            continue
        contents = _plain_contents(workspace, before, ours, after)
        if contents is None:
            _place_whole(workspace, plan, edit.path, (before, ours, after))
            continue
        assert before is not None
        assert ours is not None
        assert after is not None
        placed = place_change(*contents, positions=positions_of(edit))
        if placed.context is not None:
            plan.context[edit.path] = _write(workspace, ours.mode, placed.context)
            plan.lines[edit.path] = tuple(line + 1 for line in placed.lines)
        merged = _write(workspace, after.mode if ours.mode == before.mode else ours.mode, placed.content)
        if merged != plan.context.get(edit.path, ours):
            plan.changes[edit.path] = merged
    for path in new:
        plan.context.update(dict.fromkeys(in_the_way(workspace, tree, path, plan), None))
    return plan


def lane_entry(workspace: Workspace, tree: Oid | None, path: RepoPath) -> TreeEntry | None:
    found = workspace.trees.lookup(tree, path)
    return None if found is None or found.is_tree else found


def merge_tree_entries(
    workspace: Workspace,
    base: TreeEntry | None,
    ours: TreeEntry | None,
    theirs: TreeEntry | None,
    *,
    order: TreeEntry | None = None,
    positions: Positions = unknown_positions,
) -> TreeEntry | None:
    """Return `ours` with the change from `base` to `theirs`; None if the changes conflict.

    The result is also None if one of the three is not a regular file. If both sides inserted lines at one
    point, these lines get the order that they have in `order`, by default `theirs`.
    """
    if base is None or ours is None or theirs is None:
        return None
    if not all(entry.mode in PLAIN_MODES for entry in (base, ours, theirs)):
        return None
    mode = theirs.mode if ours.mode == base.mode else ours.mode
    if base.oid == theirs.oid:
        return TreeEntry(mode, ours.oid)
    if ours.oid in (base.oid, theirs.oid):
        return TreeEntry(mode, theirs.oid)
    read = workspace.store.read_blob
    shown = order if order is not None and order.mode in PLAIN_MODES else theirs
    contents = (read(base.oid), read(ours.oid), read(theirs.oid))
    data = merge_lines(*contents, order=read(shown.oid), positions=positions)
    return None if isinstance(data, Overlap) else TreeEntry(mode, workspace.store.write_blob(data))


def _place_whole(
    workspace: Workspace,
    plan: LaneChange,
    path: RepoPath,
    entries: tuple[TreeEntry | None, TreeEntry | None, TreeEntry | None],
) -> None:
    """Add to `plan` a change that cannot be merged line by line.

    `entries`: the file's versions before the action, on the lane, and after the action.
    """
    before, ours, after = entries
    if ours == after and after is not None:
        return
    merged = merge_tree_entries(workspace, before, ours, after)
    if merged is None:
        plan.context[path] = before
        plan.changes[path] = after
    elif merged != ours:
        plan.changes[path] = merged


def _write(workspace: Workspace, mode: int, data: bytes) -> TreeEntry:
    return TreeEntry(mode, workspace.store.write_blob(data))


def _plain_contents(workspace: Workspace, *entries: TreeEntry | None) -> list[bytes] | None:
    """The contents of these files; None if one is missing or is not made of lines."""
    if not all(entry is not None and entry.mode in PLAIN_MODES for entry in entries):
        return None
    contents = [workspace.store.read_blob(entry.oid) for entry in entries if entry is not None]
    return None if any(b"\0" in content for content in contents) else contents


def in_the_way(
    workspace: Workspace, tree: Oid | None, path: RepoPath, plan: LaneChange
) -> Iterator[RepoPath]:
    """The lane's files that block `path`: files where a directory is needed, and files below `path`."""
    parent = path.rpartition("/")[0]
    while parent:
        above = RepoPath(parent)
        if lane_entry(workspace, tree, above) is not None and above not in plan.changes:
            yield above
        parent = parent.rpartition("/")[0]
    found = workspace.trees.lookup(tree, path)
    if found is not None and found.is_tree:
        below = (RepoPath(f"{path}/{name}") for name, _ in workspace.trees.walk(found.oid))
        yield from (name for name in below if name not in plan.changes)
