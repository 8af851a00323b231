"""Apply a landing: make the planned commits on a user's branch, all or none.

Never writes to the work tree; in the user's index only landed paths change.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from chorus.errors import ChorusError, ExitCode
from chorus.history.recorder import Recorder
from chorus.history.workspace import Workspace
from chorus.model.ids import Oid
from chorus.model.json_api import LandedCommitJson, LandJson
from chorus.model.lane_name import branch_name
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
from chorus.review.landing.plan import CommitGroup, LandingPlan
from chorus.review.landing.recovery import LandingProgress, PendingLanding
from chorus.store.objects.trees import EMPTY_TREE
from chorus.store.user_branch import UserBranch
from chorus.text.sanitize import printable


class LandConflict(ChorusError):
    """The branch or the user's index conflicts with what is to land. Nothing was changed."""

    exit_code = ExitCode.CONFLICT


@dataclass(slots=True)
class LandingResult:
    """`commits` has one for each group; None for a group the branch already had."""

    commits: list[Oid | None] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)  # empty where no commit is needed
    tip: Oid | None = None


def apply_landing(
    workspace: Workspace, plan: LandingPlan, pending: PendingLanding, *, dry_run: bool = False
) -> LandingResult:
    """Make the commits, or only compute them. If it raises, everything is as it was.

    The caller holds the lock of `pending`, and clears it once the landing is marked.
    """
    with UserBranch.open(workspace.repository, plan.onto) as branch:
        start = tree_of(workspace, branch.start)
        groups = [join_changes(changes) for changes in _group_changes(workspace, plan)]
        applied = find_applied(workspace, start, [change for changes in groups for change in changes])
        todo = [[change for change in changes if change not in applied] for changes in groups]
        planned = _rehearse(workspace, plan, branch, start, todo)
        if branch.is_checked_out:
            _refuse_staged(workspace, start, planned)
        if dry_run:
            return _commit_groups(workspace, plan, todo, start)
        names = tuple(group.names for group in plan.groups)
        pending.begin(LandingProgress(branch.ref, branch.start, branch.is_checked_out, names))
        try:
            result = _commit_groups(workspace, plan, todo, start, (branch, pending))
            if branch.tip != branch.start:
                branch.copy_to_user_store(workspace.store)
                if branch.is_checked_out:
                    update_user_index(workspace, start, tree_of(workspace, branch.tip))
        except ChorusError:
            branch.roll_back()
            pending.clear()
            raise
        result.tip = branch.tip
        return result


def mark_landed(recorder: Recorder, plan: LandingPlan, result: LandingResult) -> None:
    """Remember which commit each action landed in; for what the branch already had, its tip."""
    for group, commit in zip(plan.groups, result.commits, strict=True):
        landed_in = commit or result.tip
        assert landed_in is not None
        recorder.mark("landed", group.names, [landed_in])


def landing_json(plan: LandingPlan, result: LandingResult, *, dry_run: bool) -> LandJson:
    rows = list(zip(plan.groups, result.commits, result.messages, strict=True))
    return {
        "commits": [_commit_json(group, commit, text) for group, commit, text in rows if text],
        "onto": branch_name(plan.onto),
        "present": [number for group, _, text in rows if not text for number in group.numbers],
        "dry_run": dry_run,
    }


def _commit_json(group: CommitGroup, commit: Oid | None, text: str) -> LandedCommitJson:
    """The JSON of one commit. `message` has no trailers: they are added to a message by the user too."""
    subject, message = text.partition("\n")[0], text.rpartition("\n\n")[0]
    return {"oid": commit, "subject": subject, "actions": group.numbers, "message": message}


def _group_changes(workspace: Workspace, plan: LandingPlan) -> list[list[PathChange]]:
    """The changes of each group, action by action."""
    groups = [
        [
            change
            for entry in group.entries
            if entry.n is not None and entry.commit
            for change in commit_changes(workspace, entry.n, entry.commit)
        ]
        for group in plan.groups
    ]
    flat = [change for changes in groups for change in changes]
    restored = iter(restore_sparse_paths(workspace, plan.lane.base, flat))
    return [list(islice(restored, len(changes))) for changes in groups]


def _rehearse(
    workspace: Workspace,
    plan: LandingPlan,
    branch: UserBranch,
    tree: Oid | None,
    todo: Sequence[Sequence[PathChange]],
) -> Oid | None:
    """The tree after all groups; finds a conflict before the first commit."""
    for changes in todo:
        entries = merge_changes(workspace, tree, changes, plan.disk)
        if isinstance(entries, list):
            raise _conflict(workspace, plan, branch, entries)
        tree = workspace.splice(tree, entries) if entries else tree
    return tree


def _commit_groups(
    workspace: Workspace,
    plan: LandingPlan,
    todo: Sequence[Sequence[PathChange]],
    tree: Oid | None,
    target: tuple[UserBranch, PendingLanding] | None = None,
) -> LandingResult:
    """Commit each group on top of what the commit before it really holds: a hook may have changed it."""
    result = LandingResult()
    for group, changes in zip(plan.groups, todo, strict=True):
        entries = merge_changes(workspace, tree, changes, plan.disk)
        if isinstance(entries, list):
            raise LandConflict(
                f"a commit hook changed {entries[0].path}, on which action "
                f"{_join(entries[0].numbers)} builds; nothing was changed"
            )
        oid, text = None, ""
        if entries:
            tree = workspace.splice(tree, entries)
            text = plan.render_message(group)
            if target is not None:
                oid = target[0].commit(tree or EMPTY_TREE, text)
                tree = tree_of(workspace, oid)
        if target is not None:
            target[1].add(oid)
        result.commits.append(oid)
        result.messages.append(text)
    return result


def _refuse_staged(workspace: Workspace, old: Oid | None, new: Oid | None) -> None:
    conflicts = find_staged_conflicts(workspace, old, new)
    if conflicts:
        raise LandConflict(
            f"{', '.join(map(printable, conflicts))}: staged changes differ from what would land; "
            "nothing was changed",
            hint="Commit or unstage that first (`git restore --staged PATH`).",
        )


def _conflict(
    workspace: Workspace, plan: LandingPlan, branch: UserBranch, conflicts: Sequence[PathConflict]
) -> LandConflict:
    name = branch_name(plan.onto)
    lines = [f"{plan.lane.name} conflicts with {name}; nothing was changed"]
    for conflict in conflicts:
        since = [f"^{plan.lane.base}"] if plan.lane.base else []
        arguments = ("log", "-1", "--format=%h %s", branch.start or EMPTY_TREE, *since, "--", conflict.path)
        by = workspace.repository.git.text(*arguments) if branch.start else ""
        reason = f"was changed by {by}" if by else f"builds on changes that are not on {name}"
        lines.append(f"  action {_join(conflict.numbers)}: {printable(conflict.path)} {reason}")
    error = LandConflict(
        "\n".join(lines),
        hint="Commit the changes those actions build on, or land on another branch with --onto.",
    )
    error.details = {"conflicts": [{"path": c.path, "actions": list(c.numbers)} for c in conflicts]}
    return error


def _join(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
