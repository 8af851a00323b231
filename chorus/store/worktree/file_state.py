"""The state of one path of a work tree at one moment."""

import os
import stat
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import NamedTuple, Self

from chorus.store.objects.tree_object import EXECUTABLE_MODE, FILE_MODE, SYMLINK_MODE, TreeEntry


class SkipReason(Enum):
    """Why a path is not recorded, worded for the user."""

    OUTSIDE = "is outside the work tree"
    GIT_DIR = "is inside a git directory"
    NAME = "has a name that git refuses"
    NESTED = "belongs to another repository inside this one"
    SCRATCH = "is a temporary file of a program that is still writing"
    IGNORED = "is ignored by git"
    BEHIND_LINK = "is behind a symbolic link"
    DIRECTORY = "is a directory"
    SPECIAL = "is neither a file nor a link"
    UNREADABLE = "cannot be read"
    TOO_LARGE = "is larger than the size limit"
    UNSTEADY = "changes while it is read"


class Stamp(NamedTuple):
    """The `stat` data of a file, compared to find out whether the file has changed."""

    modified_ns: int
    changed_ns: int
    size: int
    inode: int
    device: int
    mode: int
    owner: int
    group: int

    @classmethod
    def of(cls, found: os.stat_result) -> Self:
        return cls(
            found.st_mtime_ns,
            found.st_ctime_ns,
            found.st_size,
            found.st_ino,
            found.st_dev,
            found.st_mode,
            found.st_uid,
            found.st_gid,
        )


def stamp_of(path: str | Path) -> Stamp | None:
    """The stamp of a file, following symbolic links. None if there is no such file."""
    try:
        return Stamp.of(os.stat(path))  # noqa: PTH116  hot path
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class File:
    """A file or symbolic link: its mode as git writes it, and its raw bytes (the target of a link)."""

    mode: int
    data: bytes
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Absent:
    """There is no file at this path. `why` is set for a directory, or for a path behind a symbolic link."""

    why: SkipReason | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that Chorus does not record."""

    why: SkipReason
    detail: str = ""


FileState = File | Absent | Skipped


def mode_of(found: os.stat_result) -> int:
    if stat.S_ISLNK(found.st_mode):
        return SYMLINK_MODE
    return EXECUTABLE_MODE if found.st_mode & stat.S_IXUSR else FILE_MODE


def recorded_mode(mode: int, before: TreeEntry | None, *, trust_bits: bool, trust_links: bool) -> int:
    """The mode to record for a file that has `mode` on disk.

    `trust_bits` and `trust_links` are git's `core.fileMode` and `core.symlinks`. If they are False, the file
    system does not keep executable bits or links, and a file keeps its mode from `before`.
    """
    if before is None or mode == SYMLINK_MODE:
        return mode
    if before.mode == SYMLINK_MODE:
        return mode if trust_links else SYMLINK_MODE
    return mode if trust_bits or before.mode not in (FILE_MODE, EXECUTABLE_MODE) else before.mode
