"""The content of one file as a value, and reverting a change of it.

A file that does not exist is None. Reverting is a three-way merge by lines: later changes in other lines
stay.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from chorus.changes.line_merge import Overlap, Positions, merge_lines, unknown_positions
from chorus.errors import ChorusError
from chorus.history.log.json_views import run_diff
from chorus.history.recorder import Recorder
from chorus.model.ids import RepoPath
from chorus.review.revert.conflict_markers import merge_with_markers
from chorus.store.objects.tree_object import SYMLINK_MODE
from chorus.store.objects.trees import EMPTY_TREE, TreeEntry
from chorus.store.worktree.file_state import Absent, File, FileState, Skipped, SkipReason

# What the user can do about a file that cannot be read, where something helps.
HINTS = {
    SkipReason.UNREADABLE: "Correct that, then run the command again.",
    SkipReason.TOO_LARGE: "Change the file by hand.",
    SkipReason.UNSTEADY: "Run the command again when nothing writes to the file.",
    SkipReason.SPECIAL: "Move it away, then run the command again.",
}


class UnreadableFile(ChorusError):
    """A file that the action changed cannot be read now."""


@dataclass(frozen=True, slots=True)
class Content:
    """Mode (as git writes it) and raw bytes of a file or symbolic link."""

    mode: int
    data: bytes


@dataclass(frozen=True, slots=True)
class ContentConflict:
    """Why a change cannot be reverted. `reason` goes after the path, as in `app.py no longer exists`."""

    reason: str


def read_disk(recorder: Recorder, path: RepoPath) -> tuple[FileState, Content | None]:
    found = recorder.workspace.work_tree.read_file(path)
    match found:
        case File(mode, data):
            return found, Content(mode, data)
        case Absent():
            return found, None
        case Skipped(why, detail):
            about = f" ({detail})" if detail else ""
            raise UnreadableFile(f"{path} {why.value}{about}", hint=HINTS.get(why))


def read_stored(recorder: Recorder, entry: TreeEntry | None) -> Content | None:
    if entry is None:
        return None
    data = recorder.workspace.read(entry)
    assert data is not None
    return Content(entry.mode, data)


def revert_change(
    before: Content | None,
    after: Content | None,
    now: Content | None,
    positions: Positions = unknown_positions,
) -> Content | ContentConflict | None:
    """Return `now` without the change from `before` to `after`, or why that is not possible."""
    if now == after:
        return before
    if now == before:
        return now  # reverted by someone already
    if before is None:
        return ContentConflict("was changed after it was created" if now else "no longer exists")
    if after is None:
        return ContentConflict("was written again after it was deleted")
    if now is None:
        return ContentConflict("was deleted later")
    return _merge(before, after, now, positions)


def revert_change_with_markers(
    before: Content | None,
    after: Content | None,
    now: Content | None,
    positions: Positions = unknown_positions,
) -> Content | ContentConflict | None:
    """Like `revert_change`, but put conflict markers into text files."""
    clean = revert_change(before, after, now, positions)
    if not isinstance(clean, ContentConflict) or not (_is_text(before) and _is_text(after) and _is_text(now)):
        return clean
    assert before
    assert after
    assert now
    labels = ("now", "after the action", "before the action")
    return Content(now.mode, merge_with_markers(after.data, now.data, before.data, labels))


def render_patch(
    recorder: Recorder,
    before: Mapping[RepoPath, Content | None],
    after: Mapping[RepoPath, Content | None],
) -> str:
    repository = recorder.workspace.repository
    trees = (_write_tree(recorder, before), _write_tree(recorder, after))
    return run_diff(repository.git, str(repository.own_dir), *trees)


def _merge(before: Content, after: Content, now: Content, positions: Positions) -> Content | ContentConflict:
    if SYMLINK_MODE in (before.mode, after.mode, now.mode):
        return ContentConflict("is or was a symbolic link and was changed later")
    if now.mode not in (after.mode, before.mode) and before.mode != after.mode:
        return ContentConflict("had its mode changed later")
    mode = before.mode if now.mode == after.mode else now.mode
    data = merge_lines(after.data, now.data, before.data, order=now.data, positions=positions)
    if not isinstance(data, Overlap):
        return Content(mode, data)
    if any(b"\0" in content.data for content in (before, after, now)):
        return ContentConflict("is binary and was changed later")
    return ContentConflict("was changed later in the same lines")


def _is_text(content: Content | None) -> bool:
    return content is not None and content.mode != SYMLINK_MODE and b"\0" not in content.data


def _write_tree(recorder: Recorder, files: Mapping[RepoPath, Content | None]) -> str:
    store = recorder.workspace.store
    entries = {
        path: TreeEntry(content.mode, store.write_blob(content.data))
        for path, content in files.items()
        if content
    }
    return recorder.workspace.trees.splice(None, entries) if entries else EMPTY_TREE
