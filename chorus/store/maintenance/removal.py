"""Chorus taken out of a repository, which is whole without it.

Receives the repository and its store. First brings what the user's branches, tags, stash, reflogs, HEADs
and indexes need from the side store into the user's own, then removes Chorus's refs, the line by which
git finds the side store, and Chorus's files. Stopped at any point, the repository is whole and a second
run finishes. Never touches a work tree, a user's ref, an index or the configuration.
"""

import shutil
from collections.abc import Collection
from pathlib import Path

from chorus.errors import ChorusError, ExitCode
from chorus.model.lane_name import LANE_REFS, branch_name
from chorus.store.lock_file import LockFile
from chorus.store.maintenance.side_store import lock_store, pack_into
from chorus.store.maintenance.sweep import StoreBusy, needed_by_user, refresh_commit_graph, stored_in
from chorus.store.objects.object_store import ALTERNATE_LINE, ObjectStore, read_alternates
from chorus.store.refs import OWN_PREFIXES
from chorus.store.repository import Repository

# Fails where anything is missing that a ref leads to.
WALK = ("rev-list", "--objects", "--quiet")


class LaneInUse(ChorusError):
    """A work tree is on a branch that would be removed."""

    exit_code = ExitCode.REFUSED
    hint = "Switch that work tree to another branch, then run the command again."


def detach(repository: Repository, store: ObjectStore) -> int:
    """Take Chorus out, lanes included; the number of objects brought into the user's own store."""
    _refuse_lane_in_use(repository)
    with lock_store(store.directory) as mine:
        if not mine:
            raise StoreBusy("the object store is being packed or swept by another process")
        brought = copy_to_user_store(repository, store)
        remove_refs(repository)
        store.close()
        remove_line(store.main_directory / "info" / "alternates")
        refresh_commit_graph(repository)
        remove_files(repository)
        return brought


def is_store_missing(repository: Repository) -> bool:
    """Whether somebody removed the side store, and left the refs that need it.

    Branches alone say nothing: a lane that was pushed is a plain branch wherever it is fetched.
    """
    refs = any(repository.refs.list(prefix) for prefix in OWN_PREFIXES)
    had_store = ALTERNATE_LINE in read_alternates(_alternates(repository)).splitlines()
    return refs and had_store and not (repository.shared_dir / "objects").exists()


def remove_leftover_refs(repository: Repository) -> None:
    """What is left of Chorus without its store. A lane that is whole without it stays, as a plain branch."""
    _refuse_lane_in_use(repository)
    lanes = [name for refs in LANE_REFS for name in repository.refs.list(refs)]
    whole = {name for name in lanes if not repository.git.attempt(*WALK, name).returncode}
    remove_refs(repository, keep=whole)
    remove_line(_alternates(repository))
    remove_files(repository)


def copy_to_user_store(repository: Repository, store: ObjectStore) -> int:
    """What the user needs from the side store, as one pack of the user's own."""
    only_there = stored_in(repository.git, store.directory) - stored_in(repository.git, store.main_directory)
    needed = needed_by_user(repository, only_there)
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


def remove_line(place: Path) -> None:
    """Other lines stay as they are; without any, there is no file."""
    with LockFile(place) as lock:
        lines = read_alternates(place).splitlines(keepends=True)
        rest = b"".join(line for line in lines if line.rstrip(b"\n") != ALTERNATE_LINE)
        if rest:
            lock.write(rest)
            lock.commit(durable=True)
        else:
            place.unlink(missing_ok=True)


def remove_files(repository: Repository) -> None:
    common = repository.common_dir
    for git_dir in (common, *(common / "worktrees").glob("*")):
        shutil.rmtree(git_dir / "chorus", ignore_errors=True)


def _alternates(repository: Repository) -> Path:
    return repository.common_dir / "objects" / "info" / "alternates"


def _refuse_lane_in_use(repository: Repository) -> None:
    used = [ref for ref in repository.checked_out() if ref.startswith(OWN_PREFIXES)]
    if used:
        raise LaneInUse(f"a work tree is on {branch_name(used[0])}")
