"""A private index: for each followed file, its stamp and the bytes it had then, for git to compare with.

Receives what was read, gives the paths whose stamp no longer fits and those it does not know, found by
git in one pass over the work tree. Lives in the git directory of the work tree, and is a cache: lost or
broken, it is built anew from a copy of the user's index, which is itself never opened for writing.

Its entries name raw bytes, those of one tree, whose id stands beside the file. Comparing that tree with
any other says what the stamps cannot.
"""

import os
import shutil
from collections.abc import Mapping, Sequence

from chorus.model.ids import Oid, RepoPath
from chorus.store import lock_file as lockfile
from chorus.store.git_process import split_names
from chorus.store.objects.object_store import ObjectStore
from chorus.store.repository import Repository
from chorus.store.worktree.filters import Filters
from chorus.store.worktree.index_file import Record, parse_index, render_index

# Settings of the user's that would let git trust less, or more, than the stamps here bear out.
EXACT = (
    "core.trustctime=true", "core.checkStat=default", "core.ignoreStat=false", "core.preloadIndex=true",
    "core.untrackedCache=false", "core.splitIndex=false", "index.sparse=false", "index.version=2",
)  # fmt: skip


class StampIndex:
    def __init__(self, repository: Repository, store: ObjectStore, filters: Filters) -> None:
        self._repository = repository
        self._store = store
        self._filters = filters
        self._place = repository.own_dir / "index"
        self._beside = repository.own_dir / "index.tree"

    @property
    def tree(self) -> Oid | None:
        """The tree whose bytes the entries name; None if there is no index, or a broken one."""
        try:
            tree, trailer = self._beside.read_text(encoding="ascii").split()
            with self._place.open("rb") as file:
                file.seek(-20, os.SEEK_END)
                return Oid(tree) if file.read().hex() == trailer else None
        except (OSError, ValueError):
            return None

    def build(self) -> Oid:
        """Start from the user's index. What it is not sure of, or keeps in another form, is left unsure."""
        self._repository.own_dir.mkdir(parents=True, exist_ok=True)
        records = self._read_users_index()
        for path in self._converted(records):
            records[path] = records[path].without_stamp()
        self._write(records, None)
        written = self._run("write-tree", "--missing-ok", extra=self._store.writing_environment())
        tree = Oid(written.decode().strip())
        self._write(records, tree)
        return tree

    def update(self, updates: Mapping[bytes, Record | None], tree: Oid) -> None:
        """Take over what was read since; `tree` has the bytes that are then named."""
        records = dict(parse_index(self._place.read_bytes()))
        for name, record in updates.items():
            if record is None:
                records.pop(name, None)
            else:
                records[name] = record
        self._write(records, tree)

    def size(self) -> int:
        """How many files it knows."""
        with self._place.open("rb") as file:
            return int.from_bytes(file.read(12)[8:], "big")

    def stale(self, below: Sequence[RepoPath] = ()) -> list[RepoPath]:
        """Known files whose stamp does not fit, or that are gone."""
        options = ("-z", "--name-only", "--no-ext-diff", "--no-renames", "--ignore-submodules=all")
        return split_names(self._run("diff-files", *options, "--", *below))

    def unknown(self, below: Sequence[RepoPath] = ()) -> list[RepoPath]:
        """Files it does not know and git does not ignore; a repository inside this one ends in "/"."""
        return split_names(self._run("ls-files", "-z", "--others", "--exclude-standard", "--", *below))

    def _run(self, *arguments: str, extra: Mapping[str, str] | None = None) -> bytes:
        exact = [part for setting in EXACT for part in ("-c", setting)]
        variables = {"GIT_INDEX_FILE": str(self._place), **(extra or {})}
        return self._repository.git.run(*exact, *arguments, extra=variables)

    def _write(self, records: Mapping[bytes, Record], tree: Oid | None) -> None:
        data = render_index(records)
        with lockfile.LockFile(self._place) as lock:
            lock.write(data)
            lock.commit()
        if tree is not None:
            with lockfile.LockFile(self._beside) as lock:
                lock.write(f"{tree} {data[-20:].hex()}\n".encode())
                lock.commit()

    def _read_users_index(self) -> dict[bytes, Record]:
        """A copy, which git brings into the one form that is read here."""
        try:
            with (self._repository.git_dir / "index").open("rb") as users:
                written_seconds = int(os.fstat(users.fileno()).st_mtime)
                with self._place.open("wb") as copy:
                    shutil.copyfileobj(users, copy)
        except FileNotFoundError:
            return {}
        options = ("--index-version=2", "--no-split-index", "--no-untracked-cache", "--no-fsmonitor")
        self._run("update-index", *options)
        records = parse_index(self._place.read_bytes())
        # Written in the second the index was: git cannot tell by the stamp whether it changed since.
        return {
            name: record.without_stamp() if record.modified_seconds >= written_seconds else record
            for name, record in records.items()
        }

    def _converted(self, records: Mapping[bytes, Record]) -> list[bytes]:
        """Files whose bytes on disk may not be those the user's index names."""
        paths = {RepoPath(os.fsdecode(name)): name for name in records}
        found = self._filters.converted(paths)
        equal = self._equal_in_size(
            [paths[path] for path, how in found.items() if not how.may_keep_size], records
        )
        return [paths[path] for path in found if paths[path] not in equal]

    def _equal_in_size(self, names: Sequence[bytes], records: Mapping[bytes, Record]) -> set[bytes]:
        """Converting line ends or `$Id$` changes the size: where it is the same, so are the bytes."""
        asked = b"".join(records[name].oid.hex().encode() + b"\n" for name in names)
        sizes = self._repository.git.run("cat-file", "--batch-check=%(objectsize)", stdin=asked).split(b"\n")
        return {name for name, size in zip(names, sizes, strict=False) if size == b"%d" % records[name].size}
