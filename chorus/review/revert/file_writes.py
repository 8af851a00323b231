"""Write many files of the work tree, all or none.

The new bytes go to temporary files first, with one wait for the disk per batch. Deletions come first, because
a file may replace a directory.
"""

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from chorus.errors import ChorusError
from chorus.history.recorder import Recorder
from chorus.history.records import Edit
from chorus.model.ids import RepoPath
from chorus.review.revert.file_content import Content, UnreadableFile, read_disk, read_stored
from chorus.review.revert.plan import FileWrite
from chorus.store.worktree.staged_file import CannotReplace, StagedFile

# Each file needs two descriptors, and some systems allow only 256. Batches of twice the size save no time.
BATCH_SIZE = 64

# Errors that leave one file as it is; any other error stops the writing.
SkippedErrors: TypeAlias = tuple[type[ChorusError], ...]


def write_files(recorder: Recorder, writes: Sequence[FileWrite]) -> None:
    """Write all files. If one has changed or cannot be written, restore the others and raise."""
    written: list[FileWrite] = []
    try:
        for write in _write(recorder, sorted(writes, key=lambda write: write.new is not None)):
            written.append(write)
    except ChorusError:
        back = ((write.path, write.new, write.now) for write in reversed(written))
        _write_if(recorder, back, (ChorusError,))
        raise


def write_if_unchanged(recorder: Recorder, edits: Iterable[Edit]) -> None:
    """Apply each edit whose file still has the content `edit.before`; skip the others."""
    wanted = (
        (edit.path, read_stored(recorder, edit.before), read_stored(recorder, edit.after))
        for edit in sorted(edits, key=lambda edit: edit.after is not None)
    )
    _write_if(recorder, wanted, (CannotReplace, UnreadableFile))


def _write_if(
    recorder: Recorder,
    wanted: Iterable[tuple[RepoPath, Content | None, Content | None]],
    skipped: SkippedErrors,
) -> None:
    """Write the files, given as (path, expected content, new content).

    Skip a file that has other content, that cannot be read, or whose write raises one of `skipped`.
    """
    for _ in _write(recorder, _find_expected(recorder, wanted), skipped):
        pass


def _find_expected(
    recorder: Recorder, wanted: Iterable[tuple[RepoPath, Content | None, Content | None]]
) -> Iterator[FileWrite]:
    for path, expected, new in wanted:
        with contextlib.suppress(UnreadableFile):
            found, now = read_disk(recorder, path)
            if now == expected:
                yield FileWrite(path, found, now, new)


def _write(
    recorder: Recorder, writes: Iterable[FileWrite], skipped: SkippedErrors = ()
) -> Iterator[FileWrite]:
    """Write the files and yield each that is done. A file that fails with one of `skipped` is left out."""
    left = iter(writes)
    while batch := list(itertools.islice(left, BATCH_SIZE)):
        for write in batch:
            if write.new is None:
                with contextlib.suppress(*skipped):
                    _delete(recorder, write)
                    yield write
        yield from _write_batch(recorder, batch, skipped)


def _write_batch(
    recorder: Recorder, writes: Iterable[FileWrite], skipped: SkippedErrors
) -> Iterator[FileWrite]:
    work_tree = recorder.workspace.work_tree
    with contextlib.ExitStack() as opened:
        prepared: list[tuple[FileWrite, StagedFile]] = []
        for write in writes:
            if write.new is not None:
                with contextlib.suppress(*skipped):
                    staged = work_tree.stage(write.path, write.new.mode, write.new.data)
                    opened.callback(staged.close)
                    prepared.append((write, staged))
        work_tree.sync_staged([staged for _, staged in prepared])
        for write, staged in prepared:
            with contextlib.suppress(*skipped):
                _replace(recorder, write, staged)
                yield write


def _replace(recorder: Recorder, write: FileWrite, staged: StagedFile) -> None:
    try:
        staged.put(write.found)
    except CannotReplace:
        found, now = read_disk(recorder, write.path)
        if now != write.now or write.new is None:
            raise
        # Another hard link of the same file was written before: only the metadata of this file differ.
        recorder.workspace.work_tree.write_file(write.path, write.new.mode, write.new.data, found)


def _delete(recorder: Recorder, write: FileWrite) -> None:
    try:
        recorder.workspace.work_tree.delete_file(write.path, write.found)
    except CannotReplace:
        found, now = read_disk(recorder, write.path)
        if now != write.now:
            raise
        recorder.workspace.work_tree.delete_file(write.path, found)
