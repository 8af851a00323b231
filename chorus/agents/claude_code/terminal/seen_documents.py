"""Which documents were already given, when the same output is read more than once.

Receives documents from captures that overlap and from the pipe that goes on after them. Tells whether each
is new. An event is known by its uuid; what has none (control messages, the older formats) by its exact
text, so two equal ones count as one. Every source needs a `Reassembler` of its own, all share one `Seen`.
"""

from hashlib import blake2b

from chorus.agents.interface import Document
from chorus.model.lru import LruDict

# More than the longest scrollback in use has rows, and an event takes at least one.
DEFAULT_LIMIT = 100_000


class Seen:
    """Remembers the last `limit` documents; what is older has scrolled out of every capture."""

    def __init__(self, *, limit: int = DEFAULT_LIMIT) -> None:
        self._known: LruDict[str | bytes, bool] = LruDict(limit)

    def is_new(self, document: Document) -> bool:
        """Whether the document was not given before; from now on it was."""
        key = _key(document)
        if self._known.touch(key):
            return False
        self._known[key] = True
        return True


def _key(document: Document) -> str | bytes:
    uuid = document.value.get("uuid")
    if isinstance(uuid, str) and uuid:
        return uuid
    return blake2b(document.text, digest_size=16).digest()
