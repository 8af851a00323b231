"""Chorus taken out of a repository, which is whole without it.

Receives the repository and its store. First brings what the user's branches, tags, stash, reflogs, HEADs
and indexes need from the side store into the user's own, then removes Chorus's refs, the line by which
git finds the side store, and Chorus's files. Stopped at any point, the repository is whole and a second
run finishes. Never touches a work tree, a user's ref, an index or the configuration.
"""

import shutil
from pathlib import Path

from chorus.errors import ChorusError, ExitCode
from chorus.git.lockfile import LockFile
from chorus.git.objects import ALTERNATE_LINE, ObjectStore, read_alternates
from chorus.git.reachable import needed_by_user, stored_in
from chorus.git.refs import OWN_PREFIXES
from chorus.git.repository import Repository
from chorus.git.sidestore import arranging, pack_into
from chorus.git.sweeping import StoreBusy, refresh_commit_graph


class LaneInUse(ChorusError):
    """A work tree is on a branch that would be removed."""

    exit_code = ExitCode.REFUSED
    hint = "Switch that work tree to another branch, then run the command again."


def detach(repository: Repository, store: ObjectStore) -> int:
    """Take Chorus out, lanes included; the number of objects brought into the user's own store."""
    _refuse_lane_in_use(repository)
    with arranging(store.directory) as mine:
        if not mine:
            raise StoreBusy("the object store is being packed or swept by another process")
        brought = bring_home(repository, store)
        remove_refs(repository)
        store.close()
        remove_line(store.main_directory / "info" / "alternates")
        refresh_commit_graph(repository)
        remove_files(repository)
        return brought


def is_torn(repository: Repository) -> bool:
    """Whether somebody removed the side store, and left the refs that need it."""
    refs = any(repository.refs.list(prefix) for prefix in OWN_PREFIXES)
    return refs and not (repository.shared_dir / "objects").exists()


def remove_remains(repository: Repository) -> None:
    """What is left of Chorus without its store: nothing that anybody could read."""
    _refuse_lane_in_use(repository)
    remove_refs(repository)
    remove_line(repository.common_dir / "objects" / "info" / "alternates")
    remove_files(repository)


def bring_home(repository: Repository, store: ObjectStore) -> int:
    """What the user needs from the side store, as one pack of the user's own."""
    only_there = stored_in(repository.git, store.directory) - stored_in(repository.git, store.main_directory)
    needed = needed_by_user(repository, only_there)
    wanted = "".join(f"{oid}\n" for oid in sorted(needed)).encode()
    pack_into(repository.git, store, store.main_directory, wanted)
    return len(needed)


def remove_refs(repository: Repository) -> None:
    for prefix in OWN_PREFIXES:
        for name, oid in repository.refs.list(prefix).items():
            repository.refs.delete(name, oid, "chorus: detach")
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


def _refuse_lane_in_use(repository: Repository) -> None:
    used = [ref for ref in repository.checked_out() if ref.startswith(OWN_PREFIXES)]
    if used:
        raise LaneInUse(f"a work tree is on {used[0].removeprefix('refs/heads/')}")
