"""Copy what the user's own commits need from the side store to the user's object directory.

git does not write an object that is already in the side store. Other users of a shared repository cannot
read the side store, so the objects of each new commit are copied.
"""

import json
from contextlib import closing
from pathlib import Path

from chorus.model.ids import Oid
from chorus.store.maintenance.side_store import pack_into
from chorus.store.maintenance.sweep import stored_in
from chorus.store.objects.object_store import ObjectStore
from chorus.store.objects.packed_objects import PackReader
from chorus.store.refs import OWN_PREFIXES
from chorus.store.repository import Repository
from chorus.system.files.atomic_file import replace_file
from chorus.system.files.private_files import FILE_MODE

FILE_NAME = "copied.json"
LIST_OBJECTS = ("rev-list", "--objects", "--no-object-names", "--ignore-missing", "--missing=allow-any")


def copy_new_commits(repository: Repository, store: ObjectStore) -> int:
    """Copy what new commits on the user's branches and tags need. Returns the number of objects copied."""
    path = repository.shared_dir / FILE_NAME
    tips, done = _read_tips(repository), _read_done(path)
    new = tips - done
    if not new:
        return 0
    stored = stored_in(repository.git, store.directory)
    copied = _copy(repository, store, new, done, stored) if stored else 0
    replace_file(path, json.dumps(sorted(tips)).encode(), mode=FILE_MODE)
    return copied


def _copy(repository: Repository, store: ObjectStore, new: set[Oid], done: set[Oid], stored: set[Oid]) -> int:
    wanted = "".join([*(f"{tip}\n" for tip in new), *(f"^{tip}\n" for tip in done)])
    listed = repository.git.run(*LIST_OBJECTS, "--stdin", stdin=wanted.encode()).decode().split()
    with closing(PackReader((store.main_directory,))) as packs:
        needed = [
            oid for oid in listed if oid in stored and not _is_there(store.main_directory, packs, Oid(oid))
        ]
    if needed:
        lines = "".join(f"{oid}\n" for oid in needed).encode()
        pack_into(repository.git, store, store.main_directory, lines, "--window=0")
    return len(needed)


def _is_there(directory: Path, packs: PackReader, oid: Oid) -> bool:
    return (directory / oid[:2] / oid[2:]).exists() or packs.read(oid) is not None


def _read_tips(repository: Repository) -> set[Oid]:
    lines = repository.git.text("for-each-ref", "--format=%(objectname) %(refname)").splitlines()
    refs = (line.split(" ", 1) for line in lines)
    tips = {Oid(oid) for oid, name in refs if not name.startswith(OWN_PREFIXES)}
    head = repository.head().oid
    return tips | ({head} if head else set())


def _read_done(path: Path) -> set[Oid]:
    try:
        return {Oid(str(oid)) for oid in json.loads(path.read_bytes())}
    except (FileNotFoundError, ValueError, TypeError):
        return set()
