"""Read one loose ref: the file with an object id, or with the name of another ref.

Imports nothing heavy: `chorus log` without a watcher reads the timeline's ref through it.
"""

import os

from chorus.errors import ChorusError

# Names outside `refs/`, below Chorus's own directory: no git command lists them. What they reach is kept by a
# reflog without a ref, which `git gc` honours like any other. Its one entry is dated far ahead, because git
# expires old ones.
HIDDEN_PREFIX = "chorus/timeline/"

SYMBOLIC = "ref: "
OID_LENGTH = 40
MAX_REF_BYTES = 4096 + len(SYMBOLIC)  # the name in a symbolic ref is a path


class BrokenRef(ChorusError):
    """The file of a ref holds neither an object id nor the name of a ref."""

    hint = "Run `git fsck` to see what is broken."


def read_loose(path: str) -> str | None:
    """An object id or `ref: NAME`; None if there is no such file."""
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
