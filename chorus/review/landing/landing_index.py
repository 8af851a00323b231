"""The user's index after a landing on the branch they are on: landed paths follow, no other entry moves.

What the user staged at a landed path stays staged: it is merged with what landed. Where the two cannot be
told apart, the landing is refused before it begins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chorus.history.projection import merge_entries
from chorus.history.site import Site
from chorus.model.ids import Oid, RepoPath
from chorus.store.maintenance.side_store import pack_into
from chorus.store.objects.trees import Entry, TreeChange
from chorus.store.user_index import Staged, read_index, update_index


@dataclass(frozen=True, slots=True)
class Following:
    """The entries to put into the index. `merged`: those that no tree holds."""

    entries: dict[RepoPath, Entry | None] = field(default_factory=dict)
    merged: list[Oid] = field(default_factory=list)
    conflicts: list[RepoPath] = field(default_factory=list)


def tree_of(site: Site, commit: Oid | None) -> Oid | None:
    return site.store.read_commit(commit).tree if commit else None


def find_staged_otherwise(site: Site, old: Oid | None, new: Oid | None) -> list[RepoPath]:
    """Landed paths at which the user staged something else: it would be lost, or look like a change back."""
    changed = site.trees.diff(old, new)
    return _plan(site, changed, read_index(site.repository, [c.path for c in changed])).conflicts


def follow_in_index(site: Site, old: Oid | None, new: Oid | None) -> None:
    changed = site.trees.diff(old, new)
    staged = read_index(site.repository, [change.path for change in changed])
    plan = _plan(site, changed, staged)
    if plan.merged:
        # Into the user's own store, like all that their index names.
        wanted = "".join(f"{oid}\n" for oid in plan.merged).encode()
        pack_into(site.repository.git, site.store, site.store.main_directory, wanted)
    update_index(site.repository, plan.entries, staged)


def _plan(site: Site, changed: Sequence[TreeChange], staged: Mapping[RepoPath, Staged]) -> Following:
    plan = Following()
    for change in changed:
        now = staged[change.path].entry
        if now == change.before:
            plan.entries[change.path] = change.after
        elif now != change.after:
            merged = merge_entries(site, change.before, now, change.after)
            if merged is None:
                plan.conflicts.append(change.path)
            elif merged != now:
                plan.entries[change.path] = merged
                plan.merged.append(merged.oid)
    return plan
