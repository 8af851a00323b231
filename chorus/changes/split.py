"""Split one change of a file among the actions that made it.

Receives the bytes before and after, and what the client reports of each action, oldest first. Gives the
parts in order, each with the content after it and its action, or none for an outside change. Together they
lead from the bytes before to the bytes after. Never invents bytes: a content that was not seen on disk is
used only where the client's text determines every byte of it and something confirms that text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from chorus.changes.client_text import find_format, is_same_text, normalise_text, plain_lines, read_text
from chorus.changes.diff import Hunk, hunks
from chorus.changes.line_merge import merge_lines
from chorus.changes.reported_edits import ReportedEdit, text_after


@dataclass(frozen=True, slots=True)
class ChangePart:
    """The content after one part of the change. `report` is the index of its action; None: outside."""

    report: int | None
    after: bytes | None


def split_change(
    before: bytes | None, after: bytes | None, reports: Sequence[ReportedEdit], *, is_open: bool = False
) -> tuple[ChangePart, ...] | None:
    """The parts, one for each report and for what lies between; None if they cannot be separated.

    A single report always gets a part: what cannot be separated from it counts as its own.
    `is_open`: a call that has not ended writes this file too and gets what the last report leaves.
    """
    splitter = _Splitter(before, after, is_open=is_open)
    for index, report in enumerate(reports):
        following = reports[index + 1] if index + 1 < len(reports) else None
        if not (splitter.start(report, first=index == 0) and splitter.finish(index, report, following)):
            return None
    return splitter.parts()


def find_overwritten(
    before: bytes | None, after: bytes | None, reports: Sequence[ReportedEdit]
) -> frozenset[int]:
    """The reports of which nothing is left: an action that read the same text wrote over them."""
    splitter = _Splitter(before, after, is_open=False)
    lost = {index for index, report in enumerate(reports) if splitter.is_overwritten(report)}
    surviving = {
        normalise_text(report.before or "") for index, report in enumerate(reports) if index not in lost
    }
    return frozenset(index for index in lost if normalise_text(reports[index].before or "") in surviving)


def writing_order(
    before: bytes | None, after: bytes | None, reports: Sequence[ReportedEdit]
) -> tuple[int, ...]:
    """The reports, which come in the order they arrived, in the order in which they were written.

    Each starts from the text that was there. Of several that start from the same text, those of which
    nothing is left came first. Where the texts do not decide, the order of arrival is kept.
    """
    lost = find_overwritten(before, after, reports)
    text = None if before is None else read_text(before)
    left = list(range(len(reports)))
    order: list[int] = []
    while left:
        fitting = [index for index in left if _starts_from(reports[index], text)]
        gone = [index for index in fitting if index in lost]
        if not fitting:
            break
        following = gone[0] if gone else fitting[0]
        order.append(following)
        left.remove(following)
        if not gone:
            text = text_after(reports[following], text)
            if text is None:
                break
    return (*order, *left)


def _starts_from(report: ReportedEdit, text: str | None) -> bool:
    """Whether the report may start from this text; a report without `before` may start from any."""
    if report.created or text is None:
        return report.created and text is None
    return report.before is None or is_same_text(report.before, text)


def is_overwritten(now: bytes | None, report: ReportedEdit) -> bool:
    """Whether nothing of the reported change is in the present content."""
    return _Splitter(now, now, is_open=False).is_overwritten(report)


def _are_separate(first: Sequence[Hunk], second: Sequence[Hunk]) -> bool:
    """Whether at least one unchanged line separates each change in `first` from each in `second`."""
    return all(
        one.after_end < other.before_start or other.before_end < one.after_start
        for one in first
        for other in second
    )


class _Splitter:
    def __init__(self, before: bytes | None, after: bytes | None, *, is_open: bool) -> None:
        self._after = after
        self._is_open = is_open
        self._format = find_format(before, after)
        self._seen = {
            normalise_text(read_text(content)): content for content in (before, after) if content is not None
        }
        self._now = before
        self._parts: list[ChangePart] = []

    def parts(self) -> tuple[ChangePart, ...]:
        rest = [] if self._now == self._after else [ChangePart(None, self._after)]
        return tuple(self._parts + rest)

    def start(self, report: ReportedEdit, *, first: bool) -> bool:
        """Add what changed before this action as an outside part; False if that is unknown."""
        if report.created:
            content = None
        elif report.before is None or is_same_text(report.before, self._text()):
            return True
        else:
            content = self._bytes_of(report.before)
            if content is None:
                # The first action is taken to start from what was last seen.
                return first
        if content != self._now:
            self._add(None, content)
        return True

    def finish(self, index: int, report: ReportedEdit, following: ReportedEdit | None) -> bool:
        """Add this action's part as reported; all that is left for the last one, if that is not certain."""
        text = text_after(report, self._text())
        if text is None and following is not None:
            text = following.before
        content = None if text is None else self._bytes_of(text)
        if content is not None and self._is_confirmed(report, plain_lines(text or ""), content, following):
            self._add(index, content)
            return True
        if following is None:
            self._add(index, self._after)
        return following is None

    def is_overwritten(self, report: ReportedEdit) -> bool:
        text = None if report.before is None else text_after(report, report.before)
        if self._after is None or report.before is None or text is None:
            return False
        start, content = self._bytes_of(report.before), self._bytes_of(text)
        if start is None or content is None:
            return False
        joined = merge_lines(start, content, self._after)
        return isinstance(joined, bytes) and joined != self._after

    def _was_overwritten_from(self, report: ReportedEdit, text: str) -> bool:
        """Whether another change, starting from the same text, overwrote this action."""
        return report.before is not None and is_same_text(text, report.before) and self.is_overwritten(report)

    def _is_confirmed(
        self, report: ReportedEdit, text: str, content: bytes, following: ReportedEdit | None
    ) -> bool:
        if content == self._after or report.after is not None:
            return True
        if following is not None and following.before is not None:
            return is_same_text(following.before, text) or self._was_overwritten_from(
                report, following.before
            )
        if self._is_open and report.before is not None:
            return True
        if self._after is None or self._now is None:
            return False
        # The action's change is still there, whole, under what came later; or it is gone entirely.
        return (
            isinstance(merge_lines(content, self._after, self._now), bytes)
            or _are_separate(hunks(self._now, content), hunks(content, self._after))
            or self._was_overwritten_from(report, read_text(self._now))
        )

    def _bytes_of(self, text: str) -> bytes | None:
        seen = self._seen.get(normalise_text(text))
        if seen is not None:
            return seen
        return self._format.encode(plain_lines(text)) if self._format else None

    def _text(self) -> str | None:
        return None if self._now is None else read_text(self._now)

    def _add(self, report: int | None, content: bytes | None) -> None:
        self._parts.append(ChangePart(report, content))
        self._now = content
