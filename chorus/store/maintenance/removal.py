"""Remove Chorus from a repository.

The objects that the user's refs, reflogs, HEADs and indexes need are first copied to the user's object
directory. If the removal stops at any point, the repository is intact, and a second run finishes.
"""

import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from chorus.errors import ChorusError, ExitCode
from chorus.model.lane_name import LANE_REFS, branch_name
from chorus.store.lock_file import LockFile
from chorus.store.loose_refs import BrokenRef, read_loose
from chorus.store.maintenance.side_store import lock_store, pack_into
from chorus.store.maintenance.sweep import StoreBusy, needed_by_user, refresh_commit_graph, stored_in
from chorus.store.objects.object_store import ALTERNATE_LINE, ObjectStore, read_alternates
from chorus.store.refs import OWN_PREFIXES
from chorus.store.repository import Repository

# Chorus's directory itself (""), and the directories in it that recording and dropping need.
OWN_DIRECTORIES = ("", "spool", "objects", "objects/pack", "objects/info")
# Files of the recorder. Locks and logs are missing here: they are known by the end of their names.
OWN_FILES = ("pending", "index", "index.tree", "last-number")
# A git command that fails if an object reachable from the given ref is missing.
CHECK_REACHABLE = ("rev-list", "--objects", "--quiet")


class LaneInUse(ChorusError):
    """A branch that would be removed is checked out."""

    exit_code = ExitCode.REFUSED
    hint = (
        "Switch that work tree to another branch (`git worktree list` shows it), then run the command again."
    )


def detach(repository: Repository, store: ObjectStore, keep: Collection[str] = ()) -> int:
    """Remove Chorus, including its lanes. Returns the number of objects copied to the user's store.

    `keep`: lanes to keep as plain branches, with all objects they need.
    """
    _refuse_lane_in_use(repository, keep)
    with lock_store(store.directory) as mine:
        if not mine:
            raise StoreBusy("the object store is being packed or swept by another process")
        copied = copy_to_user_store(repository, store, keep)
        remove_refs(repository, keep)
        store.close()
        remove_alternate(store.main_directory / "info" / "alternates")
        refresh_commit_graph(repository)
        remove_files(repository)
        return copied


def clear_the_way(repository: Repository) -> list[str]:
    """Remove a file where Chorus needs a directory, and an empty directory where Chorus needs a file.

    Also remove Chorus's ref files that do not contain a ref, and return the names of these refs.
    """
    for path in (repository.shared_dir / name for name in OWN_DIRECTORIES):
        if not is_directory(path):
            path.unlink(missing_ok=True)
    # An empty directory with the name of a lock, a log, a file of the recorder or git's alternates file.
    for path in repository.shared_dir.glob("*"):
        if path.name.endswith((".lock", ".jsonl")) or path.name in OWN_FILES:
            with suppress(OSError):
                path.rmdir()
    with suppress(OSError):
        _alternates(repository).rmdir()
    return _remove_broken_refs(repository)


def is_directory(path: Path) -> bool:
    """True for a directory or a link to one. False for a link to itself, for which `is_dir` may raise."""
    try:
        return path.is_dir()
    except (OSError, RuntimeError):
        return False


def _remove_broken_refs(repository: Repository) -> list[str]:
    removed: list[str] = []
    for prefix in OWN_PREFIXES:
        for path in sorted((repository.common_dir / prefix).rglob("*")):
            try:
                read_loose(str(path))
            except BrokenRef:
                path.unlink()
                removed.append(path.relative_to(repository.common_dir).as_posix())
    return removed


def is_store_missing(repository: Repository) -> bool:
    """True if the side store was deleted by hand while refs that need it still exist.

    Refs alone do not prove this: in a clone, a lane that was pushed is a plain branch. So git's alternates
    file must still name the side store.
    """
    refs = any(repository.refs.list(prefix) for prefix in OWN_PREFIXES)
    refs = refs or (repository.common_dir / "logs" / "refs" / "chorus").exists()
    was_attached = ALTERNATE_LINE in read_alternates(_alternates(repository)).splitlines()
    return refs and was_attached and not (repository.shared_dir / "objects").exists()


def remove_leftover_refs(repository: Repository) -> None:
    """Remove Chorus when its side store is missing. Lanes whose objects all exist stay, as plain branches."""
    _refuse_lane_in_use(repository)
    remove_refs(repository, keep=find_complete_lanes(repository))
    remove_alternate(_alternates(repository))
    remove_files(repository)


def find_complete_lanes(repository: Repository) -> set[str]:
    lanes = [name for refs in LANE_REFS for name in repository.refs.list(refs)]
    return {name for name in lanes if not repository.git.attempt(*CHECK_REACHABLE, name).returncode}


def copy_to_user_store(repository: Repository, store: ObjectStore, keep: Collection[str] = ()) -> int:
    """Copy the needed objects of the side store to the user's store, as one pack. Returns their number."""
    only_there = stored_in(repository.git, store.directory) - stored_in(repository.git, store.main_directory)
    needed = needed_by_user(repository, only_there, keep)
    wanted = "".join(f"{oid}\n" for oid in sorted(needed)).encode()
    pack_into(repository.git, store, store.main_directory, wanted)
    return len(needed)


def remove_refs(repository: Repository, keep: Collection[str] = ()) -> None:
    for prefix in OWN_PREFIXES:
        for name, oid in repository.refs.list(prefix).items():
            if name not in keep:
                repository.refs.delete(name, oid, "chorus: detach")
        if any(name.startswith(prefix) for name in keep):
            continue
        for above in (repository.common_dir, repository.common_dir / "logs"):
            shutil.rmtree(above / prefix, ignore_errors=True)


def remove_alternate(path: Path) -> None:
    """Remove the side store's line from git's alternates file, or the whole file if it has no other line."""
    with LockFile(path) as lock:
        lines = read_alternates(path).splitlines(keepends=True)
        others = b"".join(line for line in lines if line.rstrip(b"\n") != ALTERNATE_LINE)
        if others:
            lock.write(others)
            lock.commit(durable=True)
        else:
            path.unlink(missing_ok=True)


def remove_files(repository: Repository) -> None:
    common = repository.common_dir
    for git_dir in (common, *(common / "worktrees").glob("*")):
        own = git_dir / "chorus"
        if own.is_symlink():
            own.unlink()  # the directory that the link points to is not Chorus's to remove
        else:
            shutil.rmtree(own, ignore_errors=True)


def _alternates(repository: Repository) -> Path:
    return repository.common_dir / "objects" / "info" / "alternates"


def _refuse_lane_in_use(repository: Repository, keep: Collection[str] = ()) -> None:
    used = [ref for ref in repository.checked_out() if ref.startswith(OWN_PREFIXES) and ref not in keep]
    if used:
        raise LaneInUse(f"{branch_name(used[0])} is checked out in a work tree")
