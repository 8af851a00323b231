"""Apply a landing: make the commits that fit on a user's branch, all of them or none.

In the user's index, only landed paths change.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from chorus.errors import ChorusError, ExitCode
from chorus.history.recorder import Recorder
from chorus.history.workspace import Workspace
from chorus.model.api.json_api import LandedCommitJson, LandJson
from chorus.model.ids import Oid
from chorus.model.lane_name import branch_name
from chorus.review.landing.fit import Fit, FittingCommit, fit_landing
from chorus.review.landing.fixup import find_commits_above, restack
from chorus.review.landing.hook_check import refuse_staged_by_hook
from chorus.review.landing.merge import merge_changes, positions_from, tree_of, update_user_index
from chorus.review.landing.messages import CommitGroup
from chorus.review.landing.obstacles import LeftAction, left_hints, left_json
from chorus.review.landing.plan import LandingPlan
from chorus.review.landing.recovery import LandingProgress, PendingLanding
from chorus.store.objects.trees import EMPTY_TREE
from chorus.store.user_branch import UserBranch
from chorus.text.width import list_of


class LandConflict(ChorusError):
    """Actions do not fit the branch, the user's index, or what a commit hook changed. Nothing was landed."""

    exit_code = ExitCode.CONFLICT


@dataclass(slots=True)
class LandingResult:
    """What landed.

    `commits`: the commit of each group; None if the branch already had its changes, or for a dry run.
    """

    groups: list[CommitGroup] = field(default_factory=list)
    commits: list[Oid | None] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)  # one per group; empty if it needs no commit
    left: list[LeftAction] = field(default_factory=list)
    tip: Oid | None = None
    warnings: list[str] = field(default_factory=list)


def apply_landing(
    workspace: Workspace, plan: LandingPlan, pending: PendingLanding, *, dry_run: bool = False
) -> LandingResult:
    """Make the commits, or with `dry_run` only compute them. If this raises, nothing was changed.

    The caller holds the lock of `pending`, and clears `pending` once the landing is marked.
    """
    with UserBranch.open(workspace.repository, plan.onto, plan.created_at if plan.is_new else None) as branch:
        if plan.fixup is not None:
            return _apply_fixup(workspace, plan, branch, pending, dry_run=dry_run)
        fit = fit_landing(workspace, plan, branch.start, check_index=branch.is_checked_out)
        refuse_empty(plan, fit)
        start = tree_of(workspace, branch.start)
        if dry_run:
            return _make_commits(workspace, plan, fit, start)
        groups = [commit.group for commit in fit.commits]
        pending.begin(
            LandingProgress(
                branch.ref,
                branch.start,
                branch.is_checked_out,
                tuple(group.names for group in groups),
                recognised=tuple(group.trailer_values for group in groups),
                created=branch.is_new,
            )
        )
        try:
            result = _make_commits(workspace, plan, fit, start, (branch, pending))
            if branch.tip != branch.start:
                branch.copy_to_user_store(workspace.store)
                if branch.is_checked_out:
                    positions_of = positions_from(workspace, plan.versions)
                    update_user_index(workspace, start, tree_of(workspace, branch.tip), positions_of)
        except BaseException:
            branch.roll_back()
            pending.clear()
            raise
        result.tip = branch.tip
        return result


def mark_landed(recorder: Recorder, result: LandingResult) -> None:
    for group, commit in zip(result.groups, result.commits, strict=True):
        landed_in = commit or result.tip
        if group.names and landed_in is not None:
            recorder.mark("landed", group.names, [landed_in])


def landing_json(plan: LandingPlan, result: LandingResult, *, dry_run: bool) -> LandJson:
    rows = list(zip(result.groups, result.commits, result.messages, strict=True))
    present = [number for group, _, text in rows if not text for number in group.numbers]
    return {
        "commits": [_commit_json(group, commit, text) for group, commit, text in rows if text],
        "onto": branch_name(plan.onto),
        "present": sorted({*plan.already, *present}),
        "dry_run": dry_run,
        "left": left_json(result.left),
        "hints": left_hints(result.left, plan.onto),
        "created": plan.is_new and any(result.messages),
        "warnings": result.warnings,
    }


