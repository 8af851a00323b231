"""Taking a change of one file back, out of whatever the file holds now.

Receives the file before the change, after it, and now; gives what it is to be. Everything that came
later and touches other lines stays. Where the change cannot be told apart from what came later, it
says so and gives nothing. Never touches a disk.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from chorus.errors import ChorusError
from chorus.history.log.json_views import run_diff
from chorus.history.recorder import Recorder
from chorus.history.three_way_merge import merge_contents, merge_with_markers
from chorus.model.ids import RepoPath
from chorus.store.objects.tree_object import SYMLINK_MODE
from chorus.store.objects.trees import EMPTY_TREE, TreeEntry
from chorus.store.worktree.file_state import Absent, File, FileState, Skipped


@dataclass(frozen=True, slots=True)
class Content:
    """A file or link: mode as git writes it, raw bytes. No file at all is None."""

    mode: int
    data: bytes


Side = Content | None


@dataclass(frozen=True, slots=True)
class ContentConflict:
    """Why the change cannot be taken out, for a person."""

    why: str


def revert_change(before: Side, after: Side, now: Side) -> Side | ContentConflict:
    """`now` without the change from `before` to `after`."""
    if now == after:
        return before
    if now == before:
        return now  # somebody took it back already
    if before is None:
        return ContentConflict("was changed after it was created" if now else "is gone")
    if after is None:
        return ContentConflict("was written again after it was deleted")
    if now is None:
        return ContentConflict("was deleted later")
    return _merge(before, after, now)


def revert_change_with_markers(before: Side, after: Side, now: Side) -> Side | ContentConflict:
    """The same, with conflict markers around what cannot be told apart."""
    clean = revert_change(before, after, now)
    if not isinstance(clean, ContentConflict) or not _all_text(before, after, now):
        return clean
    assert before
    assert after
    assert now
    labels = ("now", "after the action", "before the action")
    return Content(now.mode, merge_with_markers(after.data, now.data, before.data, labels))


def _merge(before: Content, after: Content, now: Content) -> Content | ContentConflict:
    if SYMLINK_MODE in (before.mode, after.mode, now.mode):
        return ContentConflict("is a link, or was one, and was changed later")
    if now.mode not in (after.mode, before.mode) and before.mode != after.mode:
        return ContentConflict("was given another mode later")
    mode = before.mode if now.mode == after.mode else now.mode
    data = merge_contents(after.data, now.data, before.data)
    if data is None:
        binary = any(b"\0" in side.data for side in (before, after, now))
        return ContentConflict(
            "is binary and was changed later" if binary else "was changed later in the same lines"
        )
    return Content(mode, data)


def _all_text(*sides: Side) -> bool:
    return all(side and side.mode != SYMLINK_MODE and b"\0" not in side.data for side in sides)


class UnreadableFile(ChorusError):
    """A file the action changed cannot be read now."""


def read_disk(recorder: Recorder, path: RepoPath) -> tuple[FileState, Side]:
    found = recorder.workspace.work_tree.read_file(path)
    match found:
        case File(mode, data):
            return found, Content(mode, data)
        case Absent():
            return found, None
        case Skipped(why):
            raise UnreadableFile(f"{path} {why.value}")


def stored_content(recorder: Recorder, entry: TreeEntry | None) -> Side:
    if entry is None:
        return None
    data = recorder.workspace.read(entry)
    assert data is not None
    return Content(entry.mode, data)


def render_patch(recorder: Recorder, before: Mapping[RepoPath, Side], after: Mapping[RepoPath, Side]) -> str:
    """What makes the ones of the others."""
    trees = (_tree(recorder, before), _tree(recorder, after))
    repository = recorder.workspace.repository
    return run_diff(repository.git, str(repository.own_dir), *trees)


def _tree(recorder: Recorder, files: Mapping[RepoPath, Side]) -> str:
    store = recorder.workspace.store
    entries = {p: TreeEntry(side.mode, store.write_blob(side.data)) for p, side in files.items() if side}
    return recorder.workspace.trees.splice(None, entries) if entries else EMPTY_TREE
