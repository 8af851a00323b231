"""Split one change of a file among the actions that made it, by the client's reports."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum

from chorus.changes.client_text import decode_text, find_format, is_same_text, normalise_text, plain_lines
from chorus.changes.diff import Hunk, hunks
from chorus.changes.line_merge import merge_lines
from chorus.changes.reported_edits import ReportedEdit, text_after, text_before


@dataclass(frozen=True, slots=True)
class ChangePart:
    """One part of a change, with the content after it.

    `report`: the index of the part's report; None for an outside change. `also`: the indexes of other reports
    whose changes are in this part and cannot be separated.
    """

    report: int | None
    after: bytes | None
    also: tuple[int, ...] = ()


def split_change(
    before: bytes | None,
    after: bytes | None,
    reports: Sequence[ReportedEdit],
    *,
    is_open: bool = False,
    in_window: Collection[int] = (),
    ended_before: Collection[int] = (),
) -> tuple[ChangePart, ...] | None:
    """Return the parts of the change, in order; None if they cannot be separated.

    The `reports` are oldest first. `is_open`: an unfinished call may write this file too.

    `in_window`: the indexes of calls that ended while the window of another call was open. The other call may
    have changed the file before such a call did. If possible, the parts of such calls leave out these earlier
    changes, because the other call gets its part when it ends.

    `ended_before`: the indexes of calls that had ended before the file was last written. After the last edit,
    a change may be left. Of this change, such a call gets only what its report shows.
    """
    splitter = _Splitter(before, after, reports, is_open=is_open)
    named = [index for index, report in enumerate(reports) if not report.anywhere]
    for index, report in enumerate(reports):
        if report.anywhere:
            splitter.ended_windows.append(index)
            continue
        following = next((reports[later] for later in named if later > index), None)
        splitter.is_window_open = index in in_window
        if not splitter.place(index, report, following, first=index == named[0]):
            return None
    return splitter.parts(ended_before)


def split_present(now: bytes | None, reports: Sequence[ReportedEdit]) -> tuple[ChangePart, ...] | None:
    """Split the content `now`, which has all the reported changes.

    The first part, an outside change, is the content without the reported changes. Return None if a reported
    change cannot be removed.
    """
    splitter = _Splitter(now, now, reports, is_open=False)
    contents = [now]
    for report in reversed(reports):
        earlier = splitter.without(contents[-1], report)
        if earlier is _UNKNOWN:
            return None
        contents.append(earlier)
    contents.reverse()
    steps = [ChangePart(index, content) for index, content in enumerate(contents[1:])]
    return (ChangePart(None, contents[0]), *steps)


def count_present(before: bytes | None, reports: Sequence[ReportedEdit]) -> int:
    """Return how many reports, from the first on, are about changes that `before` already has.

    The number N is the largest one for which two things are true. `before` has the changes of the first N
    reports. `before` is also known to be the result of the last of them, or the start of the next report. But
    N is 0 if the first change may have been made to `before`, unless its call may write anywhere.
    """
    text = None if before is None else decode_text(before)
    if text is None or not reports or (not reports[0].anywhere and _starts_from(reports[0], text)):
        return 0
    for count in range(len(reports), 0, -1):
        is_next = count < len(reports) and _is_known_start(reports[count], text)
        if (is_next or _leaves(reports[count - 1], text)) and split_present(before, reports[:count]):
            return count
    return 0


def _is_known_start(report: ReportedEdit, text: str) -> bool:
    return report.before is not None and is_same_text(report.before, text)


def _leaves(report: ReportedEdit, text: str) -> bool:
    if report.anywhere or (report.before is None and not report.created):
        return False
    after = text_after(report, report.before)
    return after is not None and is_same_text(after, text)


def find_overwritten(
    before: bytes | None, after: bytes | None, reports: Sequence[ReportedEdit]
) -> frozenset[int]:
    """Return the indexes of the reported changes that another reported change has overwritten.

    An overwritten change is lost. The other change is not lost, and both started from the same text.
    """
    splitter = _Splitter(before, after, reports, is_open=False)
    lost = {index for index, report in enumerate(reports) if splitter.is_overwritten(report)}
    surviving = {
        normalise_text(report.before or "") for index, report in enumerate(reports) if index not in lost
    }
    return frozenset(index for index in lost if normalise_text(reports[index].before or "") in surviving)


def writing_order(
    before: bytes | None, after: bytes | None, reports: Sequence[ReportedEdit]
) -> tuple[int, ...]:
    """Return the indexes of the reports in the order in which their changes were written.

    Of several changes that start from the same text, overwritten ones come first. If the texts do not decide,
    the order of arrival is kept.
    """
    lost = find_overwritten(before, after, reports)
    text = None if before is None else decode_text(before)
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
    """Return whether the reported change may have been made to this text (None: no file)."""
    if report.created or text is None:
        return report.created and text is None
    return report.before is None or is_same_text(report.before, text)


def is_overwritten(now: bytes | None, report: ReportedEdit) -> bool:
    """Return whether the current content certainly lacks the reported change, or a part of it."""
    return _Splitter(now, now, (), is_open=False).is_overwritten(report)


def _are_separate(first: Sequence[Hunk], second: Sequence[Hunk]) -> bool:
    return all(
        one.after_end < other.before_start or other.before_end < one.after_start
        for one in first
        for other in second
    )


class _Unknown(Enum):
    """Marks unknown content; None means that there is no file."""

    UNKNOWN = 0


_UNKNOWN = _Unknown.UNKNOWN


class _Splitter:
    def __init__(
        self, before: bytes | None, after: bytes | None, reports: Sequence[ReportedEdit], *, is_open: bool
    ) -> None:
        self._after = after
        self._reports = reports
        self._is_open = is_open
        # Another call may have written this file too and gets the rest.
        self._is_shared = is_open or any(report.anywhere for report in reports)
        self._format = find_format(before, after)
        self._seen = {
            normalise_text(decode_text(content)): content
            for content in (before, after)
            if content is not None
        }
        self._now = before
        self._parts: list[ChangePart] = []
        # Calls that may write anywhere: the indexes of those that have ended and have no part yet, and
        # whether another one was still running.
        self.ended_windows: list[int] = []
        self.is_window_open = False

    def parts(self, ended_before: Collection[int]) -> tuple[ChangePart, ...]:
        for index in [index for index in self.ended_windows if index in ended_before]:
            self.ended_windows.remove(index)
            content = self._after_window(index)
            if content is not _UNKNOWN:
                self._add(index, content)
        if self.ended_windows:
            self._give_to_windows(self._after, exactly=self._is_open)
        rest = [] if self._now == self._after else [ChangePart(None, self._after)]
        return tuple(self._parts + rest)

    def place(self, index: int, report: ReportedEdit, following: ReportedEdit | None, *, first: bool) -> bool:
        """Add the part of this action. Return False if it cannot be found.

        If the file changed before the action, first add parts for that change. Exception: a call that still
        runs may have made that change, and the action's change can be applied without it. Then add only the
        action's part.
        """
        start = self._start_of(report)
        if start is _UNKNOWN:
            # Assume that the first action started from the content last seen.
            return first and self._finish(index, report, following)
        if start != self._now:
            if self.ended_windows:
                self._give_to_windows(start, exactly=True)
            elif self.is_window_open and (moved := self._moved_before(start, report)) is not None:
                self._add(index, moved)
                return True
            else:
                self._add(None, start)
        return self._finish(index, report, following)

    def without(self, content: bytes | None, report: ReportedEdit) -> bytes | _Unknown | None:
        """Return `content` without the reported change; `_UNKNOWN` if the change cannot be removed."""
        if content is None:
            return _UNKNOWN
        now = decode_text(content)
        if report.created:
            whole = text_after(report, None)
            return None if whole is not None and is_same_text(whole, now) else _UNKNOWN
        text = text_before(report, now)
        later = None if text is None else text_after(report, text)
        if text is None or later is None:
            return _UNKNOWN
        start, end = self._bytes_of(text), self._bytes_of(later)
        if start is None or end is None:
            return _UNKNOWN
        earlier = merge_lines(end, content, start, order=start)
        return earlier if isinstance(earlier, bytes) and earlier != content else _UNKNOWN

    def _start_of(self, report: ReportedEdit) -> bytes | _Unknown | None:
        if report.created:
            return None
        if report.before is None or is_same_text(report.before, self._text()):
            return self._now
        content = self._bytes_of(report.before)
        return _UNKNOWN if content is None else content

    def _give_to_windows(self, target: bytes | None, *, exactly: bool) -> None:
        """Split the change that leads to `target` among the ended calls that may write anywhere.

        The last of these calls gets the rest. But with `exactly`, the rest is an outside change if the
        changes of all these calls are known.
        """
        *others, last = self.ended_windows
        unclear: list[int] = []
        for index in others:
            content = self._after_window(index)
            if content is _UNKNOWN:
                unclear.append(index)
            else:
                self._add(index, content)
        content = self._after_window(last)
        if content == target:
            unclear = []  # the last window's report explains everything
        end = content if exactly and content is not _UNKNOWN and not unclear else target
        if end != self._now:
            self._parts.append(ChangePart(last, end, tuple(unclear)))
            self._now = end
        if self._now != target:
            self._add(None, target)
        self.ended_windows = []

    def _after_window(self, index: int) -> bytes | _Unknown | None:
        report = self._reports[index]
        if report.deleted:
            return None
        start = "" if report.created else self._text()
        text = None if start is None or not report.hunks else text_after(report, start)
        content = None if text is None else self._bytes_of(text)
        return _UNKNOWN if content is None else content

    def _moved_before(self, start: bytes | None, report: ReportedEdit) -> bytes | None:
        """Apply the action's change to the current content, which has all parts so far.

        The action itself changed `start`. `start` may also have changes of a call that still runs; the result
        leaves them out. Return None if that is impossible.
        """
        if start is None or self._now is None:
            return None
        text = text_after(report, decode_text(start))
        content = None if text is None else self._bytes_of(text)
        moved = None if content is None else merge_lines(start, self._now, content, order=content)
        return moved if isinstance(moved, bytes) else None

    def _finish(self, index: int, report: ReportedEdit, following: ReportedEdit | None) -> bool:
        """If the report is certain, add this action's part as reported.

        If it is not, the last action gets the rest of the change. For any other action, return False.
        """
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
        return report.before is not None and is_same_text(text, report.before) and self.is_overwritten(report)

    def _is_confirmed(
        self, report: ReportedEdit, text: str, content: bytes, following: ReportedEdit | None
    ) -> bool:
        if content == self._after or report.after is not None:
            return True
        if self._is_shared and report.before is not None:
            return True
        if following is not None and following.before is not None:
            return is_same_text(following.before, text) or self._was_overwritten_from(
                report, following.before
            )
        if self._after is None or self._now is None:
            return False
        # Either the action's whole change is still there among later changes, or it was overwritten.
        return (
            isinstance(merge_lines(content, self._after, self._now), bytes)
            or _are_separate(hunks(self._now, content), hunks(content, self._after))
            or self._was_overwritten_from(report, decode_text(self._now))
        )

    def _bytes_of(self, text: str) -> bytes | None:
        seen = self._seen.get(normalise_text(text))
        if seen is not None:
            return seen
        return self._format.encode(plain_lines(text)) if self._format else None

    def _text(self) -> str | None:
        return None if self._now is None else decode_text(self._now)

    def _add(self, report: int | None, content: bytes | None) -> None:
        self._parts.append(ChangePart(report, content))
        self._now = content
