"""The private index: the stamp (`stat` data) of each recorded file, and the id of its raw bytes.

git compares the private index with the work tree in one pass. If the private index is lost or damaged, it is
rebuilt from a copy of the user's index. The entries are the files of one tree. A second file contains the
tree's id.
"""

import os
import shutil
from collections.abc import Mapping, Sequence

from chorus.model.ids import Oid, RepoPath
from chorus.store.git_process import split_names
from chorus.store.lock_file import LockFile
from chorus.store.objects.object_store import ObjectStore
from chorus.store.repository import Repository
from chorus.store.worktree.filters import Filters
from chorus.store.worktree.index_file import IndexEntry, parse_index, render_index
from chorus.system.files.private_files import make_private, open_private

# Override the user's settings that change which stamps git compares and trusts.
EXACT_SETTINGS = (
    "core.trustctime=true", "core.checkStat=default", "core.ignoreStat=false", "core.preloadIndex=true",
    "core.untrackedCache=false", "core.splitIndex=false", "index.sparse=false", "index.version=2",
)  # fmt: skip


class StampIndex:
    def __init__(self, repository: Repository, store: ObjectStore, filters: Filters) -> None:
        self._repository = repository
        self._store = store
        self._filters = filters
        self._path = repository.own_dir / "index"
        self._tree_path = repository.own_dir / "index.tree"

    @property
    def tree(self) -> Oid | None:
        """The tree of the entries; None if there is no index, or a damaged one."""
        try:
            tree, trailer = self._tree_path.read_text(encoding="ascii").split()
            with self._path.open("rb") as file:
                file.seek(-20, os.SEEK_END)
                return Oid(tree) if file.read().hex() == trailer else None
        except (OSError, ValueError):
            return None

    def build(self) -> Oid:
        """Rebuild the private index from the user's index, and return its tree.

        Files that are converted, or whose stamp may be out of date, get no stamp.
        """
        make_private(self._repository.own_dir)
        entries = self._read_users_index()
        for path in self._converted(entries):
            entries[path] = entries[path].without_stamp()
        self._write(entries, None)
        written = self._run("write-tree", "--missing-ok", extra=self._store.writing_environment())
        tree = Oid(written.decode().strip())
        self._write(entries, tree)
        return tree

    def update(self, updates: Mapping[bytes, IndexEntry | None], tree: Oid) -> None:
        """Add, replace or (None) remove entries. `tree`: the tree of all entries after the update."""
        entries = dict(parse_index(self._path.read_bytes()))
        for name, indexed in updates.items():
            if indexed is None:
                entries.pop(name, None)
            else:
                entries[name] = indexed
        self._write(entries, tree)

    def size(self) -> int:
        with self._path.open("rb") as file:
            return int.from_bytes(file.read(12)[8:], "big")

    def stale(self, below: Sequence[RepoPath] = ()) -> list[RepoPath]:
        """Files that are gone or have another stamp than their entry."""
        options = ("-z", "--name-only", "--no-ext-diff", "--no-renames", "--ignore-submodules=all")
        return split_names(self._run("diff-files", *options, "--", *below))

    def unknown(self, below: Sequence[RepoPath] = ()) -> list[RepoPath]:
        """Files that have no entry and are not ignored. The path of a nested repository ends in "/"."""
        return split_names(self._run("ls-files", "-z", "--others", "--exclude-standard", "--", *below))

    def _run(self, *arguments: str, extra: Mapping[str, str] | None = None) -> bytes:
        exact = [part for setting in EXACT_SETTINGS for part in ("-c", setting)]
        variables = {"GIT_INDEX_FILE": str(self._path), **(extra or {})}
        return self._repository.private_git.run(*exact, *arguments, extra=variables)

    def _write(self, entries: Mapping[bytes, IndexEntry], tree: Oid | None) -> None:
        data = render_index(entries)
        with LockFile(self._path, private=True) as lock:
            lock.write(data)
            lock.commit()
        if tree is not None:
            with LockFile(self._tree_path, private=True) as lock:
                lock.write(f"{tree} {data[-20:].hex()}\n".encode())
                lock.commit()

    def _read_users_index(self) -> dict[bytes, IndexEntry]:
        """Copy the user's index, have git convert the copy to version 2, and read the copy."""
        try:
            with (self._repository.git_dir / "index").open("rb") as users:
                written_seconds = int(os.fstat(users.fileno()).st_mtime)
                with open(self._path, "wb", opener=open_private) as copy:
                    shutil.copyfileobj(users, copy)
        except FileNotFoundError:
            return {}
        options = ("--index-version=2", "--no-split-index", "--no-untracked-cache", "--no-fsmonitor")
        self._run("update-index", *options)
        entries = parse_index(self._path.read_bytes())
        # A file that changed in the second in which the index was written gets no stamp: the file may have
        # changed again in that second, which a stamp in whole seconds does not show.
        return {
            name: indexed.without_stamp() if indexed.modified_seconds >= written_seconds else indexed
            for name, indexed in entries.items()
        }

    def _converted(self, entries: Mapping[bytes, IndexEntry]) -> list[bytes]:
        """Files whose bytes on disk may differ from those in the user's index."""
        paths = {RepoPath(os.fsdecode(name)): name for name in entries}
        found = self._filters.converted(paths)
        equal = self._equal_in_size(
            [paths[path] for path, how in found.items() if not how.may_keep_size], entries
        )
        return [paths[path] for path in found if paths[path] not in equal]

    def _equal_in_size(self, names: Sequence[bytes], entries: Mapping[bytes, IndexEntry]) -> set[bytes]:
        """Return the files that are as large on disk as their object in the user's index.

        Converting line ends or `$Id$` changes the size. So files of the same size were not converted.
        """
        oids = b"".join(entries[name].oid.hex().encode() + b"\n" for name in names)
        sizes = self._repository.git.run("cat-file", "--batch-check=%(objectsize)", stdin=oids).split(b"\n")
        return {name for name, size in zip(names, sizes, strict=False) if size == b"%d" % entries[name].size}
