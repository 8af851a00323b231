"""What lies in the side store: loose objects, packs, scratch files, and who may rearrange them.

Receives its directory, gives lists and sizes. Writing needs no leave; packing and sweeping do, one
process at a time, by a lock that ends with the process that holds it.
"""

import contextlib
import os
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from chorus.model.ids import Oid
from chorus.store.git_process import Git
from chorus.store.objects.object_store import ObjectStore
from chorus.system.file_lock import try_lock

HEX = "0123456789abcdef"
FANS = [first + second for first in HEX for second in HEX]
PACK_PARTS = (".idx", ".pack", ".rev", ".bitmap", ".mtimes", ".keep")


@dataclass(frozen=True, slots=True)
class LooseObject:
    oid: Oid
    path: str
    modified_seconds: float


def list_loose(directory: Path) -> list[LooseObject]:
    found = []
    for fan in FANS:
        with contextlib.suppress(FileNotFoundError), os.scandir(directory / fan) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):
                    if len(entry.name) == 38:
                        state = entry.stat()
                        found.append(LooseObject(Oid(fan + entry.name), entry.path, state.st_mtime))
    return found


def count_loose(directory: Path) -> int:
    """About how many: object ids are even, so one of the 256 directories tells, as it does for git."""
    with contextlib.suppress(FileNotFoundError):
        return 256 * len(list((directory / FANS[0x17]).iterdir()))
    return 0


def list_packs(directory: Path) -> list[Path]:
    """The packs that are whole: their index is written last."""
    return sorted((directory / "pack").glob("pack-*.idx"))


def list_packed(git: Git, index: Path) -> list[Oid]:
    """The objects of one pack."""
    lines = git.run("show-index", stdin=index.read_bytes()).decode().splitlines()
    return [Oid(line.split()[1]) for line in lines]


def count_packed(index: Path) -> int:
    """Read off the index: the last number of its table says how many."""
    with index.open("rb") as file:
        file.seek(8 + 255 * 4)
        return int.from_bytes(file.read(4), "big")


def remove_pack(index: Path) -> None:
    """The index first: a pack without one is not looked at, an index without its pack is an error."""
    for part in PACK_PARTS:
        index.with_suffix(part).unlink(missing_ok=True)


def size_of(directory: Path) -> int:
    """Bytes on disk."""
    total = 0
    for place, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += Path(place, name).lstat().st_blocks * 512
    return total


def pack_into(git: Git, store: ObjectStore, directory: Path, wanted: bytes, *options: str) -> Path | None:
    """One pack of the objects named on its input, whole or not at all; its index, or None if it is empty.

    It grows in the side store wherever it is to go: in the user's, a `git gc --prune=now` takes a pack
    that is not whole yet for one that was left behind.
    """
    (directory / "pack").mkdir(parents=True, exist_ok=True)
    base = directory / "pack" / "pack"
    arguments = ("pack-objects", "--quiet", "--non-empty", "--delta-base-offset", *options)
    name = git.run(*arguments, str(base), stdin=wanted, extra=store.writing_environment()).decode().strip()
    return base.with_name(f"pack-{name}.idx") if name else None


def lock_store(directory: Path) -> AbstractContextManager[bool]:
    """Keep other processes from packing or sweeping the store. Gives False if one of them is at it."""
    return try_lock(directory / "arranging")


# Some 300 edits, 16 MB. git's own limit, past which the user's commands would start a gc, is 6,700.
LOOSE_LIMIT = 4096
# An object this young may not be reachable yet: it stays loose, where a sweep sees its age.
YOUNG_SECONDS = 60.0
# Each pack that stays holds at least twice what all smaller ones do together: their number is logarithmic.
GROWTH = 2


def pack_if_due(git: Git, store: ObjectStore, limit: int = LOOSE_LIMIT) -> int:
    """Pack if there is more loose than `limit`; asking is one directory listing."""
    return pack(git, store) if count_loose(store.directory) > limit else 0


def pack(git: Git, store: ObjectStore, young_seconds: float = YOUNG_SECONDS) -> int:
    """Pack what is loose and not young; 0 if there is nothing, or another process is at it."""
    with lock_store(store.directory) as mine:
        if not mine:
            return 0
        oldest = time.time() - young_seconds
        loose = [found for found in list_loose(store.directory) if found.modified_seconds < oldest]
        # The newest first: that is the order in which history is read.
        loose.sort(key=lambda found: -found.modified_seconds)
        wanted = "".join(f"{found.oid}\n" for found in loose).encode()
        index = pack_into(git, store, store.directory, wanted) if loose else None
        if index is None:
            return 0
        packed = set(list_packed(git, index))
        for found in loose:
            if found.oid in packed:
                os.unlink(found.path)  # noqa: PTH108  thousands of them
        join_packs(git, store)
        return len(packed)


def join_packs(git: Git, store: ObjectStore) -> None:
    """Make one pack of the small ones, if they weigh up against the next larger."""
    sizes = sorted((count_packed(index), index) for index in list_packs(store.directory))
    joined = plan_joining([size for size, _ in sizes])
    small = [index for _, index in sizes[:joined]]
    if joined < 2:  # one pack is joined already
        return
    wanted = "".join(f"{index.with_suffix('.pack').name}\n" for index in small).encode()
    whole = pack_into(git, store, store.directory, wanted, "--stdin-packs")
    for index in small:
        if index != whole:
            remove_pack(index)


def plan_joining(sizes: list[int]) -> int:
    """How many of the smallest packs, given in order, to join."""
    joined = 0
    for count in range(1, len(sizes)):
        if sizes[count] < GROWTH * sum(sizes[:count]):
            joined = count + 1
    return joined
