"""Changes by path, brought into the shape of the directories they are in."""

import os
from collections.abc import Mapping
from typing import TypeAlias

from chorus.model.ids import RepoPath
from chorus.store.objects.directory import Entry

# What changes in one directory, by name: a file, no file, or what changes below that name.
# No name at all stands for the directory's own: if a file has it, that file goes.
ITSELF = b""
Nested: TypeAlias = dict[bytes, "Entry | Nested | None"]


def nest(changes: Mapping[RepoPath, Entry | None]) -> Nested:
    """A file and one below it cannot both be there; of no file, anything may be said."""
    nested: Nested = {}
    # In order of path, so that what is said of `a` comes before what is said of `a/b`.
    for path in sorted(changes):
        *parents, name = os.fsencode(path).split(b"/")
        place = nested
        for parent in parents:
            inner = place.get(parent)
            if isinstance(inner, Entry):
                if changes[path] is None:
                    break
                raise ValueError(f"{path!r} lies below a file")
            if inner is None:
                inner = place[parent] = {ITSELF: None} if parent in place else {}
            place = inner
        else:
            place[name] = changes[path]
    return nested
