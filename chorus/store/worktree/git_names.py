"""Names that git refuses in a tree, because some system takes them for `.git`.

A file may have such a name here and now. git will not add it, `git fsck` calls a tree that holds it
broken, and no checkout would write it, so it is not recorded.
"""

import re

# Windows drops blanks and dots at the end, ends a name at a colon, and knows `.git` by a short name too.
NTFS = re.compile(rb"(\.git|git~1)[. ]*($|[:\\])", re.IGNORECASE | re.DOTALL)
# What the file system of macOS overlooks in a name.
OVERLOOKED = dict.fromkeys([*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])


def is_git_dir(name: bytes) -> bool:
    return name.lower() == b".git"


def is_refused(name: bytes) -> bool:
    if NTFS.match(name):
        return True
    return not name.isascii() and name.decode(errors="replace").translate(OVERLOOKED).lower() == ".git"
