"""Files of the work tree brought from what they hold to what they are to hold, many at the cost of few.

Receives what each file holds and what it is to hold. Waits for the disk once for many files: their new
bytes are written beside them and on their way before the first is waited for. What goes comes first: a
file may take the place of a directory, or the other way round. Never writes over bytes it has not seen.
"""

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from chorus.errors import ChorusError
from chorus.history.recorder import Recorder
from chorus.history.records import Edit
from chorus.model.ids import RepoPath
from chorus.review.revert.file_content import Side, UnreadableFile, read_disk, stored_content
from chorus.review.revert.plan import FileWrite
from chorus.store.worktree.staged_file import CannotReplace, StagedFile

# Each holds two descriptors, of which some systems grant 256; twice as many files save no time.
BATCH_SIZE = 64

# Errors for which one file is left as it is; any other one ends the writing.
SkippedErrors: TypeAlias = tuple[type[ChorusError], ...]


def write_files(recorder: Recorder, changes: Sequence[FileWrite]) -> None:
    """All of them. Raises, with everything as it was, if one changed meanwhile or cannot be written."""
    written: list[FileWrite] = []
    try:
        for change in _write(recorder, sorted(changes, key=_stays)):
            written.append(change)
    except ChorusError:
        back = ((change.path, change.new, change.now) for change in reversed(written))
        _write_where_so(recorder, back, (ChorusError,))
        raise


def write_if_unchanged(recorder: Recorder, edits: Iterable[Edit]) -> None:
    """Those that are as they were before the edit; one that somebody changed since stays as it is."""
    wanted = (
        (edit.path, stored_content(recorder, edit.before), stored_content(recorder, edit.after))
        for edit in sorted(edits, key=lambda edit: edit.after is not None)
    )
    _write_where_so(recorder, wanted, (CannotReplace, UnreadableFile))


def _write_where_so(
    recorder: Recorder, wanted: Iterable[tuple[RepoPath, Side, Side]], spared: SkippedErrors
) -> None:
    for _ in _write(recorder, _find_so(recorder, wanted), spared):
        pass


def _find_so(recorder: Recorder, wanted: Iterable[tuple[RepoPath, Side, Side]]) -> Iterator[FileWrite]:
    """The files that hold the first of the two."""
    for path, before, after in wanted:
        with contextlib.suppress(UnreadableFile):
            found, now = read_disk(recorder, path)
            if now == before:
                yield FileWrite(path, found, now, after)


def _stays(change: FileWrite) -> bool:
    return change.new is not None


def _write(
    recorder: Recorder, changes: Iterable[FileWrite], spared: SkippedErrors = ()
) -> Iterator[FileWrite]:
    """Write them, those that go first, and give each that is done."""
    left = iter(changes)
    while batch := list(itertools.islice(left, BATCH_SIZE)):
        for change in batch:
            if change.new is None:
                with contextlib.suppress(*spared):
                    _delete(recorder, change)
                    yield change
        yield from _write_together(recorder, batch, spared)


def _write_together(
    recorder: Recorder, changes: Iterable[FileWrite], spared: SkippedErrors
) -> Iterator[FileWrite]:
    with contextlib.ExitStack() as opened:
        prepared: list[tuple[FileWrite, StagedFile]] = []
        for change in changes:
            if change.new is not None:
                with contextlib.suppress(*spared):
                    waiting = recorder.workspace.work_tree.stage(
                        change.path, change.new.mode, change.new.data
                    )
                    opened.callback(waiting.close)
                    prepared.append((change, waiting))
        recorder.workspace.work_tree.sync_staged([waiting for _, waiting in prepared])
        for change, waiting in prepared:
            with contextlib.suppress(*spared):
                _put(recorder, change, waiting)
                yield change


def _put(recorder: Recorder, change: FileWrite, waiting: StagedFile) -> None:
    try:
        waiting.put(change.found)
    except CannotReplace:
        found, now = read_disk(recorder, change.path)
        if now != change.now or change.new is None:
            raise
        # Writing another name of a file changes what the file system says of this one.
        recorder.workspace.work_tree.write_file(change.path, change.new.mode, change.new.data, found)


def _delete(recorder: Recorder, change: FileWrite) -> None:
    try:
        recorder.workspace.work_tree.delete_file(change.path, change.found)
    except CannotReplace:
        found, now = read_disk(recorder, change.path)
        if now != change.now:
            raise
        recorder.workspace.work_tree.delete_file(change.path, found)
