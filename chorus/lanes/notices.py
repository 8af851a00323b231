"""What a session hears of its own actions that somebody took back or brought back.

Receives the records of a revert or redo. Gives one text for each session concerned. Never sends anything.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chorus.core.ids import SessionId
from chorus.core.message import shorten
from chorus.lanes.recorder import Recorder
from chorus.lanes.timeline import Recorded

# A turn may hold hundreds of actions; the model needs to know what to read again, not a history.
MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Notice:
    session: SessionId
    text: str


def render_notices(recorder: Recorder, made: Iterable[int], *, redo: bool = False) -> list[Notice]:
    """For the actions that record a revert or redo, by number: what each session is to hear."""
    by_session: dict[SessionId, list[Recorded]] = {}
    for number in made:
        recorded = recorder.timeline.find_number(number)
        if recorded is not None and recorded.record.session is not None:
            by_session.setdefault(recorded.record.session, []).append(recorded)
    verb = "brought back" if redo else "took back"
    return [Notice(session, _render(records, verb)) for session, records in by_session.items()]


def _render(records: Sequence[Recorded], verb: str) -> str:
    done = [shorten(recorded.record.summary) for recorded in records]
    paths = sorted({str(path) for recorded in records for path in recorded.record.paths})
    lines = [f"The user {verb} changes of yours with Chorus:"]
    lines += [f"- {line}" for line in _cut(done)]
    lines.append("These files are different on disk now than you last saw them:")
    lines += [f"- {path}" for path in _cut(paths)]
    lines.append("Read a file again before you edit it.")
    if verb == "took back":
        lines.append("Do not make the same change again unless the user asks for it.")
    return "\n".join(lines)


def _cut(lines: Sequence[str]) -> list[str]:
    left = len(lines) - MOST_NAMED
    return [*lines[:MOST_NAMED], *([f"and {left} more"] if left > 0 else [])]
