"""An action's change as a change of the lane's own tree.

Receives the lane's tree and the edits as seen in the work tree. Gives the entries to put on the lane: the
action's change alone, line by line; and, where it changes lines that someone else wrote and that the lane
does not have, exactly those lines as context, which goes first. Works on files in the form git stores, after
its filters. Never moves a ref.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from chorus.changes.line_merge import Overlap, add_context, merge_lines
from chorus.history.records import Edit
from chorus.history.workspace import PLAIN_MODES, Workspace
from chorus.model.ids import Oid, RepoPath
from chorus.store.objects.trees import TreeEntry


@dataclass(frozen=True, slots=True)
class LaneChange:
    """`context` goes first, in a commit of its own. None: the file is removed."""

    context: dict[RepoPath, TreeEntry | None] = field(default_factory=dict)
    changes: dict[RepoPath, TreeEntry | None] = field(default_factory=dict)


def plan_lane_change(workspace: Workspace, tree: Oid | None, edits: Sequence[Edit]) -> LaneChange:
    plan = LaneChange()
    new: list[RepoPath] = []
    workspace.learn_conversions(edit.path for edit in edits)
    for edit in edits:
        before, after = workspace.normal(edit.path, edit.before), workspace.normal(edit.path, edit.after)
        ours = lane_entry(workspace, tree, edit.path)
        if ours == after:
            continue
        if ours is None and after is not None:
            new.append(edit.path)
        if ours == before:
            plan.changes[edit.path] = after
            continue
        merged = merge_entries(workspace, before, ours, after)
        if merged is None:
            context = _missing_context(workspace, before, ours, after)
            plan.context[edit.path] = context
            plan.changes[edit.path] = merge_entries(workspace, before, context, after) if context else after
        elif merged != ours:
            plan.changes[edit.path] = merged
    for path in new:
        plan.context.update(dict.fromkeys(in_the_way(workspace, tree, path, plan), None))
    return plan


def lane_entry(workspace: Workspace, tree: Oid | None, path: RepoPath) -> TreeEntry | None:
    found = workspace.trees.lookup(tree, path)
    return None if found is None or found.is_tree else found


def merge_entries(
    workspace: Workspace,
    base: TreeEntry | None,
    ours: TreeEntry | None,
    theirs: TreeEntry | None,
    *,
    order: TreeEntry | None = None,
) -> TreeEntry | None:
    """`ours` with the change from `base` to `theirs`; None where both changed the same lines.

    `order` is the version that decides the order of lines inserted at one point; by default `theirs`.
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
    data = merge_lines(read(base.oid), read(ours.oid), read(theirs.oid), order=read(shown.oid))
    return None if isinstance(data, Overlap) else TreeEntry(mode, workspace.store.write_blob(data))


def _missing_context(
    workspace: Workspace, base: TreeEntry | None, ours: TreeEntry | None, theirs: TreeEntry | None
) -> TreeEntry | None:
    """The lane's file with the lines that the action changes and the lane lacks.

    The whole file where lines do not help: a file the lane does not have, a symbolic link, binary content.
    """
    if base is None or ours is None or theirs is None:
        return base
    if not all(entry.mode in PLAIN_MODES for entry in (base, ours, theirs)):
        return base
    contents = [workspace.store.read_blob(entry.oid) for entry in (base, ours, theirs)]
    if any(b"\0" in content for content in contents):
        return base
    return TreeEntry(base.mode, workspace.store.write_blob(add_context(*contents)))


def in_the_way(
    workspace: Workspace, tree: Oid | None, path: RepoPath, plan: LaneChange
) -> Iterator[RepoPath]:
    """Files of the lane that are not on disk and block `path`: one of its parents, or files below it."""
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
