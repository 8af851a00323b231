"""Changes as patches, printed by git itself."""

from collections.abc import Mapping

from chorus.history.log.showing import run_diff
from chorus.history.recorder import Recorder
from chorus.model.ids import RepoPath
from chorus.review.taking_back import Side
from chorus.store.objects.trees import EMPTY_TREE, Entry


def render_sides(recorder: Recorder, before: Mapping[RepoPath, Side], after: Mapping[RepoPath, Side]) -> str:
    """What makes the ones of the others."""
    trees = (_tree(recorder, before), _tree(recorder, after))
    repository = recorder.site.repository
    return run_diff(repository.git, str(repository.own_dir), *trees)


def _tree(recorder: Recorder, files: Mapping[RepoPath, Side]) -> str:
    store = recorder.site.store
    entries = {p: Entry(side.mode, store.write_blob(side.data)) for p, side in files.items() if side}
    return recorder.site.trees.splice(None, entries) if entries else EMPTY_TREE
