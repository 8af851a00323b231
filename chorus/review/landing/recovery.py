"""A landing under way, noted on disk, so that one whose process died is finished or taken back.

All commits made: what is left to do is done. Some of them: the branch goes back to where it was, and nothing
has landed. A branch that somebody else has moved meanwhile is left as it is. Never touches the work tree.
"""

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from chorus.history.recorder import Recorder
from chorus.model.commit_message import parse_actions
from chorus.model.ids import Oid
from chorus.review.landing.merge import tree_of, update_user_index
from chorus.store.refs import RefMoved
from chorus.store.user_branch import SCRATCH_PREFIX, copy_to_user_store


@dataclass(frozen=True, slots=True)
class LandingProgress:
    """`groups`: for each commit the actions it is to hold; None in `made` for one that is there already."""

    ref: str
    start: Oid | None
    checked_out: bool
    groups: tuple[tuple[str, ...], ...]
    made: tuple[Oid | None, ...] = ()


class PendingLanding:
    def __init__(self, own_dir: Path) -> None:
        self._place = own_dir / "landing.json"
        self._lock = own_dir / "landing.lock"
        self._note: LandingProgress | None = None

    @contextlib.contextmanager
    def held(self) -> Iterator[bool]:
        """Alone with it; False: a landing of another process is under way."""
        self._lock.parent.mkdir(parents=True, exist_ok=True)
        with self._lock.open("wb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True

    def begin(self, note: LandingProgress) -> None:
        self._note = note
        self._write()

    def add(self, commit: Oid | None) -> None:
        if self._note is not None:
            self._note = replace(self._note, made=(*self._note.made, commit))
            self._write()

    def read(self) -> LandingProgress | None:
        """A damaged note says nothing: it was cut off before the first commit, or is not ours."""
        try:
            values = json.loads(self._place.read_bytes())
            groups, made = (tuple(map(tuple, values.pop("groups"))), tuple(values.pop("made")))
            return LandingProgress(**values, groups=groups, made=made)
        except (FileNotFoundError, ValueError, TypeError, KeyError):
            return None

    def clear(self) -> None:
        self._place.unlink(missing_ok=True)

    def _write(self) -> None:
        assert self._note is not None
        temporary = self._place.with_suffix(".tmp")
        with temporary.open("w", encoding="ascii") as file:
            json.dump(asdict(self._note), file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._place)


def recover_landing(recorder: Recorder) -> None:
    """Finish or take back what a process that died was landing from this work tree."""
    own_dir = recorder.workspace.repository.own_dir
    note = PendingLanding(own_dir)
    with note.held() as alone:
        if not alone:
            return
        left = note.read()
        if left is not None:
            _settle(recorder, left)
        note.clear()
        for scratch in own_dir.glob(f"{SCRATCH_PREFIX}*"):
            shutil.rmtree(scratch, ignore_errors=True)


def _settle(recorder: Recorder, note: LandingProgress) -> None:
    workspace = recorder.workspace
    tip = workspace.refs.read(note.ref)
    commits = _find_own(recorder, note, tip)
    if not commits or tip is None:
        return
    wanted = [group for place, group in enumerate(note.groups) if note.made[place : place + 1] != (None,)]
    if len(commits) < len(wanted):
        with contextlib.suppress(RefMoved):
            if note.start is None:
                workspace.refs.delete(note.ref, tip, "chorus: landing taken back")
            else:
                workspace.refs.update(note.ref, note.start, tip, "chorus: landing taken back")
        return
    copy_to_user_store(workspace.repository, workspace.store, note.start, tip)
    if note.checked_out:
        update_user_index(workspace, tree_of(workspace, note.start), tree_of(workspace, tip))
    made = dict(zip(wanted, commits, strict=True))
    for group in note.groups:
        recorder.mark("landed", group, {"commits": [made.get(group, tip)]})


def _find_own(recorder: Recorder, note: LandingProgress, tip: Oid | None) -> Sequence[Oid]:
    """The landing's commits, oldest first; none where anything else stands on the branch since its start."""
    names = {name for group in note.groups for name in group}
    found: list[Oid] = []
    while tip is not None and tip != note.start:
        commit = recorder.workspace.store.read_commit(tip)
        said = set(parse_actions(commit.message))
        if len(commit.parents) > 1 or not (tip in note.made or (said and said <= names)):
            return []
        found.append(tip)
        tip = commit.parents[0] if commit.parents else None
    return found[::-1] if tip == note.start else []
