"""Names of scratch files, which the client and Chorus write and then rename. They are not recorded."""

import itertools
import os
import re

from chorus.model.ids import RepoPath

# The client writes `NAME.tmp.<process id>.<12 hex digits>` and renames it to NAME.
_CLIENTS = rb"[^/]*\.tmp\.\d+\.[0-9a-f]{12}"
_OWN = re.compile(rb"\.chorus-\d+-\d+\.tmp")
_ANY = re.compile(rb"(?:.*/)?(?:" + _CLIENTS + rb"|" + _OWN.pattern + rb")", re.DOTALL)

_serial = itertools.count()


def new_scratch_name() -> bytes:
    return b".chorus-%d-%d.tmp" % (os.getpid(), next(_serial))


def is_own_scratch(name: bytes) -> bool:
    return _OWN.fullmatch(name) is not None


def is_scratch(path: RepoPath) -> bool:
    return ".tmp" in path and _ANY.fullmatch(os.fsencode(path)) is not None
