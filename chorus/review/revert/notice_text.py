"""Notices to a session whose actions the user reverted or restored, and their text."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chorus.history.recorder import Recorder
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.model.commits.commit_message import shorten
from chorus.model.ids import SessionId

# A turn may hold hundreds of actions; the model needs to know what to read again, not the whole list.
MAX_LISTED = 20

# A command may change very many files; this many are remembered by name until the notice is delivered.
MAX_PATHS = 1000


@dataclass(frozen=True, slots=True)
class Notice:
    """A finished text for a session, such as the user's notes."""

    session: SessionId
    text: str


@dataclass(frozen=True, slots=True)
class RevertNotice:
    """The revert of an action or of a part of it, or the redo that restored it.

    `change`: an id that a revert and its redo have in common. `restored` is True for a redo.
    """

    session: SessionId
    change: str
    restored: bool
    summary: str
    paths: tuple[str, ...]
    more_paths: int = 0


AnyNotice = Notice | RevertNotice


def find_notices(recorder: Recorder, made: Iterable[int]) -> list[RevertNotice]:
    """Make a notice for each revert or redo, unless its session is not known.

    `made`: the numbers of the reverts and redos.
    """
    found = [recorder.timeline.find_number(number) for number in made]
    return [
        _make_notice(recorder, recorded, recorded.record.session)
        for recorded in found
        if recorded is not None and recorded.record.session is not None
    ]


def drop_undone(notices: Iterable[AnyNotice]) -> list[AnyNotice]:
    """Leave out pairs that cancel each other: a revert and its redo, or a redo and the next revert."""
    left: dict[object, AnyNotice] = {}
    for place, notice in enumerate(notices):
        if isinstance(notice, Notice):
            left[place] = notice
        elif left.pop((notice.session, notice.change, not notice.restored), None) is None:
            left[notice.session, notice.change, notice.restored] = notice
    return [*left.values()]


def render_notices(notices: Sequence[AnyNotice]) -> str:
    """Render all notices of a session as one text: reverts, redos, then the others in order."""
    changes = [notice for notice in notices if isinstance(notice, RevertNotice)]
    parts = [[c for c in changes if not c.restored], [c for c in changes if c.restored]]
    texts = [_render(part) for part in parts if part]
    return "\n\n".join([*texts, *(notice.text for notice in notices if isinstance(notice, Notice))])


def _make_notice(recorder: Recorder, recorded: TimelineCommit, session: SessionId) -> RevertNotice:
    chain = _chain(recorder, recorded)
    first = chain[-1].record
    # If an action is reverted in parts, each part is a change of its own.
    change = first.reverts[0] if first.reverts else str(first.action)
    origin = recorder.timeline.find_action(change) if first.reverts else None
    # A name that is not UTF-8 is written with escapes, as no message can hold its bytes.
    paths = sorted(
        os.fsencode(edit.path).decode("utf-8", "backslashreplace")
        for edit in recorder.timeline.edits(recorded)
    )
    return RevertNotice(
        session,
        change,
        len(chain) % 2 == 0,
        shorten(recorder.log.summary_of(origin or chain[-1])),
        tuple(paths[:MAX_PATHS]),
        len(paths[MAX_PATHS:]),
    )


def _chain(recorder: Recorder, recorded: TimelineCommit) -> list[TimelineCommit]:
    """A revert, the revert that it undoes, and so on. A chain of even length restores the change."""
    chain = [recorded]
    while chain[-1].record.reverts:
        older = recorder.timeline.find_action(chain[-1].record.reverts[0])
        if older is None or older.record.tool != recorded.record.tool:
            break
        chain.append(older)
    return chain


def _render(changes: Sequence[RevertNotice]) -> str:
    restored = changes[0].restored
    paths = sorted({path for change in changes for path in change.paths})
    more = sum(change.more_paths for change in changes)
    lines = [f"The user {'restored' if restored else 'reverted'} changes of yours with Chorus:"]
    lines += [f"- {line}" for line in _shorten_list([change.summary for change in changes])]
    lines.append("These files have changed on disk since you last saw them:")
    lines += [f"- {path}" for path in _shorten_list(paths, more)]
    lines.append("Read a file again before you edit it.")
    if not restored:
        lines.append("Do not make the same change again unless the user asks for it.")
    return "\n".join(lines)


def _shorten_list(lines: Sequence[str], more: int = 0) -> list[str]:
    left = max(len(lines) - MAX_LISTED, 0) + more
    return [*lines[:MAX_LISTED], *([f"and {left} more"] if left > 0 else [])]
