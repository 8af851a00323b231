"""The files refs are kept in: one per ref, `packed-refs` for many, and a log per ref.

Receives paths, gives what they hold, and appends to logs. Knows nothing of names or of what may move.
"""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from chorus.errors import ChorusError
from chorus.model.ids import Oid

SYMBOLIC = "ref: "
OID_LENGTH = 40
LONGEST_REF = 4096 + len(SYMBOLIC)  # the name a symbolic ref holds is a path


class BrokenRef(ChorusError):
    """A ref's file holds something that is neither an object id nor the name of a ref."""

    hint = "Run `git fsck` to see what is broken."


def read_loose(place: str) -> str | None:
    """An object id, or `ref: NAME`; None if there is no such file."""
    try:
        file = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        value = os.read(file, LONGEST_REF).rstrip()
    except IsADirectoryError:
        return None
    finally:
        os.close(file)
    if len(value) != OID_LENGTH and not value.startswith(b"ref: "):
        raise BrokenRef(f"{place} does not hold an object id")
    return os.fsdecode(value)


def parse_packed_refs(data: bytes) -> dict[str, Oid]:
    """Lines `OID NAME`; `#` starts the header and `^` the object a tag stands for."""
    lines = (line for line in os.fsdecode(data).split("\n") if line and line[0] not in "#^")
    return {name: Oid(oid) for oid, name in (line.split(" ", 1) for line in lines)}


def append_line(place: str, line: bytes) -> None:
    """All of the line or none of it. Only the holder of the ref's lock writes to its log."""
    log = open_log(place)
    try:
        written = os.write(log, line)
        if written < len(line):
            os.ftruncate(log, os.fstat(log).st_size - written)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(log)


def open_log(place: str) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    try:
        return os.open(place, flags, 0o666)
    except FileNotFoundError:
        Path(place).parent.mkdir(parents=True, exist_ok=True)
    except IsADirectoryError:
        remove_empty(place)
    return os.open(place, flags, 0o666)


def remove_empty(place: str) -> None:
    """Deleted refs leave empty directories behind, and one may stand where a new ref goes."""
    for directory, _, _ in os.walk(place, topdown=False):
        Path(directory).rmdir()


def files_below(root: Path) -> Iterator[Path]:
    for directory, _, names in os.walk(root):
        yield from (Path(directory, name) for name in names)
