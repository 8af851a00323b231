"""Refuse a commit to which a commit hook added the user's uncommitted lines.

A hook that formats files and runs `git add` stages whole files of the work tree.
"""

from chorus.errors import ChorusError, ExitCode
from chorus.history.lanes.lane_change import lane_entry
from chorus.history.workspace import Workspace
from chorus.model.ids import Oid
from chorus.store.objects.trees import TreeEntry
from chorus.store.worktree.file_state import File
from chorus.text.sanitize import printable


class HookStagedFiles(ChorusError):
    """A commit hook staged files that contain more than what lands. Nothing was changed."""

    exit_code = ExitCode.REFUSED


def refuse_staged_by_hook(
    workspace: Workspace, disk: Oid | None, planned: Oid | None, made: Oid | None
) -> None:
    """Raise HookStagedFiles if a hook added lines of the work tree to a commit.

    `planned`, `made`: the commit's tree before and after the hook. `disk`: the recorded tree of the work
    tree.
    """
    staged = []
    for change in workspace.trees.diff(planned, made):
        before = workspace.normal(change.path, lane_entry(workspace, disk, change.path))
        if before == change.before:
            continue  # the file on disk had only what was planned, so the change is the hook's own work
        found = workspace.work_tree.read_file(change.path)
        if isinstance(found, File):
            raw = TreeEntry(found.mode, workspace.store.write_blob(found.data))
            if workspace.normal(change.path, raw) == change.after:
                staged.append(printable(change.path))
    if staged:
        raise HookStagedFiles(
            f"a commit hook staged {', '.join(staged)} from the work tree, with lines that are not part of "
            "this landing; nothing was changed",
            hint="Commit or stash those lines first, or land with the hook disabled.",
        )
