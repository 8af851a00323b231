"""Files as values: what the store holds of them, and what the disk holds now."""

from chorus.core.ids import RepoPath
from chorus.errors import ChorusError
from chorus.git.filestate import Absent, File, FileState, Skipped
from chorus.git.trees import Entry
from chorus.lanes.recorder import Recorder
from chorus.lanes.taking_back import Content, Side


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
