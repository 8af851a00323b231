"""The one machine all sources feed."""

from typing import Any

from chorus.agents.claude_code.events import control, messages, system
from chorus.agents.claude_code.events.base import Known, Malformed, Unknown
from chorus.agents.claude_code.events.parser import Event, parse_event
from chorus.agents.claude_code.pairing import control_rules as from_control
from chorus.agents.claude_code.pairing import hook_rules as from_hooks
from chorus.agents.claude_code.pairing import message_rules as from_messages
from chorus.agents.claude_code.pairing import system_rules as from_system
from chorus.agents.claude_code.pairing.evidence import Evidence
from chorus.agents.claude_code.pairing.sessions import Spot
from chorus.agents.claude_code.pairing.state import Books, Handlers
from chorus.agents.interface import Source
from chorus.model.ids import SessionId
from chorus.model.outcomes import Outcome

# Events are told apart by their exact type: `isinstance` on a pydantic model is slow where it says no.


class Pairing:
    def __init__(self) -> None:
        self._books = Books()
        self.unknown = self._books.unknown  # type -> how many
        self.problems = self._books.problems  # kind -> how many

    def feed(self, event: Event, *, channel: str = "") -> list[Outcome]:
        """Take the next event. `channel` is the pane or pipe it came through.

        Events that do not name their session belong to the one last named on their channel.
        """
        books = self._books
        if type(event) is Unknown:
            books.count(self.unknown, event.type)
            return []
        if type(event) is Malformed:
            books.count(self.problems, f"malformed:{event.kind}")
            return []
        hear = _HANDLERS.get(type(event))
        if hear is None:
            return []
        sessions = books.sessions
        spot = sessions.place(event, channel)
        outcomes = hear(books, event, spot)
        if sessions.named is not None or sessions.replaced is not None:
            outcomes = self._change_session(event, spot) + outcomes
        if type(event) is control.HookCallback:
            outcomes = outcomes + self._call_back(event, channel)
        return [*sessions.take_news(), *outcomes] if sessions.news else outcomes

    def feed_value(self, value: dict[str, Any], *, source: Source, channel: str = "") -> list[Outcome]:
        """Parse an event and take it: see `feed`."""
        return self.feed(parse_event(value, source=source), channel=channel)

    def close(self, session: SessionId | None = None) -> list[Outcome]:
        """Nothing more will come, from that session or at all: what is open stays unfinished."""
        outcomes = self._books.ledger.end(
            lambda entry: session is None or entry.session.id == session, Evidence.NONE
        )
        if session is None:
            self._books.ledger.forget_orphans()
        return outcomes

    def _change_session(self, event: Known, spot: Spot) -> list[Outcome]:
        """The channel's session has got its name, or another one took its place."""
        named, replaced = self._books.sessions.take_change()
        outcomes = self._books.ledger.name_session(named) if named else []
        if replaced is not None and type(event) in _BEGINNINGS:
            # One client after another in one pane: what the first left open stays open for good.
            gone = spot._replace(session=replaced)
            outcomes = outcomes + self._books.end_calls(gone, Evidence.NONE, everyone=True)
        return outcomes

    def _call_back(self, event: control.HookCallback, channel: str) -> list[Outcome]:
        """A hook fires over the control protocol: its input is an event of its own."""
        inner = parse_event(event.input, source=Source.HOOK)
        from_control.hear_callback(self._books, event, inner)
        return self.feed(inner, channel=channel)


# A client begins to speak: the one that spoke on the channel before is gone.
_BEGINNINGS = frozenset({system.Init, messages.SessionStartLine})
# What is not here is known, and says nothing of tool calls.
_HANDLERS: Handlers = {
    **from_messages.HANDLERS,
    **from_hooks.HANDLERS,
    **from_control.HANDLERS,
    **from_system.HANDLERS,
}
