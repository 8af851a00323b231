"""The user's index at some paths: read, and put entries into it, through git.

Receives paths and entries. What the user marked an entry with (`--skip-worktree`, which is also how a sparse
checkout leaves a file out, `--assume-unchanged`) stays on it. Touches no other entry, and waits for another
git process that has the index locked, for a moment.
"""

import time
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from chorus.errors import ChorusError
from chorus.model.ids import Oid, RepoPath
from chorus.store.git_process import GitFailed, error_text, join_names, split_names
from chorus.store.objects.trees import TreeEntry
from chorus.store.repository import Repository

# git compares every entry with every name it is given: more than so many are picked out here.
MAX_PATH_ARGUMENTS = 100
# An editor that looks at the state of the work tree holds the lock for some 10 ms at a time.
LOCKED_SECONDS = 2.0
LOCKED_LOOK_SECONDS = 0.02

SKIPPED = "S"
EMPTY_BLOB = Oid("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")


class IndexLocked(ChorusError):
    """Another git process has the index, or one that died left its lock. Nothing was changed."""

    hint = "Try again when that process is over; if there is none, remove the file."


class StagedEntry(NamedTuple):
    """What the index holds at a path. A conflict counts as an entry no tree has."""

    entry: TreeEntry | None = None
    marks: tuple[str, ...] = ()  # options of `git update-index` that mark it so again


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
            found[path] = StagedEntry(entry, _marks(tag))
    return found | dict.fromkeys(_only_intended(repository, found), StagedEntry())


def update_index(
    repository: Repository, changes: Mapping[RepoPath, TreeEntry | None], old: Mapping[RepoPath, StagedEntry]
) -> None:
    """Put these entries into the index, marked as those they take the place of."""
    gone = [f"0 {'0' * 40}\t{path}" for path, entry in changes.items() if entry is None]
    come = [f"{entry.mode:o} {entry.oid}\t{path}" for path, entry in changes.items() if entry is not None]
    if changes:
        # What goes comes first: a directory may take the place of a file.
        _update(repository, "--index-info", names=[*gone, *come])
    marked: dict[str, list[str]] = {}
    for path, entry in changes.items():
        for mark in old[path].marks if entry is not None else ():
            marked.setdefault(mark, []).append(path)
    for mark, paths in marked.items():
        _update(repository, mark, "--stdin", names=paths)


def wait_unlocked(repository: Repository) -> None:
    """Until the index can be written; raises if that takes too long."""
    place = repository.git_dir / "index.lock"
    deadline = time.monotonic() + LOCKED_SECONDS
    while place.exists():
        if time.monotonic() > deadline:
            raise IndexLocked(f"another git process has the index locked ({place}); nothing was changed")
        time.sleep(LOCKED_LOOK_SECONDS)


def _update(repository: Repository, *words: str, names: Iterable[str]) -> None:
    given = join_names(names)
    while True:
        done = repository.git.attempt("update-index", "-z", *words, stdin=given)
        if not done.returncode:
            return
        if "index.lock': File exists" not in error_text(done):
            raise GitFailed(f"`git update-index` failed: {error_text(done)}")
        wait_unlocked(repository)


def _marks(tag: str) -> tuple[str, ...]:
    """`git ls-files -v`: a letter, `S` for what is not checked out; small: assumed to be unchanged."""
    skipped = ("--skip-worktree",) if tag.upper() == SKIPPED else ()
    return (*skipped, "--assume-unchanged") if tag.islower() else skipped


def _only_intended(repository: Repository, found: Mapping[RepoPath, StagedEntry]) -> Collection[RepoPath]:
    """Entries without content, for a file that is only meant to be added (`git add -N`)."""
    empty = [path for path, staged in found.items() if staged.entry and staged.entry.oid == EMPTY_BLOB]
    if not empty:
        return ()
    listed = repository.git.run("diff-files", "--diff-filter=A", "--name-only", "-z")
    return set(empty).intersection(split_names(listed))
