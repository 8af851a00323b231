"""`Pairing` turns the events of all sources into outcomes."""

from collections.abc import Set
from dataclasses import replace
from typing import Any

from chorus.agents.claude_code.events import control, messages, system
from chorus.agents.claude_code.events.base import Known, Malformed, Unknown
from chorus.agents.claude_code.events.parser import Event, parse_event
from chorus.agents.claude_code.pairing import (
    control_handlers,
    hook_handlers,
    message_handlers,
    usage_handlers,
)
from chorus.agents.claude_code.pairing.evidence import Evidence
from chorus.agents.claude_code.pairing.sessions import EventContext
from chorus.agents.claude_code.pairing.state import Handlers, PairingState
from chorus.agents.interface import Source
from chorus.model.ids import SessionId
from chorus.model.outcomes import Outcome

# Handlers are found by the exact type: `isinstance` on a pydantic model is slow if the answer is False.


class Pairing:
    """Turns the events of all sources into outcomes."""

    def __init__(self) -> None:
        self._state = PairingState()
        self.unknown = self._state.unknown  # type -> how many
        self.problems = self._state.problems  # kind -> how many

    def set_shared_sessions(self, shared: Set[SessionId]) -> None:
        self._state.shared_sessions = shared

    def feed(self, event: Event, *, channel: str = "", client: str = "") -> list[Outcome]:
        """Take the next event, and return its outcomes.

        `channel` is the pane or pipe that the event came through, `client` the client that ran the hook.
        """
        known: Known = event  # type: ignore[assignment]  # no other event has a handler
        handle = _HANDLERS.get(type(known))
        if handle is None:
            self._count(event)
            return []
        state = self._state
        sessions = state.sessions
        context = sessions.context_of(known, channel, client)
        outcomes = handle(state, event, context)
        if sessions.named is not None or sessions.replaced is not None:
            outcomes = self._change_session(known, context) + outcomes
        if context.session.turns.renamed:
            outcomes = [*context.session.take_renamed(), *outcomes]
        if type(event) is control.HookCallback:
            outcomes = outcomes + self._handle_callback_input(event, channel)
        return [*sessions.take_news(), *outcomes] if sessions.news else outcomes

    def feed_value(
        self, value: dict[str, Any], *, source: Source, channel: str = "", client: str = ""
    ) -> list[Outcome]:
        return self.feed(parse_event(value, source=source), channel=channel, client=client)

    def close(self, session: SessionId | None = None) -> list[Outcome]:
        outcomes = self._state.calls.close_if(
            lambda entry: session is None or entry.session.id == session, Evidence.NONE
        )
        if session is None:
            self._state.calls.drop_orphans()
        return outcomes

    def close_client(self, session: SessionId, client: str) -> list[Outcome]:
        return self._state.calls.close_if(
            lambda entry: entry.session.id == session and entry.client == client, Evidence.NONE
        )

    def _count(self, event: Event) -> None:
        if type(event) is Unknown:
            self._state.count(self.unknown, event.type)
        elif type(event) is Malformed:
            self._state.count(self.problems, f"malformed:{event.kind}")

    def _change_session(self, event: Known, context: EventContext) -> list[Outcome]:
        """Handle a change of a channel's session.

        If the session's id became known, correct the session's calls. If another client started in the
        channel, close the calls of the session that ran there before.
        """
        named, replaced = self._state.sessions.take_change()
        outcomes = self._state.calls.correct_session(named) if named else []
        if replaced is not None and self._state.calls.any_open and type(event) in _CLIENT_STARTS:
            # Another client runs in the pane now: the first client will never finish its calls.
            gone = replace(context, session=replaced)
            outcomes = outcomes + self._state.end_calls(gone, Evidence.NONE, all_agents=True)
        return outcomes

    def _handle_callback_input(self, event: control.HookCallback, channel: str) -> list[Outcome]:
        inner = parse_event(event.input, source=Source.HOOK)
        control_handlers.remember_callback(self._state, event, inner)
        self._state.in_callback = True
        outcomes = self.feed(inner, channel=channel)
        self._state.in_callback = False
        return outcomes


# Events with which a client starts: an earlier one on the same channel is gone.
_CLIENT_STARTS = frozenset({system.Init, messages.SessionStartLine})
# Events of other types are known, but irrelevant to calls.
_HANDLERS: Handlers = {
    **message_handlers.HANDLERS,
    **hook_handlers.HANDLERS,
    **control_handlers.HANDLERS,
    **usage_handlers.HANDLERS,
}
