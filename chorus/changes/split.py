"""One change on disk, the actions that share it: which part is whose.

Receives the bytes before, the bytes after, and what the client claims of each action, oldest first.
Gives the pieces in order, each with the bytes it ends at and the action that made it, or nobody. The
pieces always lead from the one to the other. Never makes up bytes: a content that was not seen on disk
is taken only where the client's text determines every byte of it and something confirms that text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from chorus.changes.client_text import find_format, is_alike, loosely, plain_lines, read_text
from chorus.changes.diff import Hunk, hunks
from chorus.changes.merge import Merged, merge
from chorus.changes.reported_edits import ReportedEdit, text_after


@dataclass(frozen=True, slots=True)
class ChangePart:
    """The content after one part of the change. `claim` is the index of its action; None: outside."""

    claim: int | None
    after: bytes | None


def split(
    before: bytes | None, after: bytes | None, claims: Sequence[ReportedEdit], *, busy: bool = False
) -> tuple[ChangePart, ...] | None:
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


def find_overwritten(
    before: bytes | None, after: bytes | None, claims: Sequence[ReportedEdit]
) -> frozenset[int]:
    """The claims of which nothing is left: another that read the same text wrote over them."""
    splitter = _Splitter(before, after, busy=False)
    lost = {place for place, claim in enumerate(claims) if splitter.is_overwritten(claim)}
    standing = {loosely(claim.before or "") for place, claim in enumerate(claims) if place not in lost}
    return frozenset(place for place in lost if loosely(claims[place].before or "") in standing)


def writing_order(
    before: bytes | None, after: bytes | None, claims: Sequence[ReportedEdit]
) -> tuple[int, ...]:
    """The claims in the order in which they were written; they are told in the order their news came.

    Each starts from the text that was there. Of several that start from the same, those of which nothing
    is left came first. Where the texts do not tell, the order of telling stands.
    """
    lost = find_overwritten(before, after, claims)
    text = None if before is None else read_text(before)
    left = list(range(len(claims)))
    order: list[int] = []
    while left:
        fitting = [place for place in left if _starts_from(claims[place], text)]
        gone = [place for place in fitting if place in lost]
        if not fitting:
            break
        following = gone[0] if gone else fitting[0]
        order.append(following)
        left.remove(following)
        if not gone:
            text = text_after(claims[following], text)
            if text is None:
                break
    return (*order, *left)


def _starts_from(claim: ReportedEdit, text: str | None) -> bool:
    """Whether the claim may start from this text; one that tells of none may start from any."""
    if claim.created or text is None:
        return claim.created and text is None
    return claim.before is None or is_alike(claim.before, text)


def is_overwritten(now: bytes | None, claim: ReportedEdit) -> bool:
    """Whether what the claim made of the text it read stands nowhere in what is there now."""
    return _Splitter(now, now, busy=False).is_overwritten(claim)


def _stand_apart(first: Sequence[Hunk], second: Sequence[Hunk]) -> bool:
    """Whether a line that neither changes lies between any change of the one and any of the other."""
    return all(
        one.after_end < other.before_start or other.before_end < one.after_start
        for one in first
        for other in second
    )


class _Splitter:
    def __init__(self, before: bytes | None, after: bytes | None, *, busy: bool) -> None:
        self._after = after
        self._busy = busy
        self._form = find_format(before, after)
        self._seen = {
            loosely(read_text(content)): content for content in (before, after) if content is not None
        }
        self._now = before
        self._found: list[ChangePart] = []

    def pieces(self) -> tuple[ChangePart, ...]:
        rest = [] if self._now == self._after else [ChangePart(None, self._after)]
        return tuple(self._found + rest)

    def start(self, claim: ReportedEdit, *, first: bool) -> bool:
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

    def finish(self, place: int, claim: ReportedEdit, following: ReportedEdit | None) -> bool:
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

    def is_overwritten(self, claim: ReportedEdit) -> bool:
        text = None if claim.before is None else text_after(claim, claim.before)
        if self._after is None or claim.before is None or text is None:
            return False
        start, content = self._bytes_of(claim.before), self._bytes_of(text)
        if start is None or content is None:
            return False
        joined = merge(start, content, self._after)
        return isinstance(joined, Merged) and joined.data != self._after

    def _gives_way(self, claim: ReportedEdit, to: str) -> bool:
        """Whether somebody wrote over this action, starting from where it did."""
        return claim.before is not None and is_alike(to, claim.before) and self.is_overwritten(claim)

    def _confirmed(
        self, claim: ReportedEdit, text: str, content: bytes, following: ReportedEdit | None
    ) -> bool:
        if content == self._after or claim.after is not None:
            return True
        if following is not None and following.before is not None:
            return is_alike(following.before, text) or self._gives_way(claim, following.before)
        if self._busy and claim.before is not None:
            return True
        if self._after is None or self._now is None:
            return False
        # What the action did is still there, whole, under what came later; or it is wholly gone.
        return (
            isinstance(merge(content, self._after, self._now), Merged)
            or _stand_apart(hunks(self._now, content), hunks(content, self._after))
            or self._gives_way(claim, read_text(self._now))
        )

    def _bytes_of(self, text: str) -> bytes | None:
        seen = self._seen.get(loosely(text))
        if seen is not None:
            return seen
        return self._form.encode(plain_lines(text)) if self._form else None

    def _text(self) -> str | None:
        return None if self._now is None else read_text(self._now)

    def _step(self, claim: int | None, content: bytes | None) -> None:
        self._found.append(ChangePart(claim, content))
        self._now = content
