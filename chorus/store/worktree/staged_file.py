"""Replace or remove one file of the work tree, completely or not at all.

The new content is written to a scratch file, which is renamed over the path if the path is still as the
caller last saw it. No symbolic link is followed. After a failure, no scratch file or new directory is left
behind.
"""

import contextlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence

from chorus.errors import ChorusError
from chorus.model.ids import RepoPath
from chorus.store.lock_file import translate_write_errors, write_all, write_error
from chorus.store.objects.tree_object import EXECUTABLE_MODE, SYMLINK_MODE
from chorus.store.worktree.descent import Blocked, OpenParent, descend, names_in
from chorus.store.worktree.file_state import File, FileState, Stamp
from chorus.store.worktree.scratch_names import is_own_scratch, new_scratch_name
from chorus.system.files import durable_writes

CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
EXECUTABLE_BITS = 0o111


class CannotReplace(ChorusError):
    """The path changed since it was read, or cannot be written. Nothing was changed."""

    hint = "Correct that, then run the command again."


class StagedFile:
    """New content for a path, in a scratch file next to it. The caller must close it.

    `synced`: True if `put` does not have to sync the file.
    """

    __slots__ = (
        "_created_parents",
        "_directory",
        "_failure",
        "_is_pending",
        "_path",
        "_root",
        "_scratch",
        "descriptor",
        "synced",
    )

    def __init__(self, root: str, path: RepoPath, parent: OpenParent, *, synced: bool) -> None:
        self._root = root
        self._path = path
        self._directory = os.dup(parent.directory)
        self._created_parents = parent.created
        self._scratch = new_scratch_name()
        self._is_pending = True
        self._failure: OSError | None = None
        self.descriptor: int | None = None  # None for a link
        self.synced = synced

    def fill(self, parent: OpenParent, mode: int, data: bytes) -> None:
        self.descriptor = write_scratch(parent, self._scratch, mode, data)

    def fail(self, error: OSError) -> None:
        """Store a write error, so that `put` raises it. The system reports a write error only once."""
        self._failure = error

    def put(self, expected: FileState) -> None:
        """Rename the file over its path. Raises CannotReplace if the path is no longer as `expected`.

        Before the rename, the bytes are synced, unless `synced` is True. Without a sync, the file could
        be empty after a power loss.
        """
        with open_parent(self._root, self._path) as parent:
            if self._failure is not None:
                raise self._failure
            if not self.synced and self.descriptor is not None:
                durable_writes.sync_file(self.descriptor)
            refuse_changed(self._path, parent, expected)
            rename_over(self._path, parent, self._directory, self._scratch)
            self._is_pending = False

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)
        if self._is_pending:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._scratch, dir_fd=self._directory)
        os.close(self._directory)
        if self._is_pending:
            remove_empty_parents(self._root, self._path, self._created_parents)


def stage(root: str, path: RepoPath, mode: int, data: bytes, *, durable: bool) -> StagedFile:
    with open_parent(root, path, create=True) as parent:
        staged = StagedFile(root, path, parent, synced=not durable)
        try:
            staged.fill(parent, mode, data)
        except BaseException:
            staged.close()
            raise
        return staged


def sync_staged(staged_files: Sequence[StagedFile], device: int) -> None:
    """Sync those of the files that are on this device, with about one wait for the disk for all of them.

    `device`: from `durable_writes.find_journaled_device`. If a write fails here, `put` raises the error.
    `put` also syncs each file that was not synced here.
    """
    files = [each for each in staged_files if each.descriptor is not None and not each.synced]
    files = [each for each in files if os.fstat(each.descriptor or 0).st_dev == device]
    if len(files) < 2:
        return
    for file in files:
        _try(file, durable_writes.start_writing)
    for file in files:
        _try(file, lambda descriptor: durable_writes.finish_writing([descriptor]))
    with contextlib.suppress(OSError):
        durable_writes.sync_journal(files[-1].descriptor or 0)
        for file in files:
            file.synced = True


def _try(file: StagedFile, write: Callable[[int], None]) -> None:
    try:
        write(file.descriptor or 0)
    except OSError as error:
        file.fail(error)


