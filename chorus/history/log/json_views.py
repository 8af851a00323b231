"""The JSON of `show` and `lanes`, and the patches in it as git prints them. The keys are public API."""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, NamedTuple

from chorus.history.log.entry import LogEntry, context_json, entry_json
from chorus.history.records import Edit
from chorus.model.ids import LaneName, Oid, RepoPath, SessionId
from chorus.model.lane_name import lane_ref
from chorus.store.git_process import Git

if TYPE_CHECKING:
    from chorus.model.api.json_api import ActionJson, ContextJson, EditJson, LaneJson, LogEntryJson

# Options for a patch that is the same for every user: no colours, no programs from the user's configuration.
PATCH_OPTIONS = ("-r", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color")

# Options for a patch as `git diff` prints it to this user, but without the user's own programs, and without
# colours: those are added when the patch is shown.
USER_DIFF_OPTIONS = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-color-moved", "--no-relative")


class LaneRow(NamedTuple):
    name: LaneName
    base: Oid | None
    session: SessionId | None


def show_json(
    git: Git, own_dir: str, entry: LogEntry, edits: Sequence[Edit], worktree: str, *, user_diff: bool = False
) -> "ActionJson":
    """Return the entry with its edits and its patch.

    `own_dir`: Chorus's directory of this work tree. `user_diff`: the patch has the context, algorithm and
    prefixes of the user's git settings.
    """
    patch = ""
    if entry.timeline and user_diff:
        patch = _run_user_diff(git, own_dir, entry.timeline)
    if entry.timeline and not patch:
        patch = run_diff(git, own_dir, "--no-commit-id", "--root", entry.timeline)
    paths: list[str] = list(entry.paths) or [edit.path for edit in edits]
    return {
        **entry_json(entry, worktree),
        "paths": paths,
        "files": len(paths),
        "edits": [_edit_json(edit) for edit in edits],
        "patch": patch,
    }


def _edit_json(edit: Edit) -> "EditJson":
    before, after = edit.before, edit.after
    return {
        "path": edit.path,
        "before": before.oid if before else None,
        "after": after.oid if after else None,
        "mode_before": before.mode if before else None,
        "mode_after": after.mode if after else None,
    }


class LaneCounts(NamedTuple):
    """By lane name: the number of actions, the number of open actions, and the contexts (`BY LINES PATH`)."""

    actions: Mapping[str, int]
    open_actions: Mapping[str, int]
    contexts: Mapping[str, Set[str]]


def count_by_lane(entries: Iterable[LogEntry]) -> LaneCounts:
    actions: Counter[str] = Counter()
    open_actions: Counter[str] = Counter()
    contexts: defaultdict[str, set[str]] = defaultdict(set)
    for entry in entries:
        if entry.lane is not None and entry.n is not None and entry.within is None:
            actions[entry.lane] += 1
            open_actions[entry.lane] += entry.open
            if entry.context:
                contexts[entry.lane].update(entry.context)
    return LaneCounts(actions, open_actions, contexts)


def lanes_json(
    counts: LaneCounts,
    lanes: Iterable[LaneRow],
    read_tip: Callable[[str], Oid | None],
    worktree: str,
) -> "list[LaneJson]":
    """The lanes whose branch exists, each with the number of its actions and of its open actions."""
    listed: list[LaneJson] = []
    for lane in lanes:
        ref = lane_ref(lane.name)
        tip = read_tip(ref)
        if tip is not None:
            listed.append(
                {
                    "name": lane.name, "ref": ref, "base": lane.base, "tip": tip, "session": lane.session,
                    "actions": counts.actions.get(lane.name, 0),
                    "open": counts.open_actions.get(lane.name, 0),
                    "worktree": worktree, "context": _sorted_contexts(counts.contexts.get(lane.name, ())),
                }
            )  # fmt: skip
    return listed


def _sorted_contexts(texts: Iterable[str]) -> "list[ContextJson]":
    return sorted(map(context_json, texts), key=lambda one: (one["path"], one["by"] or 0, one["lines"]))


def changes_below(git: Git, commit: Oid, path: RepoPath) -> bool:
    """Whether a timeline commit changed `path` or a file below it; True if git fails."""
    return git.attempt("diff-tree", "--quiet", "-r", f"{commit}^", commit, "--", path).returncode != 0


def add_paths(git: Git, own_dir: str, entries: "Iterable[LogEntryJson]") -> None:
    """Add the paths to entries whose records do not list them, because there are too many."""
    wanted = {entry["timeline"]: entry for entry in entries if entry["timeline"] and not entry["paths"]}
    if not wanted:
        return
    found = git.run(
        "diff-tree", "--stdin", "-r", "--no-renames", "--name-only", "-z",
        stdin="".join(f"{commit}\n" for commit in wanted).encode(),
        extra=_without_index(own_dir),
    )  # fmt: skip
    paths: list[str] = []
    for item in map(os.fsdecode, found.split(b"\0")[:-1]):
        if item in wanted:
            paths = wanted[item]["paths"] = []
        else:
            paths.append(item)
    for entry in wanted.values():
        entry["files"] = len(entry["paths"])


def run_diff(git: Git, own_dir: str, *arguments: str) -> str:
    output = git.run("diff-tree", *PATCH_OPTIONS, *arguments, extra=_without_index(own_dir))
    return output.decode("utf-8", "replace")


def _run_user_diff(git: Git, own_dir: str, commit: Oid) -> str:
    done = git.attempt("diff", *USER_DIFF_OPTIONS, f"{commit}^", commit, extra=_without_index(own_dir))
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def _without_index(own_dir: str) -> dict[str, str]:
    """Return variables that give git an empty index, so that it does not read the user's whole index."""
    return {"GIT_INDEX_FILE": f"{own_dir}/no-index"}
