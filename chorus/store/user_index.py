"""Read and update entries of the user's index, through git.

An updated entry keeps its flags, such as `--skip-worktree`, which a sparse checkout sets.
"""

import os
import time
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from chorus.errors import ChorusError
from chorus.model.ids import Oid, RepoPath
from chorus.store.git_process import GitFailed, error_text, join_names, split_names
from chorus.store.objects.trees import TreeEntry
from chorus.store.repository import Repository
from chorus.store.worktree.file_state import Stamp, stamp_of
from chorus.store.worktree.index_file import IndexEntry, make_index_entry, parse_index

# With more paths than this, all entries are listed and filtered here: git would compare each with every path.
MAX_PATH_ARGUMENTS = 100
# An editor that refreshes its view of the work tree holds the lock for some 10 ms at a time.
LOCK_TIMEOUT_SECONDS = 2.0
LOCK_RETRY_SECONDS = 0.02

# A larger index (about 100,000 files) is not read for its `stat` data alone.
MAX_INDEX_BYTES = 10 * 2**20

SKIPPED = "S"
EMPTY_BLOB = Oid("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")


class IndexLocked(ChorusError):
    """Another git process holds the index lock, or died without removing it. Nothing was changed."""

    hint = "Try again when that process has ended. If there is none, remove the lock file."


class StagedEntry(NamedTuple):
    """The index entry of a path; `entry` is None if the path is not in the index.

    For a conflict, `entry` has mode 0, which no entry of a tree has.
    """

    entry: TreeEntry | None = None
    flags: tuple[str, ...] = ()  # as options of `git update-index`


def read_index(repository: Repository, paths: Iterable[RepoPath]) -> dict[RepoPath, StagedEntry]:
    found = dict.fromkeys(paths, StagedEntry())
    if not found:
        return found
    names = list(found) if len(found) <= MAX_PATH_ARGUMENTS else []
    for line in split_names(repository.git.run("ls-files", "--stage", "-v", "-z", "--", *names)):
        fields, _, name = line.partition("\t")
        tag, mode, oid, stage = fields.split(" ")
        path = RepoPath(name)
        if path in found:
            entry = TreeEntry(int(mode, 8), Oid(oid)) if stage == "0" else TreeEntry(0, Oid(oid))
            found[path] = StagedEntry(entry, _flags(tag))
    return found | dict.fromkeys(_intended_to_add(repository, found), StagedEntry())


def has_current_stat(repository: Repository, paths: Iterable[RepoPath]) -> bool:
    """True if the index has the current `stat` data of all these files.

    If so, git has written or compared the files since they last changed. False if the index is large or its
    version is not supported.
    """
    file = repository.git_dir / "index"
    try:
        entries = parse_index(file.read_bytes()) if file.stat().st_size <= MAX_INDEX_BYTES else {}
        now = {path: stamp_of(repository.work_tree / path) for path in paths}
    except (OSError, ValueError):
        return False
    return all(
        stamp is not None and _is_stamped(entries.get(os.fsencode(path)), stamp)
        for path, stamp in now.items()
    )


def _is_stamped(known: IndexEntry | None, stamp: Stamp) -> bool:
    return known is not None and known.stamp == make_index_entry(known.entry, stamp).stamp


def update_index(
    repository: Repository, changes: Mapping[RepoPath, TreeEntry | None], old: Mapping[RepoPath, StagedEntry]
) -> None:
    """Put these entries into the index, or (None) remove them.

    `old`: the present entries of the same paths, whose flags are kept.
    """
    gone = [f"0 {'0' * 40}\t{path}" for path, entry in changes.items() if entry is None]
    come = [f"{entry.mode:o} {entry.oid}\t{path}" for path, entry in changes.items() if entry is not None]
    if changes:
        # Removals first: a directory may replace a file.
        _update(repository, "--index-info", names=[*gone, *come])
    flagged: dict[str, list[str]] = {}
    for path, entry in changes.items():
        for flag in old[path].flags if entry is not None else ():
            flagged.setdefault(flag, []).append(path)
    for flag, paths in flagged.items():
        _update(repository, flag, "--stdin", names=paths)


def wait_unlocked(repository: Repository) -> None:
    """Wait until the index is not locked. Raises IndexLocked if that takes too long."""
    lock = repository.git_dir / "index.lock"
    deadline = time.monotonic() + LOCK_TIMEOUT_SECONDS
    while lock.exists():
        if time.monotonic() > deadline:
            raise IndexLocked(f"another git process holds {lock}; nothing was changed")
        time.sleep(LOCK_RETRY_SECONDS)


def _update(repository: Repository, *options: str, names: Iterable[str]) -> None:
    stdin = join_names(names)
    while True:
        done = repository.git.attempt("update-index", "-z", *options, stdin=stdin)
        if not done.returncode:
            return
        if "index.lock': File exists" not in error_text(done):
            raise GitFailed(f"`git update-index` failed: {error_text(done)}")
        wait_unlocked(repository)


def _flags(tag: str) -> tuple[str, ...]:
    """Parse the tag of `git ls-files -v`: `S` means skip-worktree, lower case means assume-unchanged."""
    skipped = ("--skip-worktree",) if tag.upper() == SKIPPED else ()
    return (*skipped, "--assume-unchanged") if tag.islower() else skipped


def _intended_to_add(repository: Repository, found: Mapping[RepoPath, StagedEntry]) -> Collection[RepoPath]:
    """The paths that are only intended to be added (`git add -N`): their entries have no content."""
    empty = [path for path, staged in found.items() if staged.entry and staged.entry.oid == EMPTY_BLOB]
    if not empty:
        return ()
    listed = repository.git.run("diff-files", "--diff-filter=A", "--name-only", "-z")
    return set(empty).intersection(split_names(listed))
