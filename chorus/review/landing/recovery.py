"""The progress of a landing on disk: after a crash the next process finishes it or rolls it back.

If all commits were made, the landing is finished; otherwise the branch goes back to where it was. A branch
with any other new commit is left alone.
"""

import contextlib
import shutil
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self

from chorus.history.recorder import Recorder
from chorus.model.commits.commit_message import parse_actions, parse_contexts, parse_parts
from chorus.model.ids import Oid
from chorus.review.landing.merge import positions_from, tree_of, update_user_index
from chorus.review.pending_file import PendingFile
from chorus.store.refs import RefMoved
from chorus.store.user_branch import SCRATCH_PREFIX, copy_to_user_store
from chorus.system.files.file_lock import try_lock


@dataclass(frozen=True, slots=True)
class LandingProgress:
    """How far a landing has come.

    `groups`: the actions of each commit. `made`: the commit of each group so far; None if the branch already
    had the changes. `recognised`: the values of the trailers that identify each commit. `restacked`: the
    branch's tip after a fixup; `made` then has only the amended commit.
    """

    ref: str
    start: Oid | None
    checked_out: bool
    groups: tuple[tuple[str, ...], ...]
    made: tuple[Oid | None, ...] = ()
    recognised: tuple[tuple[str, ...], ...] = ()
    created: bool = False
    restacked: Oid | None = None

    def restacked_to(self, tip: Oid, commit: Oid) -> Self:
        return replace(self, restacked=tip, made=(commit,))


class PendingLanding:
    """The file with the progress of one work tree's landing, and a lock: one process lands at a time."""

    def __init__(self, own_dir: Path) -> None:
        self._file = PendingFile(own_dir / "landing.json")
        self._lock = own_dir / "landing.lock"
        self._progress: LandingProgress | None = None

    def locked(self) -> AbstractContextManager[bool]:
        """Take the lock. The `with` block gets False if another process is landing and has the lock."""
        return try_lock(self._lock)

    def begin(self, progress: LandingProgress) -> None:
        self._progress = progress
        self._file.write(asdict(progress))

    def add(self, commit: Oid | None) -> None:
        if self._progress is not None:
            self.begin(replace(self._progress, made=(*self._progress.made, commit)))

    def read(self) -> LandingProgress | None:
        """The progress; None if there is none, or if the file is damaged."""
        try:
            values = self._file.read()
            if values is None:
                return None
            groups, made = (tuple(map(tuple, values.pop("groups"))), tuple(values.pop("made")))
            recognised = tuple(map(tuple, values.pop("recognised", ())))
            return LandingProgress(**values, groups=groups, made=made, recognised=recognised)
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
    tip = recorder.workspace.refs.read(progress.ref)
    if tip is None:
        return
    if progress.restacked is not None:
        if tip == progress.restacked:
            _finish(recorder, progress, tip, list(progress.made))
        return
    commits = _find_landed_commits(recorder, progress, tip)
    if commits is None:
        return
    made: list[Oid | None] = []
    rest = list(commits)
    for index in range(len(progress.groups)):
        is_present = progress.made[index : index + 1] == (None,)
        if not is_present and not rest:
            _roll_back(recorder, progress, tip)
            return
        made.append(None if is_present else rest.pop(0))
    if commits:
        _finish(recorder, progress, tip, made)


def _finish(recorder: Recorder, progress: LandingProgress, tip: Oid, made: Sequence[Oid | None]) -> None:
    workspace = recorder.workspace
    copy_to_user_store(workspace.repository, workspace.store, progress.start, tip)
    if progress.checked_out:
        positions_of = positions_from(workspace, {})
        update_user_index(
            workspace, tree_of(workspace, progress.start), tree_of(workspace, tip), positions_of
        )
    for group, commit in zip(progress.groups, made, strict=True):
        if group:
            recorder.mark("landed", group, [commit or tip])


def _roll_back(recorder: Recorder, progress: LandingProgress, tip: Oid) -> None:
    refs, reason = recorder.workspace.refs, "chorus: landing rolled back"
    with contextlib.suppress(RefMoved):
        if progress.start is None or progress.created:
            refs.delete(progress.ref, tip, reason)
        elif tip != progress.start:
            refs.update(progress.ref, progress.start, tip, reason)


def _find_landed_commits(
    recorder: Recorder, progress: LandingProgress, tip: Oid | None
) -> Sequence[Oid] | None:
    """Return the landing's commits, oldest first.

    None if the branch has other new commits, or does not contain the commit at which the landing started.
    """
    names = {name for group in (*progress.groups, *progress.recognised) for name in group}
    found: list[Oid] = []
    while tip is not None and tip != progress.start:
        commit = recorder.workspace.store.read_commit(tip)
        text = commit.message
        values = {*parse_actions(text), *parse_parts(text), *parse_contexts(text)}
        if commit.parents[1:] or not (tip in progress.made or (values and values <= names)):
            return None
        found.append(tip)
        tip = commit.first_parent
    return found[::-1] if tip == progress.start else None
