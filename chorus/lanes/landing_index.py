"""The user's index after a landing on the branch they are on: landed paths follow, no other entry moves."""

from chorus.core.ids import Oid, RepoPath
from chorus.git.committing import read_index, update_index
from chorus.git.trees import Entry
from chorus.lanes.site import Site


def tree_of(site: Site, commit: Oid | None) -> Oid | None:
    return site.store.read_commit(commit).tree if commit else None


def find_staged_otherwise(site: Site, old: Oid | None, new: Oid | None) -> list[RepoPath]:
    """Landed paths at which the user staged something else: it would be lost, or look like a change back."""
    changed = site.trees.diff(old, new)
    staged = read_index(site.repository, [change.path for change in changed])
    return [c.path for c in changed if staged[c.path] not in (c.before, c.after)]


def follow_in_index(site: Site, old: Oid | None, new: Oid | None) -> None:
    changed = site.trees.diff(old, new)
    staged = read_index(site.repository, [change.path for change in changed])
    follows: dict[RepoPath, Entry | None] = {c.path: c.after for c in changed if staged[c.path] == c.before}
    update_index(site.repository, follows)
