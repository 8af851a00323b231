"""Find out which landed actions are still on a branch.

An action counts as landed while git can reach its commit, or a copy of it, from a branch. A copy (made by a
rebase, amend, squash or cherry-pick) is found by the trailer that names the action.
"""

import os
import time
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple, TypeAlias

from chorus.model.commits.commit_message import ACTION, parse_actions
from chorus.model.ids import Oid
from chorus.model.lane_name import LANE_REFS
from chorus.store.git_process import Git

# Every branch of the user, the remotes' too, and HEAD, as arguments of `git rev-list`.
USER_BRANCHES = (
    *(f"--exclude={ref}*" for ref in LANE_REFS),
    *(f"--exclude={ref}*" for ref in ("refs/chorus/", "refs/tags/", "refs/stash", "refs/notes/")),
    "--all",
)
# A copy of a commit has a later date than the commit. If the clock was set back by more than this, the copy
# is not found.
CLOCK_SLACK_SECONDS = 2 * 86400
# Where the branches of a repository are stored, in its common git directory.
REF_DIRECTORIES = ("refs/heads", "refs/remotes")


class Landing(NamedTuple):
    """The commits in which an action has landed, on any branch, and when it first landed."""

    commits: tuple[Oid, ...]
    seconds: int


SECOND_NS = 1_000_000_000
# The state of all branches, for comparison only.
BranchStamp: TypeAlias = tuple[tuple[str, int, int], ...]


def find_landed(git: Git, landings: Mapping[str, Landing], tips: Sequence[str] = USER_BRANCHES) -> set[str]:
    """The actions that are on the branches `tips`, given as arguments of `git rev-list`."""
    if not landings:
        return set()
    lost = _find_lost(git, {commit for landing in landings.values() for commit in landing.commits}, tips)
    landed = {name for name, landing in landings.items() if not lost.issuperset(landing.commits)}
    missing = landings.keys() - landed
    if missing:
        since = min(landings[name].seconds for name in missing) - CLOCK_SLACK_SECONDS
        landed |= missing & find_named_actions(git, tips, f"--since=@{max(since, 0)}")
    return landed


def find_named_actions(git: Git, tips: Sequence[str], *limits: str) -> set[str]:
    """Every action that a commit of these branches names in its trailers. `limits`: options of `git log`."""
    output = git.run(
        "log",
        "-z",
        "--encoding=UTF-8",
        "--format=%B",
        "--basic-regexp",
        f"--grep=^{ACTION}s\\{{0,1\\}}: ",
        *limits,
        *tips,
        "--",
    )
    messages = output.decode("utf-8", "surrogateescape").split("\0")
    return {name for message in messages for name in parse_actions(message)}


def read_branch_stamp(common_dir: str, git_dir: str) -> BranchStamp:
    """Return a stamp that changes whenever HEAD or one of the user's branches moves.

    git replaces a ref's file by a rename, which changes the modification time of the file's directory.
    """
    places = [f"{git_dir}/HEAD", f"{common_dir}/packed-refs"]
    places += [
        found for root in REF_DIRECTORIES for found in _directories(f"{common_dir}/{root}", common_dir)
    ]
    now_ns, stamp = time.time_ns(), []
    for place in places:
        try:
            found = os.stat(place)  # noqa: PTH116  hot path
        except FileNotFoundError:
            continue
        # If a file system keeps times in whole seconds, another change may follow within the same second.
        is_coarse = found.st_mtime_ns % SECOND_NS == 0 and now_ns - found.st_mtime_ns < 2 * SECOND_NS
        stamp.append((place, now_ns if is_coarse else found.st_mtime_ns, found.st_ino))
    return tuple(stamp)


def _find_lost(git: Git, commits: Set[Oid], tips: Sequence[str]) -> set[str]:
    """Return the commits that are reachable from none of these branches, or do not exist any more."""
    listed = "".join(f"{commit}\n" for commit in sorted(commits)).encode()
    known = git.run("cat-file", "--batch-check=%(objectname)", stdin=listed).decode().splitlines()
    missing = {line.removesuffix(" missing") for line in known if line.endswith(" missing")}
    present = "".join(f"{commit}\n" for commit in sorted(commits - missing)).encode()
    outside = git.run("rev-list", "--stdin", "--not", *tips, stdin=present) if present else b""
    return missing | (commits & set(outside.decode().splitlines()))


def _directories(root: str, common_dir: str) -> Iterable[str]:
    """Yield a directory of refs and all directories below it, except those of lanes."""
    lanes = {f"{common_dir}/{ref.rstrip('/')}" for ref in LANE_REFS}
    waiting = [root]
    while waiting:
        directory = waiting.pop()
        yield directory
        try:
            with os.scandir(directory) as found:
                below = [entry.path for entry in found if entry.is_dir(follow_symlinks=False)]
        except FileNotFoundError:
            continue
        waiting += sorted(path for path in below if path not in lanes)
