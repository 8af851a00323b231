"""A new file that waits beside the path it is to take.

Receives a path and its new bytes; whoever has many prepares them all, sees them to the disk at the cost of
about one wait, and then lets each take its path. It takes the path whole, if that still is what the caller
saw there, or goes without a trace: no scratch file stays behind, and no directory made for it.
"""

import contextlib
import os
from collections.abc import Sequence

from chorus.model.ids import RepoPath
from chorus.store.lock_file import translated
from chorus.store.worktree.descent import Place
from chorus.store.worktree.file_state import FileState
from chorus.store.worktree.replacement import (
    make_scratch,
    name_scratch,
    open_place,
    put,
    refuse_changed,
    remove_empty,
)
from chorus.system import durable


class Waiting:
    __slots__ = (
        "_directory",
        "_failure",
        "_made",
        "_path",
        "_root",
        "_scratch",
        "_waits",
        "descriptor",
        "settled",
    )

    def __init__(self, root: str, path: RepoPath, place: Place, *, settled: bool) -> None:
        """`settled`: nobody waits for the disk."""
        self._root = root
        self._path = path
        self._directory = os.dup(place.directory)
        self._made = place.made
        self._scratch = name_scratch()
        self._waits = True
        self._failure: OSError | None = None
        self.descriptor: int | None = None  # a link has none
        self.settled = settled

    def fill(self, place: Place, mode: int, data: bytes) -> None:
        self.descriptor = make_scratch(place, self._scratch, mode, data)

    def fail(self, error: OSError) -> None:
        """Remember what the system says only once."""
        self._failure = error

    def put(self, expected: FileState) -> None:
        """Take the path, if what is there still is `expected`.

        With the name before the bytes a power loss would leave an empty file, so the bytes come first.
        """
        with translated(self._path), open_place(self._root, self._path) as place:
            if self._failure is not None:
                raise self._failure
            if not self.settled and self.descriptor is not None:
                os.fsync(self.descriptor)
            refuse_changed(self._path, place, expected)
            put(self._path, place, self._directory, self._scratch)
            self._waits = False

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)
        if self._waits:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._scratch, dir_fd=self._directory)
        os.close(self._directory)
        if self._waits:
            remove_empty(self._root, self._path, self._made)


def prepare(root: str, path: RepoPath, mode: int, data: bytes, *, durable: bool) -> Waiting:
    """To be closed, whatever becomes of it."""
    with translated(path), open_place(root, path, make=True) as place:
        waiting = Waiting(root, path, place, settled=not durable)
        try:
            waiting.fill(place, mode, data)
        except BaseException:
            waiting.close()
            raise
        return waiting


def settle(prepared: Sequence[Waiting], journal: int) -> None:
    """See those to the disk that are on `journal`, a device that `durable.find_journal` gave, all at once.

    What the disk refuses is said by the file's own `put`; so is what is not settled here.
    """
    sync = durable.find_sync_file_range()
    files = [each for each in prepared if each.descriptor is not None and not each.settled]
    files = [each for each in files if os.fstat(each.descriptor or 0).st_dev == journal]
    if sync is None or len(files) < 2:
        return
    for flags in (durable.START, durable.FINISH):
        for file in files:
            try:
                sync(file.descriptor or 0, flags)
            except OSError as error:
                file.fail(error)
    with contextlib.suppress(OSError):
        durable.wait_for_journal(files[-1].descriptor or 0)
        for file in files:
            file.settled = True
