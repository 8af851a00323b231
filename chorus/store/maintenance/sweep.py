"""The side store swept: what nothing reaches any more is dropped.

Receives the repository and its store, gives the bytes freed. An object counts as needed while any ref,
reflog, HEAD or index of any work tree reaches it, and for a while after it was written. Never touches
the user's own objects; if the history cannot be walked to its end, drops nothing.
"""

import os
import time
from collections.abc import Iterable
from pathlib import Path

from chorus.errors import ChorusError
from chorus.model.ids import Oid
from chorus.store.git_process import Git
from chorus.store.maintenance.reachable import needed_by_anyone, stored_in
from chorus.store.maintenance.side_store import (
    arranging,
    list_loose,
    list_packed,
    list_packs,
    pack_into,
    remove_pack,
    size_of,
)
from chorus.store.objects.store import ObjectStore
from chorus.store.repository import Repository

# Far longer than the moment between writing an object and moving the ref that reaches it.
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
    """Drop what neither the repository nor `keep` reaches; the bytes freed."""
    with arranging(store.directory) as mine:
        if not mine:
            raise StoreBusy("the object store is being packed or swept by another process")
        before = size_of(store.directory)
        oldest = time.time() - grace_seconds
        # Listed before the walk: what is written while git walks is not dropped for not being found.
        loose = [found for found in list_loose(store.directory) if found.modified_seconds < oldest]
        packs = [pack for pack in list_packs(store.directory) if pack.stat().st_mtime < oldest]
        needed = needed_by_anyone(repository.git, stored_in(repository.git, store.directory), keep)
        for found in loose:
            if found.oid not in needed:
                drop_loose(found.path, oldest)
        sweep_packs(repository.git, store, packs, needed)
        sweep_scratch(store.directory, oldest)
        refresh_commit_graph(repository)
        return max(before - size_of(store.directory), 0)


def drop_loose(path: str, oldest: float) -> None:
    """A writer that finds the object there makes it young and relies on it: such a one is put back."""
    aside = f"{path}.swept"
    os.rename(path, aside)  # noqa: PTH104
    if os.stat(aside).st_mtime < oldest:  # noqa: PTH116
        os.unlink(aside)  # noqa: PTH108
    else:
        os.rename(aside, path)  # noqa: PTH104


def sweep_packs(git: Git, store: ObjectStore, packs: Iterable[Path], needed: set[Oid]) -> None:
    """Packs with something unneeded in them are written anew without it, all into one."""
    contents = {pack: list_packed(git, pack) for pack in packs}
    dirty = [pack for pack, oids in contents.items() if not needed.issuperset(oids)]
    kept = [oid for pack in dirty for oid in contents[pack] if oid in needed]
    wanted = "".join(f"{oid}\n" for oid in kept).encode()
    whole = pack_into(git, store, store.directory, wanted) if kept else None
    for pack in dirty:
        if pack != whole:
            remove_pack(pack)


def sweep_scratch(directory: Path, oldest: float) -> None:
    """What a killed process left half-written."""
    for place in (directory, directory / "pack"):
        for path in place.glob(f"{SCRATCH_PREFIX}*"):
            if path.stat().st_mtime < oldest:
                path.unlink()


def refresh_commit_graph(repository: Repository) -> None:
    """git's own list of commits, where the user has one, must not name commits that are gone."""
    info = repository.common_dir / "objects" / "info"
    if (info / "commit-graphs").is_dir():
        repository.git.run("commit-graph", "write", "--reachable", "--split=replace")
    elif (info / "commit-graph").exists():
        repository.git.run("commit-graph", "write", "--reachable")
