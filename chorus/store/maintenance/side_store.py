"""The side store on disk: list its objects and packs, and pack it while it is written to.

The old copy of an object is removed only after the new copy was written, so other processes may read and
write meanwhile.
"""

import contextlib
import heapq
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from chorus.model.ids import Oid
from chorus.store.git_process import Git, PrivateGit
from chorus.store.objects.object_store import ObjectStore
from chorus.system.files.file_lock import try_lock

HEX = "0123456789abcdef"
FANS = [first + second for first in HEX for second in HEX]
PACK_PARTS = (".idx", ".pack", ".rev", ".bitmap", ".mtimes", ".keep")


@dataclass(frozen=True, slots=True)
class LooseObject:
    oid: Oid
    path: str
    modified_seconds: float


def list_loose(directory: Path) -> list[LooseObject]:
    return list(find_loose(directory))


def find_loose(directory: Path) -> Iterator[LooseObject]:
    for fan in FANS:
        with contextlib.suppress(FileNotFoundError), os.scandir(directory / fan) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):
                    if len(entry.name) == 38:
                        state = entry.stat()
                        yield LooseObject(Oid(fan + entry.name), entry.path, state.st_mtime)


def count_loose(directory: Path) -> int:
    """Estimate the number of loose objects from one of the 256 directories, as git does."""
    with contextlib.suppress(FileNotFoundError):
        return 256 * len(list((directory / FANS[0x17]).iterdir()))
    return 0


def list_packs(directory: Path) -> list[Path]:
    """List the index files of complete packs. The index of a pack is written last."""
    return sorted((directory / "pack").glob("pack-*.idx"))


def list_packed(git: Git, index: Path) -> list[Oid]:
    lines = git.run("show-index", stdin=index.read_bytes()).decode().splitlines()
    return [Oid(line.split()[1]) for line in lines]


def count_packed(index: Path) -> int:
    with index.open("rb") as file:
        file.seek(8 + 255 * 4)
        return int.from_bytes(file.read(4), "big")


def remove_pack(index: Path) -> None:
    """Remove a pack, index first: an index without a pack would look like a complete one."""
    for part in PACK_PARTS:
        index.with_suffix(part).unlink(missing_ok=True)


def size_of(directory: Path) -> int:
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += Path(folder, name).lstat().st_blocks * 512
    return total


def pack_into(git: Git, store: ObjectStore, directory: Path, wanted: bytes, *options: str) -> Path | None:
    """Write the objects named in `wanted` into one pack. Returns the pack's index; None for no objects.

    git writes the pack in the side store and then moves the pack to `directory`. In the user's store, `git gc
    --prune=now` would remove an unfinished pack.
    """
    own = directory == store.directory
    (directory / "pack").mkdir(mode=0o700 if own else 0o777, parents=True, exist_ok=True)
    base = directory / "pack" / "pack"
    arguments = ("pack-objects", "--quiet", "--non-empty", "--delta-base-offset", *options)
    writer = PrivateGit(git.directory) if own else git
    name = writer.run(*arguments, str(base), stdin=wanted, extra=store.writing_environment()).decode().strip()
    return base.with_name(f"pack-{name}.idx") if name else None


def lock_store(directory: Path) -> AbstractContextManager[bool]:
    """Keep other processes from packing or sweeping the store.

    Yields False if another process already has the lock.
    """
    return try_lock(directory / "arranging.lock")


# More loose objects than this are packed: some 300 edits, 16 MB. git's limit for an automatic gc is 6,700.
LOOSE_LIMIT = 4096
# An object this young may not be reachable yet. It stays loose, where a sweep sees its age.
YOUNG_SECONDS = 60.0
# Each listed object takes some 500 bytes of memory.
MAX_PACKED_AT_ONCE = 10_000
# Each pack has at least twice the objects of all smaller packs together. So the number of packs grows only
# with the logarithm of the number of objects.
GROWTH = 2


def pack_if_due(git: Git, store: ObjectStore, limit: int = LOOSE_LIMIT) -> int:
    return pack(git, store) if count_loose(store.directory) > limit else 0


def pack(git: Git, store: ObjectStore, young_seconds: float = YOUNG_SECONDS) -> int:
    """Pack the loose objects older than `young_seconds`. Returns their number.

    Returns 0 if another process is packing or sweeping.
    """
    with lock_store(store.directory) as mine:
        if not mine:
            return 0
        oldest, total = time.time() - young_seconds, 0
        while packed := _pack_oldest(git, store, oldest):
            total += packed
            if packed < MAX_PACKED_AT_ONCE:
                break
        if total:
            join_packs(git, store)
        return total


def _pack_oldest(git: Git, store: ObjectStore, oldest: float) -> int:
    """Pack the oldest loose objects from before `oldest`, up to MAX_PACKED_AT_ONCE. Returns their number."""
    old = (found for found in find_loose(store.directory) if found.modified_seconds < oldest)
    loose = heapq.nsmallest(MAX_PACKED_AT_ONCE, old, key=lambda found: found.modified_seconds)
    # Newest first: the order in which history is read.
    wanted = "".join(f"{found.oid}\n" for found in reversed(loose)).encode()
    index = pack_into(git, store, store.directory, wanted) if loose else None
    if index is None:
        return 0
    packed = set(list_packed(git, index))
    for found in loose:
        if found.oid in packed:
            os.unlink(found.path)  # noqa: PTH108  thousands of them
    return len(packed)


def join_packs(git: Git, store: ObjectStore) -> None:
    """Join small packs, until each pack has GROWTH times as many objects as all smaller packs together."""
    sizes = sorted((count_packed(index), index) for index in list_packs(store.directory))
    joined = plan_joining([size for size, _ in sizes])
    small = [index for _, index in sizes[:joined]]
    if joined < 2:
        return
    wanted = "".join(f"{index.with_suffix('.pack').name}\n" for index in small).encode()
    whole = pack_into(git, store, store.directory, wanted, "--stdin-packs")
    for index in small:
        if index != whole:
            remove_pack(index)


def plan_joining(sizes: list[int]) -> int:
    joined = 0
    for count in range(1, len(sizes)):
        if sizes[count] < GROWTH * sum(sizes[:count]):
            joined = count + 1
    return joined