def delete_file(root: str, path: RepoPath, expected: FileState) -> None:
    with open_parent(root, path) as parent:
        refuse_changed(path, parent, expected)
        os.unlink(parent.name, dir_fd=parent.directory)
    remove_empty_parents(root, path, path.count("/"))


def remove_scratch_files(root: str, path: RepoPath) -> None:
    """Remove the scratch files that dead processes of Chorus left in the directory of `path`."""
    with (
        translate_write_errors(path),
        contextlib.suppress(Blocked, FileNotFoundError),
        descend(root, path) as parent,
    ):
        for name in names_in(parent.directory):
            if is_own_scratch(name):
                os.unlink(name, dir_fd=parent.directory)


@contextlib.contextmanager
def open_parent(root: str, path: RepoPath, *, create: bool = False) -> Iterator[OpenParent]:
    """Open the directory of `path`. An OSError in the `with` block is raised as a ChorusError."""
    try:
        with descend(root, path, create=create) as parent:
            yield parent
    except Blocked as blocked:
        reason = blocked.state.why.value if blocked.state.why else "does not exist"
        raise CannotReplace(f"{path} {reason}") from blocked
    except OSError as error:
        known = write_error(error, path)
        raise CannotReplace(f"{path}: {error.strerror}") if known is error else known from error


def write_scratch(parent: OpenParent, scratch: bytes, mode: int, data: bytes) -> int | None:
    """Create the scratch file and return its descriptor. For a symbolic link, create a link and return None.

    A new file gets the permissions of the file that it replaces, with executable bits as in `mode`.
    """
    if mode == SYMLINK_MODE:
        os.symlink(data, scratch, dir_fd=parent.directory)
        return None
    old = stat_of(parent)
    descriptor = os.open(scratch, CREATE, 0o666, dir_fd=parent.directory)
    try:
        write_all(descriptor, data)
        kept = old if old and stat.S_ISREG(old.st_mode) else os.fstat(descriptor)
        os.fchmod(descriptor, permissions_for(mode, stat.S_IMODE(kept.st_mode)))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def permissions_for(mode: int, permissions: int) -> int:
    """Return `permissions`, with executable bits added or cleared as git's `mode` requires.

    Bits are added for the owner and for all who may read the file, unless the owner may already execute the
    file.
    """
    if mode == EXECUTABLE_MODE:
        executable = permissions | stat.S_IXUSR | (permissions & 0o444) >> 2
        return permissions if permissions & stat.S_IXUSR else executable
    return permissions & ~EXECUTABLE_BITS


def stat_of(parent: OpenParent) -> os.stat_result | None:
    try:
        return os.lstat(parent.name, dir_fd=parent.directory)
    except FileNotFoundError:
        return None


def refuse_changed(path: RepoPath, parent: OpenParent, expected: FileState) -> None:
    """Raise CannotReplace if the path is not as expected. A directory counts as no file here."""
    now = stat_of(parent)
    stamp = Stamp.of(now) if now and not stat.S_ISDIR(now.st_mode) else None
    if stamp != (expected.stamp if isinstance(expected, File) else None):
        raise CannotReplace(f"{path} has changed since it was read", hint="Run the command again.")


def rename_over(path: RepoPath, parent: OpenParent, directory: int, scratch: bytes) -> None:
    """Rename the scratch file over the path. If an empty directory is at the path, remove it first.

    Raises CannotReplace if a directory at the path is not empty. `directory`: the scratch file's directory.
    """
    try:
        os.rename(scratch, parent.name, src_dir_fd=directory, dst_dir_fd=parent.directory)
    except IsADirectoryError:
        try:
            os.rmdir(parent.name, dir_fd=parent.directory)
        except OSError as error:
            raise CannotReplace(
                f"{path} is a directory that is not empty",
                hint="Move the directory away, then run the command again.",
            ) from error
        os.rename(scratch, parent.name, src_dir_fd=directory, dst_dir_fd=parent.directory)


def remove_empty_parents(root: str, path: RepoPath, levels: int) -> None:
    """Remove up to `levels` of the directories above `path`, as long as they are empty."""
    with contextlib.suppress(OSError, Blocked):
        for _ in range(levels):
            path = RepoPath(path.rpartition("/")[0])
            with descend(root, path) as parent:
                os.rmdir(parent.name, dir_fd=parent.directory)
