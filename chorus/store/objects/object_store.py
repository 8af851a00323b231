"""The object store: writes to Chorus's own directory, and reads every object that git can reach.

git reads this directory, the side store, through a line in `objects/info/alternates` and never prunes it.
"""

import hashlib
from pathlib import Path
from typing import Self

from chorus.errors import ChorusError
from chorus.model.ids import Oid
from chorus.store.lock_file import LockFile, translate_write_errors
from chorus.store.objects.batch_reader import BatchReader
from chorus.store.objects.commits import Commit, parse_commit, render_commit
from chorus.store.objects.loose_objects import LooseStore
from chorus.store.objects.packed_objects import PackReader
from chorus.store.repository import Repository
from chorus.system.files.private_files import make_private

# A path relative to git's `objects` directory.
ALTERNATE_LINE = b"../chorus/objects"

# Kinds of objects that are read from packs in this process, without git.
READ_IN_PROCESS = (b"tree", b"commit")


class ObjectMissing(ChorusError):
    """An object is missing or damaged, or of another kind than expected."""

    hint = "Run `chorus doctor --deep` to see what is broken."


class ObjectStore:
    def __init__(self, repository: Repository) -> None:
        self.directory = repository.shared_dir / "objects"
        self.main_directory = repository.common_dir / "objects"
        self._loose = LooseStore(self.directory, repository.pending_writes)
        self._main = LooseStore(self.main_directory, repository.pending_writes)
        self._packs = PackReader((self.directory, self.main_directory))
        self._reader = BatchReader(repository.git)
        self._attached = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._reader.close()
        self._packs.close()

    def write_blob(self, data: bytes) -> Oid:
        return self._write(b"blob", data)

    def write_tree(self, data: bytes) -> Oid:
        return self._write(b"tree", data)

    def write_commit(self, commit: Commit) -> Oid:
        return self._write(b"commit", render_commit(commit))

    def read(self, oid: Oid) -> tuple[bytes, bytes]:
        found = self._find(oid)
        if found is None:
            raise ObjectMissing(f"object {oid} is missing or damaged")
        return found

    def has(self, oid: Oid) -> bool:
        return self._find(oid) is not None

    def read_blob(self, oid: Oid) -> bytes:
        return self._read_kind(oid, b"blob")

    def blob_size(self, oid: Oid) -> int | None:
        """Return the length of a blob without reading all of it, and without starting git.

        None does not mean that the blob is missing: git may still find it.
        """
        for part in (self._loose, self._main, self._packs):
            size = part.size(oid)
            if size is not None:
                return size
        return None

    def read_tree(self, oid: Oid) -> bytes:
        return self._read_kind(oid, b"tree")

    def read_commit(self, oid: Oid) -> Commit:
        return parse_commit(self._read_kind(oid, b"commit"))

    def writing_environment(self) -> dict[str, str]:
        """Variables that make a git process write to the side store and also read the user's objects."""
        self._attach()
        return {
            "GIT_OBJECT_DIRECTORY": str(self.directory),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": quoted(self.main_directory),
        }

    def _find(self, oid: Oid, kind: bytes | None = None) -> tuple[bytes, bytes] | None:
        # Most trees and commits that are not cached yet are the user's and are in a pack: look there first.
        packed = self._packs.read(oid) if kind in READ_IN_PROCESS else None
        return packed or self._loose.read(oid) or self._main.read(oid) or self._reader.read(oid)

    def _read_kind(self, oid: Oid, kind: bytes) -> bytes:
        found, data = self._find(oid, kind) or (None, b"")
        if found is None:
            raise ObjectMissing(f"object {oid} is missing or damaged")
        if found != kind:
            raise ObjectMissing(f"object {oid} is a {found.decode()}, not a {kind.decode()}")
        return data

    def _write(self, kind: bytes, data: bytes) -> Oid:
        if not self._attached:
            self._attach()
        return self._loose.write(kind, data)

    def _attach(self) -> None:
        with translate_write_errors(str(self.directory)):
            make_private(self.directory.parent)
            make_private(self.directory)
        attach(self.main_directory)
        self._attached = True


def attach(main_directory: Path) -> None:
    """Add the side store to git's alternates, keeping what the file contains."""
    path = main_directory / "info" / "alternates"
    if ALTERNATE_LINE in read_alternates(path).split(b"\n"):
        return
    with LockFile(path) as lock:
        old = read_alternates(path)
        if ALTERNATE_LINE not in old.split(b"\n"):
            newline = b"\n" if old and not old.endswith(b"\n") else b""
            lock.write(old + newline + ALTERNATE_LINE + b"\n")
            lock.commit(durable=True)


def read_alternates(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        return b""


def hash_blob(data: bytes) -> Oid:
    body = b"blob %d\0" % len(data)
    return Oid(hashlib.sha1(body + data, usedforsecurity=False).hexdigest())


def quoted(path: Path) -> str:
    """A path as one item of git's colon-separated lists."""
    text = str(path)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"' if ":" in text or escaped != text else text
