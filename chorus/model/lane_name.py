"""The name of a lane: the user's first words and a piece of the session's id.

Receives text, gives a branch name that is valid, readable and not taken. Never looks at refs itself.
"""

import re
from collections.abc import Container

from chorus.model.ids import LaneName, SessionId

PREFIX = "chorus/"
MAX_WORDS = 5
MAX_LENGTH = 40
# Of a UUID, enough to tell the sessions of one repository apart.
SESSION_CHARACTERS = 4

_WORD = re.compile(r"[a-z0-9]+")


def name_lane(
    session: SessionId | None, message: str | None, day: str, taken: Container[str], prefix: str = PREFIX
) -> LaneName:
    """`chorus/fix-the-parser-1a2b`; the day stands in for words where there are none."""
    words = _WORD.findall((message or "").lower())[:MAX_WORDS]
    head = "-".join(words)[:MAX_LENGTH].strip("-") or day
    tail = "".join(_WORD.findall((session or "").lower()))[:SESSION_CHARACTERS]
    name = f"{prefix}{head}-{tail}" if tail else f"{prefix}{head}"
    if name not in taken:
        return LaneName(name)
    count = 2
    while f"{name}-{count}" in taken:
        count += 1
    return LaneName(f"{name}-{count}")
