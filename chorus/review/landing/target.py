"""Find what the user names for a landing: the lane, the branch to land on, the commit of a fixup."""

from chorus.errors import NotFound, UsageError
from chorus.history.lanes.lanes import Lane
from chorus.history.recorder import Recorder
from chorus.history.workspace import Workspace
from chorus.model.ids import Oid
from chorus.model.lane_name import BRANCHES, branch_name, is_lane_ref, lane_spellings


class NothingToLand(NotFound):
    hint = "Run `chorus lanes` to list the lanes, or `chorus log --lane NAME` to list the actions of one."


def find_lane(recorder: Recorder, name: str) -> Lane:
    recorder.journal.refresh()
    for lane in recorder.lanes.all():
        if lane.name in lane_spellings(name):
            return lane
    if name in recorder.workspace.refs.list(BRANCHES) or f"{BRANCHES}{name}" in recorder.workspace.refs.list(
        BRANCHES
    ):
        raise NothingToLand(
            f"{name} is not a lane of this work tree", hint="Run the command in the work tree of the lane."
        )
    raise NothingToLand(f"there is no lane {name}", hint="Run `chorus lanes` to list the lanes.")


def find_target(workspace: Workspace, onto: str | None) -> tuple[str, bool]:
    """Return the full name of the branch to land on, and whether the branch is new.

    `onto`: the branch as the user names it; None: the branch that is checked out.
    """
    is_new = False
    if onto is None:
        ref = workspace.repository.head().ref
        if ref is None:
            raise UsageError("no branch is checked out", hint="Name one with --onto.")
    else:
        ref = BRANCHES + branch_name(onto)
        is_new = ref not in workspace.refs.list(BRANCHES) and ref != workspace.repository.head().ref
        if is_new:
            _refuse_new_branch(workspace, branch_name(onto))
    if is_lane_ref(ref):
        raise UsageError(f"{branch_name(ref)} is a lane", hint="Land on a branch of your own.")
    return ref, is_new


def find_commit(workspace: Workspace, name: str) -> Oid:
    git = workspace.repository.git
    done = git.attempt("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if done.returncode:
        raise NotFound(f"there is no commit {name}", hint="Run `git log` to find the commit.")
    return Oid(done.stdout.decode().strip())


def _refuse_new_branch(workspace: Workspace, name: str) -> None:
    """Raise NotFound if the name is not valid in git, or names a remote's branch, a tag or a commit."""
    git = workspace.repository.git
    hint = "Run `git branch` to list the branches."
    if git.attempt("check-ref-format", "--branch", name).returncode:
        raise NotFound(f"{name!r} is not a valid branch name", hint=hint)
    for ref in workspace.refs.list("refs/remotes/"):
        remote, _, branch = ref.removeprefix("refs/remotes/").partition("/")
        if branch == name:
            raise NotFound(
                f"there is no branch {name} here, only {remote}/{name}",
                hint=f"Create it first with `git branch {name} {remote}/{name}`.",
            )
    if not git.attempt("rev-parse", "--verify", "--quiet", "--end-of-options", name).returncode:
        raise NotFound(
            f"{name} is not a branch; git resolves it to something else, such as a tag or commit", hint=hint
        )
