"""The unfinished calls of each session.

A prompt on a screen shows one question at a time, and does not name its call. The open calls supply the
call and its other questions.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from chorus.agents.interface import Prompts
from chorus.model.action import Call
from chorus.model.ids import SessionId, ToolUseId
from chorus.model.outcomes import ActionClosed, CallOpened, Outcome, SessionEnded
from chorus.model.prompt import Prompt


class OpenCalls:
    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts
        self._all: dict[ToolUseId, Call] = {}

    def feed(self, outcome: Outcome) -> None:
        match outcome:
            case CallOpened(call):
                self._all[call.id] = call
            case ActionClosed(action):
                self._all.pop(action.id, None)
            case SessionEnded(session):
                self._all = {id_: call for id_, call in self._all.items() if call.session != session}
            case _:
                pass

    def is_asked_again(self, outcome: Outcome, prompt: Prompt, session: SessionId | None, since: str) -> bool:
        """True if the outcome shows that the prompt on the screen is now about another call.

        That is so if a call that the prompt may be about was opened after `since`, when the prompt appeared.
        It is also so if such a call was closed while another such call is open.
        """
        may_be_about = self._prompts.may_be_about
        match outcome:
            case CallOpened(call) if call.session == session and may_be_about(prompt, call.tool, call.input):
                return call.time is not None and _is_later(call.time, since)
            case ActionClosed(action) if action.session == session:
                others = [c for c in self._all.values() if c.session == session and c.id != action.id]
                return may_be_about(prompt, action.tool, action.input) and any(
                    may_be_about(prompt, other.tool, other.input) for other in others
                )
            case _:
                return False

    def questions_of(self, prompt: Prompt, session: SessionId | None) -> Mapping[str, Any] | None:
        """Return the input of the newest question call that this prompt can be about, or None."""
        for call in reversed(self._all.values()):
            if call.session == session and self._prompts.shows_question_of(prompt, call.tool, call.input):
                return call.input
        return None


def _is_later(time: str, since: str) -> bool:
    """True if `time` is after `since`. False if either is invalid."""
    try:
        return datetime.fromisoformat(time) > datetime.fromisoformat(since)
    except (ValueError, TypeError):
        return False
