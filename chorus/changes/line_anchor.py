"""Find where lines of a file are after a later change."""

from chorus.changes.diff import hunks


def follow_lines(before: bytes, after: bytes, lines: range) -> tuple[range, bool]:
    """Return where these lines (from 0) of `before` are in `after`, and whether something in them changed.

    Lines inserted right before or after them do not count as a change.
    """
    found = hunks(before, after)
    shift = sum(hunk.added - hunk.removed for hunk in found if hunk.before_end <= lines.start)
    inside = [hunk for hunk in found if hunk.before_start < lines.stop and hunk.before_end > lines.start]
    if not inside:
        return range(lines.start + shift, lines.stop + shift), False
    first, last = inside[0], inside[-1]
    start, stop = first.after_start, last.after_end
    if first.before_start >= lines.start or first.added == first.removed:
        start = lines.start + shift
    shift += sum(hunk.added - hunk.removed for hunk in inside)
    if last.before_end <= lines.stop or last.added == last.removed:
        stop = lines.stop + shift
    return range(start, stop), True
