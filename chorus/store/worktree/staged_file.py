"""A new file that waits beside the path it is to take.

Receives a path and its new bytes; whoever has many prepares them all, sees them to the disk at the cost of
about one wait, and then lets each take its path. It takes the path whole, if that still is what the caller
saw there, or goes without a trace: no scratch file stays behind, and no directory made for it.
"""

import contextlib
import itertools
import os
import re
import stat
from collections.abc import Iterator, Sequence

from chorus.errors import ChorusError
from chorus.model.ids import RepoPath
from chorus.store.lock_file import translate_write_errors, write_all
from chorus.store.objects.tree_object import EXECUTABLE_MODE, SYMLINK_MODE
from chorus.store.worktree.descent import Blocked, OpenParent, descend, names_in
from chorus.store.worktree.file_state import File, FileState, Stamp
from chorus.system import durable_writes as durable


class StagedFile:
    __slots__ = (
        "_directory",
        "_failure",
        "_made",
        "_path",
        "_root",
        "_scratch",
        "_waits",
        "descriptor",
        "synced",
    )

    def __init__(self, root: str, path: RepoPath, place: OpenParent, *, synced: bool) -> None:
        """`settled`: nobody waits for the disk."""
        self._root = root
        self._path = path
        self._directory = os.dup(place.directory)
        self._made = place.made
        self._scratch = name_scratch()
        self._waits = True
        self._failure: OSError | None = None
        self.descriptor: int | None = None  # a link has none
        self.synced = synced

    def fill(self, place: OpenParent, mode: int, data: bytes) -> None:
        self.descriptor = make_scratch(place, self._scratch, mode, data)

    def fail(self, error: OSError) -> None:
        """Remember what the system says only once."""
        self._failure = error

    def put(self, expected: FileState) -> None:
        """Take the path, if what is there still is `expected`.

        With the name before the bytes a power loss would leave an empty file, so the bytes come first.
        """
        with translate_write_errors(self._path), open_place(self._root, self._path) as place:
            if self._failure is not None:
                raise self._failure
            if not self.synced and self.descriptor is not None:
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


def stage(root: str, path: RepoPath, mode: int, data: bytes, *, durable: bool) -> StagedFile:
    """To be closed, whatever becomes of it."""
    with translate_write_errors(path), open_place(root, path, make=True) as place:
        waiting = StagedFile(root, path, place, synced=not durable)
        try:
            waiting.fill(place, mode, data)
        except BaseException:
            waiting.close()
            raise
        return waiting


def sync_staged(staged_files: Sequence[StagedFile], journal: int) -> None:
    """See those to the disk that are on `journal`, a device that `durable.find_journal` gave, all at once.

    What the disk refuses is said by the file's own `put`; so is what is not settled here.
    """
    sync = durable.find_sync_file_range()
    files = [each for each in staged_files if each.descriptor is not None and not each.synced]
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
            file.synced = True


CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
EXECUTABLE_BITS = 0o111
# The process, and a number.
SCRATCH_NAME = rb"\.chorus-\d+-\d+\.tmp"

_serial = itertools.count()


class CannotReplace(ChorusError):
    """The path is not as it was seen, or cannot be written; nothing was changed."""

    hint = "Look at the path, then run the command again."


def delete_file(root: str, path: RepoPath, expected: FileState) -> None:
    with translate_write_errors(path), open_place(root, path) as place:
        refuse_changed(path, place, expected)
        os.unlink(place.name, dir_fd=place.directory)
    remove_empty(root, path, path.count("/"))


def remove_scratch_files(root: str, path: RepoPath) -> None:
    """Take away what processes that are dead left waiting in the directory of `path`."""
    with (
        translate_write_errors(path),
        contextlib.suppress(Blocked, FileNotFoundError),
        descend(root, path) as place,
    ):
        for name in names_in(place.directory):
            if re.fullmatch(SCRATCH_NAME, name):
                os.unlink(name, dir_fd=place.directory)


def name_scratch() -> bytes:
    return b".chorus-%d-%d.tmp" % (os.getpid(), next(_serial))


@contextlib.contextmanager
def open_place(root: str, path: RepoPath, *, make: bool = False) -> Iterator[OpenParent]:
    try:
        with descend(root, path, make=make) as place:
            yield place
    except Blocked as blocked:
        why = blocked.state.why.value if blocked.state.why else "is not there"
        raise CannotReplace(f"{path} {why}") from blocked


def make_scratch(place: OpenParent, scratch: bytes, mode: int, data: bytes) -> int | None:
    """The open file; None for a link."""
    if mode == SYMLINK_MODE:
        os.symlink(data, scratch, dir_fd=place.directory)
        return None
    old = look(place)
    descriptor = os.open(scratch, CREATE, 0o666, dir_fd=place.directory)
    try:
        write_all(descriptor, data)
        kept = old if old and stat.S_ISREG(old.st_mode) else os.fstat(descriptor)
        os.fchmod(descriptor, bits_for(mode, stat.S_IMODE(kept.st_mode)))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def bits_for(mode: int, bits: int) -> int:
    """Permissions with the executable bits git asks for: set where the file may be read, or taken away."""
    if mode == EXECUTABLE_MODE:
        return bits if bits & stat.S_IXUSR else bits | stat.S_IXUSR | (bits & 0o444) >> 2
    return bits & ~EXECUTABLE_BITS


def look(place: OpenParent) -> os.stat_result | None:
    try:
        return os.lstat(place.name, dir_fd=place.directory)
    except FileNotFoundError:
        return None


def refuse_changed(path: RepoPath, place: OpenParent, expected: FileState) -> None:
    """A directory where no file was expected is no file; `put` says whether it can go."""
    now = look(place)
    stamp = Stamp.of(now) if now and not stat.S_ISDIR(now.st_mode) else None
    if stamp != (expected.stamp if isinstance(expected, File) else None):
        raise CannotReplace(f"{path} has changed since it was read")


def put(path: RepoPath, place: OpenParent, directory: int, scratch: bytes) -> None:
    try:
        os.rename(scratch, place.name, src_dir_fd=directory, dst_dir_fd=place.directory)
    except IsADirectoryError:
        with directory_in_the_way(path):
            os.rmdir(place.name, dir_fd=place.directory)
        os.rename(scratch, place.name, src_dir_fd=directory, dst_dir_fd=place.directory)


@contextlib.contextmanager
def directory_in_the_way(path: RepoPath) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CannotReplace(f"{path} is a directory that is not empty") from error


def remove_empty(root: str, path: RepoPath, levels: int) -> None:
    """Remove up to `levels` of the directories above `path`, as long as they are empty."""
    with contextlib.suppress(OSError, Blocked):
        for _ in range(levels):
            path = RepoPath(path.rpartition("/")[0])
            with descend(root, path) as place:
                os.rmdir(place.name, dir_fd=place.directory)
