"""What a session hears of its own actions that somebody took back or brought back.

Receives the records of a revert or redo. Gives one text for each session concerned. Never sends anything.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chorus.history.recorder import Recorder
from chorus.history.timeline_log import TimelineCommit
from chorus.model.commit_message import shorten
from chorus.model.ids import SessionId

# A turn may hold hundreds of actions; the model needs to know what to read again, not a history.
MAX_LISTED = 20


@dataclass(frozen=True, slots=True)
class Notice:
    session: SessionId
    text: str


def render_notices(recorder: Recorder, made: Iterable[int]) -> list[Notice]:
    """For the actions that record a revert or redo, by number: what each session is to hear."""
    found: dict[tuple[SessionId, bool], list[TimelineCommit]] = {}
    for number in made:
        recorded = recorder.timeline.find_number(number)
        if recorded is not None and recorded.record.session is not None:
            key = (recorded.record.session, len(_chain(recorder, recorded)) % 2 == 0)
            found.setdefault(key, []).append(recorded)
    return [
        Notice(session, _render(recorder, records, back=back)) for (session, back), records in found.items()
    ]


def _chain(recorder: Recorder, recorded: TimelineCommit) -> list[TimelineCommit]:
    """A revert, what it took back if that was a revert too, and so on: with two, a change is back again."""
    chain = [recorded]
    while chain[-1].record.reverts:
        older = recorder.timeline.find_action(chain[-1].record.reverts[0])
        if older is None or older.record.tool != recorded.record.tool:
            break
        chain.append(older)
    return chain


def _render(recorder: Recorder, records: Sequence[TimelineCommit], *, back: bool) -> str:
    paths = sorted({str(edit.path) for recorded in records for edit in recorder.timeline.edits(recorded)})
    lines = [f"The user {'brought' if back else 'took'} back changes of yours with Chorus:"]
    lines += [f"- {line}" for line in _cut([_words(recorder, recorded) for recorded in records])]
    lines.append("These files are different on disk now than you last saw them:")
    lines += [f"- {path}" for path in _cut(paths)]
    lines.append("Read a file again before you edit it.")
    if not back:
        lines.append("Do not make the same change again unless the user asks for it.")
    return "\n".join(lines)


def _words(recorder: Recorder, recorded: TimelineCommit) -> str:
    """What the session itself said of its change; of a part of one, what the revert says."""
    last = _chain(recorder, recorded)[-1].record
    origin = recorder.timeline.find_action(last.reverts[0]) if last.reverts else None
    return shorten((origin.record if origin is not None else last).summary)


def _cut(lines: Sequence[str]) -> list[str]:
    left = len(lines) - MAX_LISTED
    return [*lines[:MAX_LISTED], *([f"and {left} more"] if left > 0 else [])]
