"""Check every object of the side store with an independent reader, GitPython's object database.

GitPython shares no code with git or with Chorus's own writer, so the check finds mistakes of both.
"""

import hashlib
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from chorus.model.ids import Oid

# Errors that reading a damaged file can raise.
DAMAGE = (OSError, ValueError, IndexError, AssertionError, struct.error, zlib.error)


def find_damaged_objects(store: Path) -> list[str]:
    """Describe each object that cannot be read, or whose content does not match its id."""
    # Imported here because the import takes 40 ms and only one command needs it.
    from gitdb.db.loose import LooseObjectDB  # type: ignore[import-untyped]  # noqa: PLC0415  as above
    from gitdb.db.pack import PackedDB  # type: ignore[import-untyped]  # noqa: PLC0415  as above

    databases: list[Database] = [LooseObjectDB(str(store))]
    if (store / "pack").is_dir():
        databases.append(PackedDB(str(store / "pack")))
    return [problem for database in databases for problem in check(database)]


class Database(Protocol):
    """The part of gitdb's databases that is used here."""

    def sha_iter(self) -> Iterable[bytes]: ...

    def stream(self, sha: bytes) -> Any: ...  # noqa: ANN401  gitdb has no types


def check(database: Database) -> Iterator[str]:
    from gitdb.exc import ODBError  # type: ignore[import-untyped]  # noqa: PLC0415  a slow import

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
            yield f"object {oid} does not match its id"
