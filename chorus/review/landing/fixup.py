"""Fold a landing into an earlier commit of the branch and restack the commits above it.

The changed commit is amended by git, so that hooks and signing run. The commits above keep author, date and
message, and are signed if the user signs commits. No hooks run for them.
"""

from dataclasses import dataclass, field

from chorus.changes.line_merge import Overlap, merge_lines
from chorus.errors import ChorusError, ExitCode, NotFound
from chorus.history.workspace import PLAIN_MODES, Workspace
from chorus.model.commits import commit_message
from chorus.model.ids import Oid
from chorus.model.lane_name import branch_name
from chorus.review.landing.hook_check import refuse_staged_by_hook
from chorus.review.landing.merge import (
    PathChange,
    PathConflict,
    find_staged_conflicts,
    merge_changes,
    positions_from,
    tree_of,
    update_user_index,
)
from chorus.review.landing.messages import CommitGroup
from chorus.review.landing.plan import LandingPlan
from chorus.review.landing.recovery import LandingProgress, PendingLanding
from chorus.store.objects.trees import EMPTY_TREE
from chorus.store.user_branch import UserBranch
from chorus.text.sanitize import printable


class FixupRefused(ChorusError):
    """The changes cannot be folded into the commit. Nothing was changed."""

    exit_code = ExitCode.CONFLICT
    hint = "Land without --fixup, or fold it in by hand with `git rebase -i`."


@dataclass(slots=True)
class Restacked:
    """The result of `restack`. `commit`: the changed commit; None for a dry run or if nothing changed."""

    commit: Oid | None = None
    message: str = ""  # empty if nothing had to change
    warnings: list[str] = field(default_factory=list)


def restack(
    workspace: Workspace,
    plan: LandingPlan,
    branch: UserBranch,
    pending: PendingLanding,
    *,
    group: CommitGroup,
    tree: Oid | None,
    dry_run: bool,
) -> Restacked:
    """Replace the tree of the commit `plan.fixup`, and restack the commits above it."""
    assert plan.fixup is not None
    commits = find_commits_above(workspace, plan, branch)
    old = workspace.store.read_commit(plan.fixup)
    if tree == old.tree:
        return Restacked()
    trees = _merge_above(workspace, plan, commits, tree)
    start = tree_of(workspace, branch.start)
    positions_of = positions_from(workspace, plan.versions)
    staged = find_staged_conflicts(workspace, start, trees[-1], positions_of) if branch.is_checked_out else []
    if staged:
        paths = ", ".join(printable(conflict.path) for conflict in staged)
        raise FixupRefused(
            f"{paths}: staged changes differ from what would land; nothing was changed",
            hint="Commit the staged changes, or unstage them with `git restore --staged PATH`.",
        )
    message = _add_trailers(workspace, old.message, group)
    done = Restacked(None, message, _warn_pushed(workspace, plan))
    if dry_run:
        return done
    try:
        amended = branch.amend(plan.fixup, tree or EMPTY_TREE, message, old.encoding)
        made = tree_of(workspace, amended)
        refuse_staged_by_hook(workspace, plan.disk, tree, made)
        if made != tree:
            trees = _merge_above(workspace, plan, commits, made)
        tip = amended
        for commit, new in zip(commits, trees[1:], strict=True):
            tip = branch.recommit(workspace.store.read_commit(commit), new or EMPTY_TREE, tip)
        branch.copy_to_user_store(workspace.store, tip)
        progress = LandingProgress(branch.ref, branch.start, branch.is_checked_out, (group.names,))
        pending.begin(progress.restacked_to(tip, amended))
        branch.move(tip, f"chorus: fixup {plan.fixup[:10]}")
        if branch.is_checked_out:
            update_user_index(workspace, start, tree_of(workspace, tip), positions_of)
    except BaseException:
        branch.roll_back()
        pending.clear()
        raise
    done.commit = amended
    return done


