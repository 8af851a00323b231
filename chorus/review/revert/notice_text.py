"""The text of the notice to a session whose actions the user reverted or restored."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chorus.history.recorder import Recorder
from chorus.history.timeline.timeline_log import TimelineCommit
from chorus.model.commits.commit_message import shorten
from chorus.model.ids import SessionId

# A turn may hold hundreds of actions; the model needs to know what to read again, not the whole list.
MAX_LISTED = 20


@dataclass(frozen=True, slots=True)
class Notice:
    session: SessionId
    text: str


def render_notices(recorder: Recorder, made: Iterable[int]) -> list[Notice]:
    """Render one notice for each session concerned. `made`: the numbers of the recorded reverts or redos."""
    found: dict[tuple[SessionId, bool], list[TimelineCommit]] = {}
    for number in made:
        recorded = recorder.timeline.find_number(number)
        if recorded is not None and recorded.record.session is not None:
            key = (recorded.record.session, len(_chain(recorder, recorded)) % 2 == 0)
            found.setdefault(key, []).append(recorded)
    return [
        Notice(session, _render(recorder, records, restored=restored))
        for (session, restored), records in found.items()
    ]


def _chain(recorder: Recorder, recorded: TimelineCommit) -> list[TimelineCommit]:
    """A revert, the revert it undoes, and so on. If their number is even, the change is restored."""
    chain = [recorded]
    while chain[-1].record.reverts:
        older = recorder.timeline.find_action(chain[-1].record.reverts[0])
        if older is None or older.record.tool != recorded.record.tool:
            break
        chain.append(older)
    return chain


def _render(recorder: Recorder, records: Sequence[TimelineCommit], *, restored: bool) -> str:
    names = {edit.path for recorded in records for edit in recorder.timeline.edits(recorded)}
    # A name that is not UTF-8 is written with escapes, as no message can hold its bytes.
    paths = [os.fsencode(name).decode("utf-8", "backslashreplace") for name in sorted(names)]
    lines = [f"The user {'restored' if restored else 'reverted'} changes of yours with Chorus:"]
    lines += [f"- {line}" for line in _shorten_list([_describe(recorder, recorded) for recorded in records])]
    lines.append("These files are different on disk now than you last saw them:")
    lines += [f"- {path}" for path in _shorten_list(paths)]
    lines.append("Read a file again before you edit it.")
    if not restored:
        lines.append("Do not make the same change again unless the user asks for it.")
    return "\n".join(lines)


def _describe(recorder: Recorder, recorded: TimelineCommit) -> str:
    """The summary of the session's own action; for a revert of a part, the summary of the revert."""
    last = _chain(recorder, recorded)[-1]
    origin = recorder.timeline.find_action(last.record.reverts[0]) if last.record.reverts else None
    return shorten(recorder.log.summary_of(origin or last))


def _shorten_list(lines: Sequence[str]) -> list[str]:
    left = len(lines) - MAX_LISTED
    return [*lines[:MAX_LISTED], *([f"and {left} more"] if left > 0 else [])]
