"""Read one loose ref: the file with an object id, or with the name of another ref.

This module imports nothing heavy, so that `chorus log` without a watcher starts fast.
"""

import os

from chorus.errors import ChorusError

# Refs with this prefix are in Chorus's own directory, not in `refs/`, so no git command lists them. Each has
# a reflog below `logs/refs/`, because `git gc` keeps what a reflog reaches, even without a ref of its name.
# The reflog's one entry is dated far in the future, because git expires old entries.
HIDDEN_PREFIX = "chorus/timeline/"

SYMBOLIC = "ref: "
OID_LENGTH = 40
MAX_REF_BYTES = 4096 + len(SYMBOLIC)  # the name in a symbolic ref is a path


class BrokenRef(ChorusError):
    """The file of a ref holds neither an object id nor the name of a ref."""

    hint = "Run `git fsck` to see what is broken."


def read_loose(path: str) -> str | None:
    """Return the content of a ref's file: an object id or `ref: NAME`. None if there is no such file."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        value = os.read(file, MAX_REF_BYTES).rstrip()
    except IsADirectoryError:
        return None
    finally:
        os.close(file)
    if len(value) != OID_LENGTH and not value.startswith(b"ref: "):
        raise BrokenRef(f"{path} does not contain an object id")
    return os.fsdecode(value)
