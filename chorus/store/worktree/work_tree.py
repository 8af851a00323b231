"""Read and write files of the work tree safely.

No symbolic link is followed, a pipe never blocks, and no file above the size limit is read. A write replaces
a file completely or not at all, and only if the path is still as the caller saw it.
"""

import os
import stat
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from chorus.model.ids import RepoPath
from chorus.store.objects.tree_object import SYMLINK_MODE
from chorus.store.worktree import staged_file
from chorus.store.worktree.descent import Blocked, OpenParent, descend, exists
from chorus.store.worktree.file_state import Absent, File, FileState, Skipped, SkipReason, Stamp, mode_of
from chorus.store.worktree.scratch_names import is_scratch
from chorus.store.worktree.spelling import Spelling
from chorus.store.worktree.staged_file import StagedFile
from chorus.system.files.durable_writes import find_journaled_device

# Larger than any source file under review, small enough to be read a few times a second.
CAP_BYTES = 32 * 2**20
# A file written to during five reads in a row is being streamed to: it is read again later.
READ_ATTEMPTS = 5

OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


EXACT = Spelling()
# Resolving takes time that grows with the square of the number of parts. Nothing this deep is recorded.
MAX_PARTS = 1000


class WorkTree:
    def __init__(
        self, root: Path, cap_bytes: int = CAP_BYTES, *, spelling: Spelling = EXACT, durable: bool = True
    ) -> None:
        self.root = root
        self._durable = durable
        self._root = os.fspath(root)
        self._cap = cap_bytes
        self.spelling = spelling

    def locate(self, path: str) -> RepoPath | None:
        """Turn a path that a tool names into a path relative to this work tree; None for a path outside it.

        Symbolic links in the parent directories are resolved, as they are when the tool writes. A link at the
        path itself is not resolved.
        """
        full = os.path.normpath(os.path.join(self._root, path))  # noqa: PTH118  a last link stays
        if full.count("/") > MAX_PARTS:
            return None
        if full.startswith(self._root + "/") and not self._has_link(full):
            return RepoPath(self.spelling.as_on_disk(self._root, full[len(self._root) + 1 :]))
        parent, name = os.path.split(full)
        resolved = os.path.join(os.path.realpath(parent), name)  # noqa: PTH118  os is faster than pathlib here
        inside = os.path.relpath(resolved, os.path.realpath(self._root))
        if not self.spelling.is_exact and inside.startswith("../"):
            inside = _below_same_directory(self._root, resolved) or inside
        if inside == "." or inside.split("/", 1)[0] == "..":
            return None
        return RepoPath(self.spelling.as_on_disk(self._root, inside))

    def _has_link(self, full: str) -> bool:
        end = full.find("/", len(self._root) + 1)
        while end >= 0:
            if os.path.islink(full[:end]):  # noqa: PTH114  os is faster than pathlib here
                return True
            end = full.find("/", end + 1)
        return False

    def read_file(self, path: RepoPath) -> FileState:
        """Read the file at `path`. If it changes while it is read, try again a limited number of times."""
        return self.read_unless(path, None) or Absent()

    def read_unless(self, path: RepoPath, known: Stamp | None) -> FileState | None:
        """Like `read_file`, but if the file's stamp is `known`, return None without reading the file."""
        if is_scratch(path):
            return Skipped(SkipReason.SCRATCH)
        if not self.spelling.is_exact and not self.spelling.is_stored(self._root, path):
            return Absent()
        try:
            with descend(self._root, path) as parent:
                return self._read(parent, known)
        except Blocked as blocked:
            return blocked.state
        except FileNotFoundError:
            return Absent()
        except OSError as error:
            return Skipped(SkipReason.UNREADABLE, error.strerror or "")

    def is_written_after(self, path: RepoPath, moment: float) -> bool:
        """True if the file was certainly written after `moment`, in seconds since 1970. False if it is gone.

        Both mtime and ctime must be later: a program can set the mtime, but only the system sets the ctime.
        """
        try:
            state = os.lstat(f"{self._root}/{path}")
        except OSError:
            return False
        return min(state.st_mtime, state.st_ctime) > moment

    def is_written_before(self, path: RepoPath, moment: float) -> bool:
        """True if the file was certainly not written since `moment`. False if it is gone."""
        try:
            state = os.lstat(f"{self._root}/{path}")
        except OSError:
            return False
        return max(state.st_mtime, state.st_ctime) < moment

    def write_file(self, path: RepoPath, mode: int, data: bytes, expected: FileState) -> None:
        """Write a file or link to `path`, completely or not at all.

        Raises CannotReplace if the path is no longer as `expected`. The permissions of a replaced file are
        kept, except the executable bits.
        """
        staged_files = self.stage(path, mode, data)
        try:
            staged_files.put(expected)
        finally:
            staged_files.close()

    def stage(self, path: RepoPath, mode: int, data: bytes) -> StagedFile:
        """Write the new content to a scratch file. `StagedFile.put` then renames it over `path`.

        The caller closes the result.
        """
        return staged_file.stage(self._root, path, mode, data, durable=self._durable)

    def sync_staged(self, staged_files: Sequence[StagedFile]) -> None:
        """Sync all these files, with about one wait for the disk if the file system allows it."""
        if self._durable and len(staged_files) > 1 and self._journaled_device is not None:
            staged_file.sync_staged(staged_files, self._journaled_device)

    @cached_property
    def _journaled_device(self) -> int | None:
        return find_journaled_device(self.root)

    def remove_scratch_files(self, path: RepoPath) -> None:
        """Remove scratch files that dead writers left next to `path`.

        The caller must make sure that no other process writes there.
        """
        staged_file.remove_scratch_files(self._root, path)

    def delete_file(self, path: RepoPath, expected: FileState) -> None:
        """Remove the file at `path` if it is still as `expected`, and parent directories left empty."""
        staged_file.delete_file(self._root, path, expected)

    def _read(self, parent: OpenParent, known: Stamp | None) -> FileState | None:
        found = os.lstat(parent.name, dir_fd=parent.directory)
        if known is not None and known == Stamp.of(found):
            return None
        if stat.S_ISREG(found.st_mode):
            return self._read_steady(parent)
        if stat.S_ISLNK(found.st_mode):
            if parent.name.lower() == b".gitmodules":
                return Skipped(SkipReason.NAME, "as a link")
            target = os.readlink(parent.name, dir_fd=parent.directory)
            return File(SYMLINK_MODE, target, Stamp.of(found))
        if stat.S_ISDIR(found.st_mode):
            nested = exists(parent.directory, parent.name + b"/.git")
            return Skipped(SkipReason.NESTED) if nested else Absent(SkipReason.DIRECTORY)
        return Skipped(SkipReason.SPECIAL)

    def _read_steady(self, parent: OpenParent) -> FileState:
        descriptor = os.open(parent.name, OPEN, dir_fd=parent.directory)
        try:
            for _ in range(READ_ATTEMPTS):
                before = os.fstat(descriptor)
                if not stat.S_ISREG(before.st_mode):
                    return Skipped(SkipReason.SPECIAL)
                if before.st_size > self._cap:
                    return Skipped(SkipReason.TOO_LARGE, f"{before.st_size} bytes")
                data = read_all(descriptor, before.st_size)
                after = Stamp.of(os.fstat(descriptor))
                if after == Stamp.of(before) and len(data) == after.size:
                    return File(mode_of(before), data, after)
            return Skipped(SkipReason.UNSTEADY)
        finally:
            os.close(descriptor)


def _below_same_directory(root: str, path: str) -> str | None:
    """The part of `path` below `root`, even if `path` spells `root` differently; None outside `root`."""
    parts = path.split("/")
    for length in range(len(parts) - 1, 0, -1):
        try:
            if os.path.samefile("/".join(parts[:length]) or "/", root):  # noqa: PTH121  text
                return "/".join(parts[length:])
        except OSError:  # not there
            continue
    return None


def read_all(descriptor: int, size: int) -> bytes:
    """Read the file from its start. If it has more than `size` bytes, return the first `size` + 1 bytes."""
    pieces = []
    position = 0
    while piece := os.pread(descriptor, max(size + 1 - position, 1), position):
        pieces.append(piece)
        position += len(piece)
        if position > size:
            break
    return b"".join(pieces)
