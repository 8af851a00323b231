"""Changes of a lane carried over to another branch's tree.

Receives what each action did to each path on its lane, and a tree. Gives the tree with that change and no
other, or says where the two do not fit. Works on git's own form of files. Never moves a ref.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chorus.history.projection import Projection, in_the_way, lane_entry, merge_entries
from chorus.history.site import Site
from chorus.model.ids import Oid, RepoPath
from chorus.store.objects.trees import Entry
from chorus.store.worktree.sparse import find_left_out


@dataclass(frozen=True, slots=True)
class Step:
    """What actions, by number, made of one path: several where each began with what the last one left."""

    path: RepoPath
    before: Entry | None
    after: Entry | None
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Misfit:
    """A path whose content on the branch does not take the change."""

    path: RepoPath
    numbers: tuple[int, ...]


def steps_of(site: Site, number: int, commit: Oid) -> list[Step]:
    """The change of one lane commit."""
    made = site.store.read_commit(commit)
    parent = site.store.read_commit(made.parents[0]).tree if made.parents else None
    return [Step(c.path, c.before, c.after, (number,)) for c in site.trees.diff(parent, made.tree)]


def with_left_out(site: Site, base: Oid | None, steps: Sequence[Step]) -> list[Step]:
    """The same steps, where a file that a sparse checkout leaves out is not one that is gone: whoever writes
    it writes over what the lane began with, and whoever takes that back brings it back."""
    ends = [step.path for step in steps if step.before is None or step.after is None]
    left_out = find_left_out(site.repository, ends)
    tree = site.store.read_commit(base).tree if base and left_out else None
    kept = {path: lane_entry(site, tree, path) for path in left_out}
    return [
        Step(step.path, step.before or kept[step.path], step.after or kept[step.path], step.numbers)
        if step.path in kept
        else step
        for step in steps
    ]


def join_steps(steps: Iterable[Step]) -> list[Step]:
    """Steps of one path that follow on each other become one."""
    joined: list[Step] = []
    last: dict[RepoPath, int] = {}
    for step in steps:
        place = last.get(step.path)
        if place is not None and joined[place].after == step.before:
            old = joined[place]
            joined[place] = Step(step.path, old.before, step.after, old.numbers + step.numbers)
        else:
            last[step.path] = len(joined)
            joined.append(step)
    return joined


def find_present(site: Site, tree: Oid | None, steps: Sequence[Step]) -> set[Step]:
    """The steps that the tree holds already: it has what the last of them left."""
    by_path: dict[RepoPath, list[Step]] = {}
    for step in steps:
        by_path.setdefault(step.path, []).append(step)
    present: set[Step] = set()
    for path, own in by_path.items():
        now = lane_entry(site, tree, path)
        if now != own[0].before:
            reached = [place for place, step in enumerate(own) if step.after == now]
            present.update(own[: reached[-1] + 1] if reached else [])
    return present


def carry(site: Site, tree: Oid | None, steps: Sequence[Step]) -> dict[RepoPath, Entry | None] | list[Misfit]:
    """The entries that differ once the steps are made, or where they cannot be."""
    changes: dict[RepoPath, Entry | None] = {}
    misfits: list[Misfit] = []
    for step in steps:
        ours = changes[step.path] if step.path in changes else lane_entry(site, tree, step.path)
        if ours == step.before:
            changes[step.path] = step.after
        elif step.after not in (step.before, ours):
            merged = merge_entries(site, step.before, ours, step.after)
            if merged is None:
                misfits.append(Misfit(step.path, step.numbers))
            else:
                changes[step.path] = merged
    misfits += [Misfit(step.path, step.numbers) for step in steps if _has_no_room(site, tree, step, changes)]
    if misfits:
        return misfits
    return {path: entry for path, entry in changes.items() if entry != lane_entry(site, tree, path)}


def _has_no_room(site: Site, tree: Oid | None, step: Step, changes: dict[RepoPath, Entry | None]) -> bool:
    """A file of the branch's own stands where a directory is to be, or the other way round."""
    if changes.get(step.path) is None or lane_entry(site, tree, step.path) is not None:
        return False
    return any(in_the_way(site, tree, step.path, Projection(changes=changes)))
