"""Remove objects from the side store that nothing reaches any more.

An object stays while any ref, reflog, HEAD or index of any work tree reaches it, and for GRACE_SECONDS after
it was written. If git cannot walk the whole history, nothing is removed.
"""

import os
import time
from collections.abc import Collection, Iterable
from pathlib import Path

from chorus.errors import ChorusError
from chorus.model.ids import Oid
from chorus.store.git_process import Git
from chorus.store.loose_refs import HIDDEN_PREFIX
from chorus.store.maintenance.side_store import (
    list_loose,
    list_packed,
    list_packs,
    lock_store,
    pack_into,
    remove_pack,
    size_of,
)
from chorus.store.objects.object_store import ObjectStore
from chorus.store.refs import NO_OID, OWN_PREFIXES
from chorus.store.repository import Repository

# Far longer than it takes from writing an object to moving the ref that reaches it.
GRACE_SECONDS = 3600.0
SCRATCH_PREFIX = "tmp_"


class StoreBusy(ChorusError):
    """Another process is packing or sweeping the store."""

    hint = "Run the command again in a moment."


def sweep(
    repository: Repository,
    store: ObjectStore,
    keep: Iterable[Oid] = (),
    grace_seconds: float = GRACE_SECONDS,
) -> int:
    """Remove objects that neither the repository nor `keep` reaches, if they are older than `grace_seconds`.

    Returns the number of bytes freed. Raises StoreBusy if another process is packing or sweeping.
    """
    with lock_store(store.directory) as mine:
        if not mine:
            raise StoreBusy("the object store is being packed or swept by another process")
        before = size_of(store.directory)
        oldest = time.time() - grace_seconds
        # Listed before the walk, so that objects written during the walk stay.
        loose = [found for found in list_loose(store.directory) if found.modified_seconds < oldest]
        packs = [pack for pack in list_packs(store.directory) if pack.stat().st_mtime < oldest]
        tips = [*keep, *repository.refs.list(HIDDEN_PREFIX).values()]
        needed = needed_by_anyone(repository.git, stored_in(repository.git, store.directory), tips)
        for found in loose:
            if found.oid not in needed:
                drop_loose(found.path, oldest)
        sweep_packs(repository.git, store, packs, needed)
        sweep_scratch(store.directory, oldest)
        refresh_commit_graph(repository)
        return max(before - size_of(store.directory), 0)


def drop_loose(path: str, oldest: float) -> None:
    """Remove a loose object. It stays if a process has written it again since the time `oldest`."""
    aside = f"{path}.swept"
    os.rename(path, aside)  # noqa: PTH104  os is faster than pathlib here
    if os.stat(aside).st_mtime < oldest:  # noqa: PTH116  os is faster than pathlib here
        os.unlink(aside)  # noqa: PTH108  os is faster than pathlib here
    else:
        os.rename(aside, path)  # noqa: PTH104  os is faster than pathlib here


def sweep_packs(git: Git, store: ObjectStore, packs: Iterable[Path], needed: set[Oid]) -> None:
    """Replace the packs that contain unneeded objects by one pack of their needed objects."""
    contents = {pack: list_packed(git, pack) for pack in packs}
    dirty = [pack for pack, oids in contents.items() if not needed.issuperset(oids)]
    kept = [oid for pack in dirty for oid in contents[pack] if oid in needed]
    wanted = "".join(f"{oid}\n" for oid in kept).encode()
    whole = pack_into(git, store, store.directory, wanted) if kept else None
    for pack in dirty:
        if pack != whole:
            remove_pack(pack)


def sweep_scratch(directory: Path, oldest: float) -> None:
    for folder in (directory, directory / "pack"):
        for path in folder.glob(f"{SCRATCH_PREFIX}*"):
            if path.stat().st_mtime < oldest:
                path.unlink()


def refresh_commit_graph(repository: Repository) -> None:
    """Rewrite git's commit-graph, if there is one: it must not name removed commits."""
    info = repository.common_dir / "objects" / "info"
    if (info / "commit-graphs").is_dir():
        repository.git.run("commit-graph", "write", "--reachable", "--split=replace")
    elif (info / "commit-graph").exists():
        repository.git.run("commit-graph", "write", "--reachable")


def stored_in(git: Git, directory: Path) -> set[Oid]:
    packed = (oid for index in list_packs(directory) for oid in list_packed(git, index))
    return {*packed, *(found.oid for found in list_loose(directory))}


def needed_by_anyone(git: Git, stored: set[Oid], extra: Iterable[Oid] = ()) -> set[Oid]:
    return list_reachable(git, stored, extra, "--all", "--reflog", "--indexed-objects")


def needed_by_user(repository: Repository, stored: set[Oid], keep: Collection[str] = ()) -> set[Oid]:
    """The stored objects reachable from the user's refs, reflogs, HEADs and indexes, or from refs in `keep`.

    Missing objects are skipped.
    """
    git = repository.git
    lines = git.text("for-each-ref", "--format=%(objectname) %(refname)").splitlines()
    refs = (line.split(" ", 1) for line in lines)
    tips = {Oid(oid) for oid, name in refs if name in keep or not name.startswith(OWN_PREFIXES)}
    git_dirs = [repository.common_dir, *(repository.common_dir / "worktrees").glob("*")]
    for git_dir in git_dirs:
        tips |= read_reflogs(git_dir / "logs")
        head = git.text(f"--git-dir={git_dir}", "rev-parse", "--verify", "--quiet", "HEAD", accept=(0, 1))
        tips |= {Oid(head)} if head else set()
    options = ("--indexed-objects", "--ignore-missing", "--missing=allow-any")
    return list_reachable(git, stored, tips, *options)


def read_reflogs(logs: Path) -> set[Oid]:
    found: set[Oid] = set()
    for folder, _, names in os.walk(logs):
        for path in (Path(folder, name) for name in names):
            if not path.relative_to(logs).as_posix().startswith(OWN_PREFIXES):
                for line in path.read_bytes().splitlines():
                    found.update(Oid(part.decode("ascii", "replace")) for part in line.split()[:2])
    return found - {NO_OID}


def list_reachable(git: Git, stored: set[Oid], tips: Iterable[Oid], *options: str) -> set[Oid]:
    stdin = "".join(f"{tip}\n" for tip in tips).encode()
    # The objects a partial clone lacks are not in the side store either.
    arguments = ("rev-list", "--objects", "--no-object-names", "--missing=allow-promisor", *options)
    found = git.run(*arguments, "--stdin", stdin=stdin).decode().split()
    return stored.intersection(map(Oid, found))
