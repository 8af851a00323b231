"""One action as data for programs: the JSON of `show` (keys are API), with its patch as git prints it."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from chorus.history.log.entry import LogEntry, entry_json
from chorus.history.records import Edit
from chorus.model.ids import LaneName, Oid, RepoPath, SessionId
from chorus.store.git_process import Git
from chorus.store.objects.tree_object import TreeEntry

# The same for everybody: no colours, no programs of the user's, whole object names.
PLAIN = ("-r", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color")


def show_json(git: Git, own_dir: str, entry: LogEntry, edits: Sequence[Edit]) -> dict[str, Any]:
    """The entry, its files before and after, and what it changed on disk. `own_dir`: Chorus's."""
    sides = [
        {
            "path": edit.path,
            "before": _oid(edit.before),
            "after": _oid(edit.after),
            "mode_before": _mode(edit.before),
            "mode_after": _mode(edit.after),
        }
        for edit in edits
    ]
    patch = run_diff(git, own_dir, "--no-commit-id", "--root", entry.timeline) if entry.timeline else ""
    paths = list(entry.paths) or [edit.path for edit in edits]
    return {**entry_json(entry), "paths": paths, "files": len(paths), "edits": sides, "patch": patch}


def changes_below(git: Git, commit: Oid, path: RepoPath) -> bool:
    """Whether a timeline commit changed this file, or one below this directory."""
    return git.attempt("diff-tree", "--quiet", "-r", f"{commit}^", commit, "--", path).returncode != 0


def add_paths(git: Git, own_dir: str, entries: Iterable[dict[str, Any]]) -> None:
    """Tell the files of those entries of a log that changed too many to be listed in their records."""
    wanted = {entry["timeline"]: entry for entry in entries if entry["timeline"] and not entry["paths"]}
    if not wanted:
        return
    found = git.run(
        "diff-tree", "--stdin", "-r", "--no-renames", "--name-only", "-z",
        stdin="".join(f"{commit}\n" for commit in wanted).encode(),
        extra={"GIT_INDEX_FILE": f"{own_dir}/no-index"},
    )  # fmt: skip
    paths: list[str] = []
    for item in map(os.fsdecode, found.split(b"\0")[:-1]):
        if item in wanted:
            paths = wanted[item]["paths"] = []
        else:
            paths.append(item)
    for entry in wanted.values():
        entry["files"] = len(entry["paths"])


def _oid(entry: TreeEntry | None) -> Oid | None:
    return None if entry is None else entry.oid


def _mode(entry: TreeEntry | None) -> int | None:
    return None if entry is None else entry.mode


def run_diff(git: Git, own_dir: str, *words: str) -> str:
    """What `git diff-tree` prints. It would read the user's whole index, of which it needs nothing."""
    output = git.run("diff-tree", *PLAIN, *words, extra={"GIT_INDEX_FILE": f"{own_dir}/no-index"})
    return output.decode("utf-8", "replace")


HEADS = "refs/heads/"


class LaneRow(NamedTuple):
    name: LaneName
    base: Oid | None
    session: SessionId | None


def lanes_json(
    entries: Iterable[LogEntry], lanes: Iterable[LaneRow], read_tip: Callable[[str], Oid | None]
) -> list[dict[str, Any]]:
    """Those of the lanes whose branch is there, with how many of the entries are on them, and open."""
    actions: Counter[str] = Counter()
    unreviewed: Counter[str] = Counter()
    for entry in entries:
        if entry.lane is not None and entry.n is not None and entry.within is None:
            actions[entry.lane] += 1
            unreviewed[entry.lane] += entry.open
    listed = []
    for lane in lanes:
        ref = HEADS + lane.name
        tip = read_tip(ref)
        if tip is not None:
            names = {"name": lane.name, "ref": ref, "base": lane.base, "tip": tip, "session": lane.session}
            listed.append({**names, "actions": actions[lane.name], "open": unreviewed[lane.name]})
    return listed
