"""Changes as patches, printed by git itself."""

from collections.abc import Mapping

from chorus.core.ids import RepoPath
from chorus.git.trees import EMPTY_TREE, Entry
from chorus.lanes.recorder import Recorder
from chorus.lanes.taking_back import Side

# The same for everybody: no colours, no programs of the user's, whole object names.
PLAIN = ("-r", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color")


def run_diff(recorder: Recorder, *words: str) -> str:
    """What `git diff-tree` prints. It would read the user's whole index, of which it needs nothing."""
    nowhere = {"GIT_INDEX_FILE": str(recorder.site.repository.own_dir / "no-index")}
    output = recorder.site.repository.git.run("diff-tree", *PLAIN, *words, extra=nowhere)
    return output.decode("utf-8", "replace")


def render_sides(recorder: Recorder, before: Mapping[RepoPath, Side], after: Mapping[RepoPath, Side]) -> str:
    """What makes the ones of the others."""
    trees = (_tree(recorder, before), _tree(recorder, after))
    return run_diff(recorder, *trees)


def _tree(recorder: Recorder, files: Mapping[RepoPath, Side]) -> str:
    store = recorder.site.store
    entries = {p: Entry(side.mode, store.write_blob(side.data)) for p, side in files.items() if side}
    return recorder.site.trees.splice(None, entries) if entries else EMPTY_TREE
