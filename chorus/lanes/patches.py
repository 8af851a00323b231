"""Changes as patches, printed by git itself."""

from collections.abc import Iterable

from chorus.core.ids import RepoPath
from chorus.git.trees import EMPTY_TREE, Entry
from chorus.lanes.recorder import Recorder
from chorus.lanes.reverting import Change
from chorus.lanes.taking_back import Side

# The same for everybody: no colours, no programs of the user's, whole object names.
PLAIN = ("-r", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color")


def render_patch(recorder: Recorder, changes: Iterable[Change]) -> str:
    """What the changes do to the files as they are now."""
    listed = list(changes)
    before = _tree(recorder, {change.path: change.now for change in listed})
    after = _tree(recorder, {change.path: change.new for change in listed})
    return recorder.site.repository.git.run("diff-tree", *PLAIN, before, after).decode("utf-8", "replace")


def _tree(recorder: Recorder, files: dict[RepoPath, Side]) -> str:
    store = recorder.site.store
    entries = {p: Entry(side.mode, store.write_blob(side.data)) for p, side in files.items() if side}
    return recorder.site.trees.splice(None, entries) if entries else EMPTY_TREE