def find_commits_above(workspace: Workspace, plan: LandingPlan, branch: UserBranch) -> list[Oid]:
    """List the commits above `plan.fixup`, oldest first.

    Raises NotFound if `plan.fixup` is not on the branch. Raises FixupRefused if `plan.fixup` or a commit
    above it is a merge.
    """
    assert plan.fixup is not None
    name, short = branch_name(plan.onto), plan.fixup[:10]
    git = workspace.repository.git
    missing = (
        branch.start is None
        or git.attempt("merge-base", "--is-ancestor", plan.fixup, branch.start).returncode
    )
    if missing or plan.is_new:
        raise NotFound(f"{short} is not on {name}", hint=f"Run `git log {name}` to find the commit.")
    above: list[Oid] = []
    tip = branch.start
    while tip is not None:
        commit = workspace.store.read_commit(tip)
        if commit.parents[1:]:
            if tip == plan.fixup:
                raise FixupRefused(f"cannot fold into {short}: it is a merge; nothing was changed")
            merge = f"{tip[:10]}, a later commit, is a merge"
            raise FixupRefused(f"cannot fold into {short}: {merge}; nothing was changed")
        if tip == plan.fixup:
            return above[::-1]
        above.append(tip)
        tip = commit.first_parent
    raise NotFound(f"{short} is not on {name}", hint=f"Run `git log {name}` to find the commit.")


def _merge_above(
    workspace: Workspace, plan: LandingPlan, commits: list[Oid], tree: Oid | None
) -> list[Oid | None]:
    """The changed commit's tree, and the new tree of each commit above it."""
    trees = [tree]
    positions_of = positions_from(workspace, plan.versions)
    for oid in commits:
        commit = workspace.store.read_commit(oid)
        older = tree_of(workspace, commit.first_parent)
        changes = [
            PathChange(c.path, c.before, c.after, ()) for c in workspace.trees.diff(older, commit.tree)
        ]
        entries = merge_changes(workspace, tree, changes, plan.disk, positions_of)
        if isinstance(entries, list):
            subject = commit.message.partition("\n")[0]
            places = ", ".join(_place(workspace, conflict) for conflict in entries)
            raise FixupRefused(
                f"{oid[:10]} ({printable(subject)}) changes the same lines: {places}; nothing was changed"
            )
        tree = workspace.splice(tree, entries) if entries else tree
        trees.append(tree)
    return trees


def _place(workspace: Workspace, conflict: PathConflict) -> str:
    path = printable(conflict.change.path)
    sides = (conflict.change.before, conflict.ours, conflict.change.after)
    if all(entry is not None and entry.mode in PLAIN_MODES for entry in sides):
        overlap = merge_lines(*(workspace.read(entry) or b"" for entry in sides))
        if isinstance(overlap, Overlap) and overlap.ranges:
            return f"line {overlap.ranges[0].start + 1} of {path}"
    return path


def _add_trailers(workspace: Workspace, message: str, group: CommitGroup) -> str:
    trailers = [(commit_message.ACTION, name) for name in group.names]
    trailers += [(commit_message.PART, name) for name in group.parts]
    words = [f"--trailer={commit_message.render_trailer(key, value)}" for key, value in trailers]
    command = ("interpret-trailers", "--if-exists=addIfDifferent", *words)
    output = workspace.repository.git.run(*command, stdin=message.encode("utf-8", "surrogateescape"))
    return output.decode("utf-8", "surrogateescape")


def _warn_pushed(workspace: Workspace, plan: LandingPlan) -> list[str]:
    assert plan.fixup is not None
    command = ("for-each-ref", "--contains", plan.fixup, "--format=%(refname:short)", "refs/remotes/")
    remotes = workspace.repository.git.text(*command).split()
    if not remotes:
        return []
    where, name = ", ".join(remotes), branch_name(plan.onto)
    return [f"{plan.fixup[:10]} is already on {where}: push {name} with --force-with-lease"]
