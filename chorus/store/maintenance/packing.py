"""The side store kept small while it is written to: loose objects into packs, small packs into larger ones.

Receives the store, gives the number of objects packed. Runs beside writers and readers of any process:
an object is dropped in one form only when it is there in another. Never touches the user's own objects.
"""

import os
import time

from chorus.store.git_process import Git
from chorus.store.maintenance.side_store import (
    arranging,
    count_loose,
    count_packed,
    list_loose,
    list_packed,
    list_packs,
    pack_into,
    remove_pack,
)
from chorus.store.objects.store import ObjectStore

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
    with arranging(store.directory) as mine:
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
