"""One change on disk, the actions that share it: which part is whose.

Receives the bytes before, the bytes after, and what the client claims of each action, oldest first.
Gives the pieces in order, each with the bytes it ends at and the action that made it, or nobody. The
pieces always lead from the one to the other. Never makes up bytes: a content that was not seen on disk
is taken only where the client's text determines every byte of it and something confirms that text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from chorus.core.claims import Claim, text_after
from chorus.core.clienttext import find_form, is_alike, loosely, plain_lines, read_text
from chorus.core.merge import Merged, merge


@dataclass(frozen=True, slots=True)
class Piece:
    """The content after one part of the change. `claim` is the index of its action; None: outside."""

    claim: int | None
    after: bytes | None


def split(
    before: bytes | None, after: bytes | None, claims: Sequence[Claim], *, busy: bool = False
) -> tuple[Piece, ...] | None:
    """The pieces, one for each claim and for what lies between; None where they cannot be told apart.

    A single claim always gets a piece: what cannot be told apart from it is counted as its own.
    `busy`: a call that is not over writes this file too, so what the last claim leaves is that call's.
    """
    splitter = _Splitter(before, after, busy=busy)
    for place, claim in enumerate(claims):
        following = claims[place + 1] if place + 1 < len(claims) else None
        if not (splitter.start(claim, first=place == 0) and splitter.finish(place, claim, following)):
            return None
    return splitter.pieces()


class _Splitter:
    def __init__(self, before: bytes | None, after: bytes | None, *, busy: bool) -> None:
        self._after = after
        self._busy = busy
        self._form = find_form(before, after)
        self._seen = {
            loosely(read_text(content)): content for content in (before, after) if content is not None
        }
        self._now = before
        self._found: list[Piece] = []

    def pieces(self) -> tuple[Piece, ...]:
        rest = [] if self._now == self._after else [Piece(None, self._after)]
        return tuple(self._found + rest)

    def start(self, claim: Claim, *, first: bool) -> bool:
        """Give to nobody what changed since the last state and before this action."""
        if claim.created:
            content = None
        elif claim.before is None or is_alike(claim.before, self._text()):
            return True
        else:
            content = self._bytes_of(claim.before)
            if content is None:
                # The first action starts from what was last seen, for want of anything better.
                return first
        if content != self._now:
            self._step(None, content)
        return True

    def finish(self, place: int, claim: Claim, following: Claim | None) -> bool:
        """Give to this action what it claims; to the last one all that is left, if that is not sure."""
        text = text_after(claim, self._text())
        if text is None and following is not None:
            text = following.before
        content = None if text is None else self._bytes_of(text)
        if content is not None and self._confirmed(claim, plain_lines(text or ""), content, following):
            self._step(place, content)
            return True
        if following is None:
            self._step(place, self._after)
        return following is None

    def _confirmed(self, claim: Claim, text: str, content: bytes, following: Claim | None) -> bool:
        if content == self._after or claim.after is not None:
            return True
        if following is not None and following.before is not None:
            return is_alike(following.before, text)
        if self._busy and claim.before is not None:
            return True
        if self._after is None or self._now is None:
            return False
        # What the action did is still there, whole, under what came later.
        return isinstance(merge(content, self._after, self._now), Merged)

    def _bytes_of(self, text: str) -> bytes | None:
        seen = self._seen.get(loosely(text))
        if seen is not None:
            return seen
        return self._form.encode(plain_lines(text)) if self._form else None

    def _text(self) -> str | None:
        return None if self._now is None else read_text(self._now)

    def _step(self, claim: int | None, content: bytes | None) -> None:
        self._found.append(Piece(claim, content))
        self._now = content
