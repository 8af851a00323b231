"""A second reader: every object Chorus wrote, read with GitPython's object database and hashed anew.

Receives the side store, gives what is not what its name says. Shares no code with the writer or with git,
so it vouches for both, and reads Chorus's own objects only, where `git fsck` reads all of the user's.
Never writes.
"""

import hashlib
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from chorus.model.ids import Oid

# What reading a damaged file can end in.
DAMAGE = (OSError, ValueError, IndexError, AssertionError, struct.error, zlib.error)


def find_damaged_objects(store: Path) -> list[str]:
    """In words, each object of the store that cannot be read or is not what its name says."""
    # Here and not above: it takes 40 ms, and one command needs it.
    from gitdb.db.loose import LooseObjectDB  # type: ignore[import-untyped]  # noqa: PLC0415
    from gitdb.db.pack import PackedDB  # type: ignore[import-untyped]  # noqa: PLC0415

    databases: list[Database] = [LooseObjectDB(str(store))]
    if (store / "pack").is_dir():
        databases.append(PackedDB(str(store / "pack")))
    return [problem for database in databases for problem in check(database)]


class Database(Protocol):
    """As much of it as is used; it has no types of its own."""

    def sha_iter(self) -> Iterable[bytes]: ...

    def stream(self, sha: bytes) -> Any: ...  # noqa: ANN401


def check(database: Database) -> Iterator[str]:
    from gitdb.exc import ODBError  # type: ignore[import-untyped]  # noqa: PLC0415

    for name in list(database.sha_iter()):
        oid = Oid(name.hex())
        try:
            stream = database.stream(name)
            data = stream.read()
        except (ODBError, *DAMAGE) as error:
            yield f"object {oid} cannot be read: {error}"
            continue
        header = b"%s %d\0" % (stream.type, len(data))
        if hashlib.sha1(header + data, usedforsecurity=False).hexdigest() != oid:
            yield f"object {oid} is not what its name says"
