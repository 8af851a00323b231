"""The one machine all sources feed."""

from chorus.core.events import control, messages, system
from chorus.core.events.base import Known, Malformed, Source, Unknown
from chorus.core.events.parsing import Event, parse_event
from chorus.core.evidence import Evidence
from chorus.core.ids import SessionId
from chorus.core.outcomes import Outcome
from chorus.core.pairing import control as from_control
from chorus.core.pairing import hooks as from_hooks
from chorus.core.pairing import messages as from_messages
from chorus.core.pairing import system as from_system
from chorus.core.pairing.books import Books, Handlers, origin
from chorus.core.sessions import Spot


class Pairing:
    def __init__(self) -> None:
        self._books = Books()
        self.unknown = self._books.unknown  # type -> how many
        self.problems = self._books.problems  # kind -> how many

    def feed(self, event: Event, *, channel: str = "") -> list[Outcome]:
        """Take the next event. `channel` is the pane or pipe it came through.

        Events that do not name their session belong to the one last named on their channel.
        """
        if isinstance(event, Unknown):
            self._books.count(self.unknown, event.type)
            return []
        if isinstance(event, Malformed):
            self._books.count(self.problems, f"malformed:{event.kind}")
            return []
        before = self._books.sessions.current(channel)
        anonymous = before is not None and before.id is None
        spot = self._books.sessions.place(event, channel)
        outcomes: list[Outcome] = []
        if before is not None and origin(event) is Source.STREAM:
            if anonymous and before.id is not None:
                outcomes += self._books.ledger.name_session(before)
            if isinstance(event, system.Init | messages.SessionStartLine) and spot.session is not before:
                # One client after another in one pane: what the first left open stays open for good.
                outcomes += self._books.end_calls(event, before, Evidence.NONE, everyone=True)
        outcomes += self._hear(event, spot, channel)
        return [*self._books.sessions.news(), *outcomes]

    def close(self, session: SessionId | None = None) -> list[Outcome]:
        """Nothing more will come, from that session or at all: what is open stays unfinished."""
        outcomes = self._books.ledger.end(
            lambda entry: session is None or entry.seen.session.id == session, Evidence.NONE
        )
        if session is None:
            self._books.ledger.forget_orphans()
        return outcomes

    def _hear(self, event: Known, spot: Spot, channel: str) -> list[Outcome]:
        if isinstance(event, control.HookCallback):
            inner = parse_event(event.input, source=Source.HOOK)
            from_control.hear_callback(self._books, event, inner)
            return self.feed(inner, channel=channel)
        hear = _HANDLERS.get(type(event))
        return hear(self._books, event, spot) if hear is not None else []


# What is not here is known, and says nothing of tool calls.
_HANDLERS: Handlers = {
    **from_messages.HANDLERS,
    **from_hooks.HANDLERS,
    **from_control.HANDLERS,
    **from_system.HANDLERS,
}