def refuse_empty(plan: LandingPlan, fit: Fit) -> None:
    """Raise LandConflict if some actions do not fit, and the others need no commit."""
    if fit.left and not any(commit.changes for commit in fit.commits):
        raise _conflict(plan, f"{plan.lane.name} does not fit {branch_name(plan.onto)}", fit.left)


def _conflict(plan: LandingPlan, what: str, left: Sequence[LeftAction]) -> LandConflict:
    lines = [f"{what}; nothing was changed"]
    lines += [f"  action {action.number}: {o.reason}" for action in left for o in action.obstacles]
    error = LandConflict("\n".join(lines), hint="\n".join(left_hints(left, plan.onto)))
    rows = left_json(left)
    error.details = {"conflicts": [{**row, "actions": [row["n"]]} for row in rows]}
    return error


def _commit_json(group: CommitGroup, commit: Oid | None, text: str) -> LandedCommitJson:
    subject, message = text.partition("\n")[0], text.rpartition("\n\n")[0]
    return {"oid": commit, "subject": subject, "actions": group.numbers, "message": message}


def _make_commits(
    workspace: Workspace,
    plan: LandingPlan,
    fit: Fit,
    tree: Oid | None,
    target: tuple[UserBranch, PendingLanding] | None = None,
) -> LandingResult:
    """Make the commits one after the other; without `target`, only compute the result.

    Each commit starts from the real tree of the previous commit, which a git hook may have changed.
    """
    result = LandingResult(left=fit.left)
    positions_of = positions_from(workspace, plan.versions)
    for commit in fit.commits:
        entries = merge_changes(workspace, tree, commit.changes, plan.disk, positions_of)
        if isinstance(entries, list):
            raise _changed_by_hook(commit, entries[0].change.path)
        oid, text = None, ""
        if entries:
            tree = workspace.splice(tree, entries)
            text = plan.render_message(commit.group)
            if target is not None:
                oid = target[0].commit(tree or EMPTY_TREE, text)
                made = tree_of(workspace, oid)
                refuse_staged_by_hook(workspace, plan.disk, tree, made)
                tree = made
        if target is not None:
            target[1].add(oid)
        result.groups.append(commit.group)
        result.commits.append(oid)
        result.messages.append(text)
    return result


def _changed_by_hook(commit: FittingCommit, path: str) -> LandConflict:
    numbers = commit.group.numbers
    build = "builds" if len(numbers) == 1 else "build"
    return LandConflict(
        f"a commit hook changed {path}, which {list_of(numbers, 'action')} {build} on; nothing was landed",
        hint="Land the earlier actions by themselves first.",
    )


def _apply_fixup(
    workspace: Workspace, plan: LandingPlan, branch: UserBranch, pending: PendingLanding, *, dry_run: bool
) -> LandingResult:
    assert plan.fixup is not None
    find_commits_above(workspace, plan, branch)  # raises if the fixup is not possible
    fit = fit_landing(workspace, plan, plan.fixup, check_index=False, tip=branch.start)
    if fit.left:
        raise _conflict(plan, f"some actions do not fit into commit {plan.fixup[:10]}", fit.left)
    group = CommitGroup(
        tuple(entry for commit in fit.commits for entry in commit.group.entries),
        tuple(name for commit in fit.commits for name in commit.group.names),
        tuple(name for commit in fit.commits for name in commit.group.parts),
        tuple(name for commit in fit.commits for name in commit.group.contexts),
    )
    done = restack(workspace, plan, branch, pending, group=group, tree=fit.tree, dry_run=dry_run)
    return LandingResult([group], [done.commit], [done.message], [], branch.tip, done.warnings)
