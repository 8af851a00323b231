"""Landing: what a lane's actions did, as clean commits on a branch of the user's.

Receives what is to land and where. Makes the commits, all or none, and remembers them. Never writes to the
work tree; of the user's index it changes landed paths only.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from chorus.errors import ChorusError, ExitCode
from chorus.history.lanes import HEADS
from chorus.history.recorder import Recorder
from chorus.history.workspace import Workspace
from chorus.model.ids import Oid
from chorus.review.landing.merge import (
    PathChange,
    PathConflict,
    commit_changes,
    find_applied,
    find_staged_conflicts,
    join_changes,
    merge_changes,
    restore_sparse_paths,
    tree_of,
    update_user_index,
)
from chorus.review.landing.plan import CommitGroup, LandingPlan, render_commit_message
from chorus.review.landing.recovery import LandingProgress, PendingLanding
from chorus.store.objects.trees import EMPTY_TREE
from chorus.store.user_branch import UserBranch
from chorus.text.sanitize import printable


class LandConflict(ChorusError):
    """The branch, or the user's index, holds something else in the same place. Nothing was changed."""

    exit_code = ExitCode.CONFLICT


@dataclass(slots=True)
class LandingResult:
    """`commits` has one for each group; None for one that the branch holds already."""

    commits: list[Oid | None] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)  # empty where there is no commit to make
    tip: Oid | None = None


def apply_landing(
    workspace: Workspace, landing: LandingPlan, note: PendingLanding, *, dry_run: bool = False
) -> LandingResult:
    """Make the commits, or only look ahead. Raises with everything as it was.

    The caller holds the note, and clears it once what landed is remembered.
    """
    with UserBranch.open(workspace.repository, landing.onto) as branch:
        start = tree_of(workspace, branch.start)
        steps = [join_changes(own) for own in _steps(workspace, landing)]
        present = find_applied(workspace, start, [step for own in steps for step in own])
        todo = [[step for step in own if step not in present] for own in steps]
        planned = _rehearse(workspace, landing, branch, start, todo)
        if branch.is_checked_out:
            _refuse_staged(workspace, start, planned)
        if dry_run:
            return _make(workspace, landing, todo, start)
        groups = tuple(group.names for group in landing.groups)
        note.begin(LandingProgress(branch.ref, branch.start, branch.is_checked_out, groups))
        try:
            landed = _make(workspace, landing, todo, start, (branch, note))
            if branch.tip != branch.start:
                branch.copy_to_user_store(workspace.store)
                if branch.is_checked_out:
                    update_user_index(workspace, start, tree_of(workspace, branch.tip))
        except ChorusError:
            branch.roll_back()
            note.clear()
            raise
        landed.tip = branch.tip
        return landed


def mark_landed(recorder: Recorder, landing: LandingPlan, landed: LandingResult) -> None:
    """Remember what landed, and in which commit; what was there before is in the branch's tip."""
    for group, commit in zip(landing.groups, landed.commits, strict=True):
        recorder.mark("landed", group.names, {"commits": [commit or landed.tip]})


def landing_json(landing: LandingPlan, landed: LandingResult, *, dry_run: bool) -> dict[str, Any]:
    rows = list(zip(landing.groups, landed.commits, landed.messages, strict=True))
    made = [_commit_json(group, commit, text) for group, commit, text in rows if text]
    there = [number for group, _, text in rows if not text for number in group.numbers]
    return {"commits": made, "onto": landing.onto.removeprefix(HEADS), "present": there, "dry_run": dry_run}


def _commit_json(group: CommitGroup, commit: Oid | None, text: str) -> dict[str, Any]:
    """`message` has no trailers: those are added to whatever is said instead."""
    subject, message = text.partition("\n")[0], text.rpartition("\n\n")[0]
    return {"oid": commit, "subject": subject, "actions": group.numbers, "message": message}


def _steps(workspace: Workspace, landing: LandingPlan) -> list[list[PathChange]]:
    """What each group did, one action after the other."""
    found = [
        [
            step
            for e in group.entries
            if e.n is not None and e.commit
            for step in commit_changes(workspace, e.n, e.commit)
        ]
        for group in landing.groups
    ]
    told = iter(restore_sparse_paths(workspace, landing.lane.base, [step for own in found for step in own]))
    return [list(islice(told, len(own))) for own in found]


def _rehearse(
    workspace: Workspace,
    landing: LandingPlan,
    branch: UserBranch,
    tree: Oid | None,
    todo: Sequence[Sequence[PathChange]],
) -> Oid | None:
    """The tree after everything; a conflict is found before the first commit."""
    for steps in todo:
        changes = merge_changes(workspace, tree, steps)
        if isinstance(changes, list):
            raise _conflict(workspace, landing, branch, changes)
        tree = workspace.splice(tree, changes) if changes else tree
    return tree


def _make(
    workspace: Workspace,
    landing: LandingPlan,
    todo: Sequence[Sequence[PathChange]],
    tree: Oid | None,
    onto: tuple[UserBranch, PendingLanding] | None = None,
) -> LandingResult:
    """Each group on top of what the commit before it really holds: a hook may have changed it."""
    landed = LandingResult()
    for group, steps in zip(landing.groups, todo, strict=True):
        changes = merge_changes(workspace, tree, steps)
        if isinstance(changes, list):
            raise LandConflict(
                f"a commit hook changed {changes[0].path}, on which action "
                f"{_listed(changes[0].numbers)} builds; nothing was changed"
            )
        oid, text = None, ""
        if changes:
            tree = workspace.splice(tree, changes)
            text = render_commit_message(group.entries, group.names, landing.by, landing.words.of(group))
            if onto is not None:
                oid = onto[0].commit(tree or EMPTY_TREE, text)
                tree = tree_of(workspace, oid)
        if onto is not None:
            onto[1].add(oid)
        landed.commits.append(oid)
        landed.messages.append(text)
    return landed


def _refuse_staged(workspace: Workspace, old: Oid | None, new: Oid | None) -> None:
    other = find_staged_conflicts(workspace, old, new)
    if other:
        raise LandConflict(
            f"{', '.join(map(printable, other))} is staged with other changes; nothing was changed",
            hint="Commit or unstage that first (`git restore --staged PATH`).",
        )


def _conflict(
    workspace: Workspace, landing: LandingPlan, branch: UserBranch, misfits: Sequence[PathConflict]
) -> LandConflict:
    name = landing.onto.removeprefix(HEADS)
    lines = [f"{landing.lane.name} does not fit on {name}; nothing was changed"]
    for misfit in misfits:
        since = [f"^{landing.lane.base}"] if landing.lane.base else []
        words = ("log", "-1", "--format=%h %s", branch.start or EMPTY_TREE, *since, "--", misfit.path)
        by = workspace.repository.git.text(*words) if branch.start else ""
        why = f"was changed by {by}" if by else f"builds on changes that are not on {name}"
        lines.append(f"  action {_listed(misfit.numbers)}: {printable(misfit.path)} {why}")
    error = LandConflict(
        "\n".join(lines), hint="Commit what it builds on, or land on another branch (--onto)."
    )
    error.details = {"conflicts": [{"path": m.path, "actions": list(m.numbers)} for m in misfits]}
    return error


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
