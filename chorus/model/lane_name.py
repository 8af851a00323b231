"""Name, match and recognise lanes.

A lane is a branch in a namespace of its own: `chorus/fix-the-parser-1a2b`. If the user has a branch named
`chorus`, git cannot create a branch below it, and lanes are in `chorus-lanes/` instead.
"""

import re
from collections.abc import Container

from chorus.model.ids import LaneName, SessionId

BRANCHES = "refs/heads/"
# Namespaces for lanes, in order of preference. The first that no branch of the user blocks is used.
NAMESPACES = ("chorus/", "chorus-lanes/", "chorus-lanes-2/")
LANE_REFS = tuple(BRANCHES + namespace for namespace in NAMESPACES)

MAX_WORDS = 5
MAX_LENGTH = 40
# How much of a UUID is needed to distinguish the sessions of one repository.
SESSION_CHARACTERS = 4

_WORD = re.compile(r"[a-z0-9]+")


def lane_ref(name: str) -> str:
    return BRANCHES + name


def is_lane_ref(ref: str) -> bool:
    return ref.startswith(LANE_REFS)


def branch_name(ref: str) -> str:
    return ref.removeprefix(BRANCHES)


def short_lane_name(name: str) -> str:
    for namespace in NAMESPACES:
        if name.startswith(namespace):
            return name[len(namespace) :]
    return name


def lane_spellings(wanted: str) -> tuple[str, ...]:
    """Return the full names that a lane may have. `wanted`: its full name, its short name or its ref."""
    name = branch_name(wanted)
    return (name, *(namespace + name for namespace in NAMESPACES))


def choose_lane_name(
    session: SessionId | None, message: str | None, day: str, taken: Container[str]
) -> LaneName:
    """Name a new lane by the first words of the message and a piece of the session's id.

    `day` replaces a message without words. `taken`: the existing branches and the former lanes.
    """
    namespace = next((each for each in NAMESPACES if each.rstrip("/") not in taken), NAMESPACES[-1])
    words = _WORD.findall((message or "").lower())[:MAX_WORDS]
    head = "-".join(words)[:MAX_LENGTH].strip("-") or day
    tail = "".join(_WORD.findall((session or "").lower()))[:SESSION_CHARACTERS]
    name = f"{namespace}{head}-{tail}" if tail else f"{namespace}{head}"
    if name not in taken:
        return LaneName(name)
    count = 2
    while f"{name}-{count}" in taken:
        count += 1
    return LaneName(f"{name}-{count}")
