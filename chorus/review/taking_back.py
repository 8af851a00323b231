"""Taking a change of one file back, out of whatever the file holds now.

Receives the file before the change, after it, and now; gives what it is to be. Everything that came
later and touches other lines stays. Where the change cannot be told apart from what came later, it
says so and gives nothing. Never touches a disk.
"""

from dataclasses import dataclass

from chorus.history.threeway import merge_contents, merge_with_markers
from chorus.store.objects.directory import SYMLINK_MODE


@dataclass(frozen=True, slots=True)
class Content:
    """A file or link: mode as git writes it, raw bytes. No file at all is None."""

    mode: int
    data: bytes


Side = Content | None


@dataclass(frozen=True, slots=True)
class Clash:
    """Why the change cannot be taken out, for a person."""

    why: str


def take_back(before: Side, after: Side, now: Side) -> Side | Clash:
    """`now` without the change from `before` to `after`."""
    if now == after:
        return before
    if now == before:
        return now  # somebody took it back already
    if before is None:
        return Clash("was changed after it was created" if now else "is gone")
    if after is None:
        return Clash("was written again after it was deleted")
    if now is None:
        return Clash("was deleted later")
    return _merge(before, after, now)


def take_back_with_markers(before: Side, after: Side, now: Side) -> Side | Clash:
    """The same, with conflict markers around what cannot be told apart."""
    clean = take_back(before, after, now)
    if not isinstance(clean, Clash) or not _all_text(before, after, now):
        return clean
    assert before
    assert after
    assert now
    labels = ("now", "after the action", "before the action")
    return Content(now.mode, merge_with_markers(after.data, now.data, before.data, labels))


def _merge(before: Content, after: Content, now: Content) -> Content | Clash:
    if SYMLINK_MODE in (before.mode, after.mode, now.mode):
        return Clash("is a link, or was one, and was changed later")
    if now.mode not in (after.mode, before.mode) and before.mode != after.mode:
        return Clash("was given another mode later")
    mode = before.mode if now.mode == after.mode else now.mode
    data = merge_contents(after.data, now.data, before.data)
    if data is None:
        binary = any(b"\0" in side.data for side in (before, after, now))
        return Clash("is binary and was changed later" if binary else "was changed later in the same lines")
    return Content(mode, data)


def _all_text(*sides: Side) -> bool:
    return all(side and side.mode != SYMLINK_MODE and b"\0" not in side.data for side in sides)
