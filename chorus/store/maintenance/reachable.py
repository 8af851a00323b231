"""Which objects of the side store are still needed, and by whom.

Receives a repository, gives object ids. git walks the history; an error on the way is an error here, so
that nothing is ever taken for unneeded because a walk stopped early. Never changes anything.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from chorus.model.ids import Oid
from chorus.store.git_process import Git
from chorus.store.maintenance.side_store import list_loose, list_packed, list_packs
from chorus.store.refs import NO_OID, OWN_PREFIXES
from chorus.store.repository import Repository


def stored_in(git: Git, directory: Path) -> set[Oid]:
    """Every object of a store, loose or packed."""
    packed = (oid for index in list_packs(directory) for oid in list_packed(git, index))
    return {*packed, *(found.oid for found in list_loose(directory))}


def needed_by_anyone(git: Git, stored: set[Oid], extra: Iterable[Oid] = ()) -> set[Oid]:
    """Those reachable from any ref, HEAD, reflog or index of any work tree, or from `extra`."""
    return walk(git, stored, extra, "--all", "--reflog", "--indexed-objects")


def needed_by_user(repository: Repository, stored: set[Oid]) -> set[Oid]:
    """The same without Chorus's own refs and their reflogs."""
    git = repository.git
    lines = git.text("for-each-ref", "--format=%(objectname) %(refname)").splitlines()
    refs = (line.split(" ", 1) for line in lines)
    tips = {Oid(oid) for oid, name in refs if not name.startswith(OWN_PREFIXES)}
    git_dirs = [repository.common_dir, *(repository.common_dir / "worktrees").glob("*")]
    for git_dir in git_dirs:
        tips |= logged_in(git_dir / "logs")
        head = git.text(f"--git-dir={git_dir}", "rev-parse", "--verify", "--quiet", "HEAD", accept=(0, 1))
        tips |= {Oid(head)} if head else set()
    return walk(git, stored, tips, "--indexed-objects", "--ignore-missing")


def logged_in(logs: Path) -> set[Oid]:
    """Every object that a reflog of the user's names."""
    found: set[Oid] = set()
    for place, _, names in os.walk(logs):
        for path in (Path(place, name) for name in names):
            if not path.relative_to(logs).as_posix().startswith(OWN_PREFIXES):
                for line in path.read_bytes().splitlines():
                    found.update(Oid(part.decode("ascii", "replace")) for part in line.split()[:2])
    return found - {NO_OID}


def walk(git: Git, stored: set[Oid], tips: Iterable[Oid], *options: str) -> set[Oid]:
    """Those of `stored` that a walk from these tips comes by."""
    stdin = "".join(f"{tip}\n" for tip in tips).encode()
    # A partial clone lacks objects by design; these are not in the side store, so not needed from it.
    arguments = ("rev-list", "--objects", "--no-object-names", "--missing=allow-promisor", *options)
    found = git.run(*arguments, "--stdin", stdin=stdin).decode().split()
    return stored.intersection(map(Oid, found))
