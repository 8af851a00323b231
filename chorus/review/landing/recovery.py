"""A landing under way, described on disk: after a crash the next process finishes it or rolls it back.

If all commits were made, the rest is done. Otherwise the branch goes back to where it was and nothing has
landed. A branch that someone else moved meanwhile is left alone. Never touches the work tree.
"""

import contextlib
import shutil
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from chorus.history.recorder import Recorder
from chorus.model.commit_message import parse_actions
from chorus.model.ids import Oid
from chorus.review.landing.merge import tree_of, update_user_index
from chorus.review.pending_file import PendingFile
from chorus.store.refs import RefMoved
from chorus.store.user_branch import SCRATCH_PREFIX, copy_to_user_store
from chorus.system.file_lock import try_lock


@dataclass(frozen=True, slots=True)
class LandingProgress:
    """`groups`: the actions of each commit. `made`: commits so far; None for one the branch already had."""

    ref: str
    start: Oid | None
    checked_out: bool
    groups: tuple[tuple[str, ...], ...]
    made: tuple[Oid | None, ...] = ()


class PendingLanding:
    """The progress of the landing of one work tree, in a file, under a lock between processes."""

    def __init__(self, own_dir: Path) -> None:
        self._file = PendingFile(own_dir / "landing.json")
        self._lock = own_dir / "landing.lock"
        self._progress: LandingProgress | None = None

    def locked(self) -> AbstractContextManager[bool]:
        """Hold the lock; False if another process is landing."""
        return try_lock(self._lock)

    def begin(self, progress: LandingProgress) -> None:
        self._progress = progress
        self._file.write(asdict(progress))

    def add(self, commit: Oid | None) -> None:
        if self._progress is not None:
            self.begin(replace(self._progress, made=(*self._progress.made, commit)))

    def read(self) -> LandingProgress | None:
        """A damaged file counts as none: it was cut off before the first commit, or is not ours."""
        try:
            values = self._file.read()
            if values is None:
                return None
            groups, made = (tuple(map(tuple, values.pop("groups"))), tuple(values.pop("made")))
            return LandingProgress(**values, groups=groups, made=made)
        except (ValueError, TypeError, KeyError, AttributeError):
            return None

    def clear(self) -> None:
        self._file.clear()


def recover_landing(recorder: Recorder) -> None:
    """Finish or roll back the landing of a process that died in this work tree."""
    own_dir = recorder.workspace.repository.own_dir
    pending = PendingLanding(own_dir)
    with pending.locked() as alone:
        if not alone:
            return
        progress = pending.read()
        if progress is not None:
            _recover(recorder, progress)
        pending.clear()
        for scratch in own_dir.glob(f"{SCRATCH_PREFIX}*"):
            shutil.rmtree(scratch, ignore_errors=True)


def _recover(recorder: Recorder, progress: LandingProgress) -> None:
    workspace = recorder.workspace
    tip = workspace.refs.read(progress.ref)
    commits = _find_landed_commits(recorder, progress, tip)
    if not commits or tip is None:
        return
    wanted = [
        group for index, group in enumerate(progress.groups) if progress.made[index : index + 1] != (None,)
    ]
    if len(commits) < len(wanted):
        with contextlib.suppress(RefMoved):
            if progress.start is None:
                workspace.refs.delete(progress.ref, tip, "chorus: landing rolled back")
            else:
                workspace.refs.update(progress.ref, progress.start, tip, "chorus: landing rolled back")
        return
    copy_to_user_store(workspace.repository, workspace.store, progress.start, tip)
    if progress.checked_out:
        update_user_index(workspace, tree_of(workspace, progress.start), tree_of(workspace, tip))
    made = dict(zip(wanted, commits, strict=True))
    for group in progress.groups:
        recorder.mark("landed", group, [made.get(group, tip)])


def _find_landed_commits(recorder: Recorder, progress: LandingProgress, tip: Oid | None) -> Sequence[Oid]:
    """The landing's commits, oldest first; none if the branch got any other commit since its start."""
    names = {name for group in progress.groups for name in group}
    found: list[Oid] = []
    while tip is not None and tip != progress.start:
        commit = recorder.workspace.store.read_commit(tip)
        actions = set(parse_actions(commit.message))
        if len(commit.parents) > 1 or not (tip in progress.made or (actions and actions <= names)):
            return []
        found.append(tip)
        tip = commit.parents[0] if commit.parents else None
    return found[::-1] if tip == progress.start else []
