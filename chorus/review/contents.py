"""Files as values: what the store holds of them, and what the disk holds now."""

from chorus.errors import ChorusError
from chorus.history.recorder import Recorder
from chorus.model.ids import RepoPath
from chorus.review.taking_back import Content, Side
from chorus.store.objects.trees import Entry
from chorus.store.worktree.file_state import Absent, File, FileState, Skipped


class Unreadable(ChorusError):
    """A file the action changed cannot be read now."""


def read_now(recorder: Recorder, path: RepoPath) -> tuple[FileState, Side]:
    found = recorder.site.work_tree.read_file(path)
    match found:
        case File(mode, data):
            return found, Content(mode, data)
        case Absent():
            return found, None
        case Skipped(why):
            raise Unreadable(f"{path} {why.value}")


def content_of(recorder: Recorder, entry: Entry | None) -> Side:
    if entry is None:
        return None
    data = recorder.site.read(entry)
    assert data is not None
    return Content(entry.mode, data)
