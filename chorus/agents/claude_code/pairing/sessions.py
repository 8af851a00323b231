"""Which session an event belongs to, and how sessions hang together.

An event that names its session belongs to it. One that does not belongs to the session that was named
last on the same channel (a pane, a pipe), by whoever is trusted most: `session_start`, then
`system/init`, then `result`. Where two sources name different sessions for one call, the order of trust
goes on: then the stream's other events, then hooks, then transcripts, which copy each other's lines when a
session is forked.
"""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from chorus.agents.claude_code.events.base import Known
from chorus.agents.claude_code.events.messages import SessionStartLine
from chorus.agents.claude_code.events.system import Init, Result
from chorus.agents.claude_code.pairing.turns import Turns
from chorus.agents.interface import Source
from chorus.model.ids import AgentId, SessionId, ToolUseId, TurnId
from chorus.model.lru import LruDict
from chorus.model.outcomes import LinkKind, SessionDiscovered, SessionLinked

# Sessions an agent meets in its life; a forgotten one is taken for new when it shows itself again.
SESSIONS_KEPT = 4096
# Sub-agents of one session that are still talking.
SPEAKERS_KEPT = 256
# Sub-agents of all sessions, by the call that started each.
AGENTS_KEPT = 4096
# Old transcripts mark a sub-agent's lines without saying which sub-agent.
SIDECHAIN = AgentId("sidechain")


class Trust(IntEnum):
    TRANSCRIPT = 1
    HOOK = 2
    EVENT = 3
    RESULT = 4
    INIT = 5
    SESSION_START = 6


@dataclass(slots=True)
class Speaker:
    """What an agent said last. The words stand for the calls that follow until a result comes."""

    text: str | None = None
    message_id: str | None = None
    answered: bool = False
    in_pieces: bool = False

    def say(self, text: str, message_id: str | None = None) -> None:
        text = text.strip()
        if text:
            self.text, self.message_id, self.answered, self.in_pieces = text, message_id, False, False

    def add(self, piece: str) -> None:
        """Part of a text that comes in several events."""
        so_far = self.text if self.in_pieces and not self.answered else None
        self.text, self.message_id, self.answered, self.in_pieces = (so_far or "") + piece, None, False, True

    def words_before(self, message_id: str | None) -> str | None:
        same = message_id is not None and message_id == self.message_id
        return self.text if same or not self.answered else None


@dataclass(slots=True)
class Session:
    id: SessionId | None
    cwd: str | None = None
    turns: Turns = field(default_factory=Turns)
    speakers: LruDict[tuple[Source, AgentId | None], Speaker] = field(
        default_factory=lambda: LruDict(SPEAKERS_KEPT)
    )
    cleared: bool = False  # its transcript begins with `/clear`
    written: TurnId | None = None  # the prompt its transcript told of last
    # Refused calls, until the turn's result tells whether they were denied or interrupted.
    rejected: set[ToolUseId] = field(default_factory=set)

    def speaker(self, source: Source, agent: AgentId | None) -> Speaker:
        """Each source tells the words in its own time, so each has its own memory of them."""
        found = self.speakers.touch((source, agent))
        if found is None:
            found = self.speakers[source, agent] = Speaker()
        return found


class Spot(NamedTuple):
    """Where an event belongs, how far that can be trusted, and who told it of whom."""

    session: Session
    trust: Trust
    teller: Source
    agent: AgentId | None  # the sub-agent; None for the main agent
    speaker: Speaker


@dataclass(slots=True)
class _Channel:
    session: Session
    trust: Trust
    used: bool = False  # something happened since the session was named
    source: Source | None = None
    spot: Spot | None = None  # where the main agent's events from that source belong


# Looked up once: a member of an enumeration takes longer to find than a dozen of other steps here.
_EVENT = Trust.EVENT
_HOOK, _TRANSCRIPT = Source.HOOK, Source.TRANSCRIPT
_CLAIMS: dict[type[Known], Trust] = {
    SessionStartLine: Trust.SESSION_START,
    Init: Trust.INIT,
    Result: Trust.RESULT,
}


class Sessions:
    def __init__(self) -> None:
        self._by_id: LruDict[SessionId, Session] = LruDict(SESSIONS_KEPT)
        self._channels: LruDict[str, _Channel] = LruDict(SESSIONS_KEPT)
        self._linked: LruDict[tuple[SessionId, SessionId, LinkKind], bool] = LruDict(SESSIONS_KEPT)
        self._cleared: tuple[SessionId, str | None] | None = None
        self.agents: LruDict[ToolUseId, AgentId] = LruDict(AGENTS_KEPT)  # by the call that started each
        self.named: Session | None = None
        self.replaced: Session | None = None
        self.news: list[SessionDiscovered | SessionLinked] = []  # learned, and not told yet

    def take_news(self) -> list[SessionDiscovered | SessionLinked]:
        news, self.news = self.news, []
        return news

    def place(self, event: Known, channel: str) -> Spot:
        held = self._channels.get(channel)
        if (
            held is not None
            and held.spot is not None
            and event.session == held.session.id
            and event.source is held.source
            and event.agent is None
            and event.parent is None
            and not event.sidechain
            and ((cwd := event.cwd) is None or cwd == held.session.cwd)
            and (claim := _CLAIMS.get(type(event), _EVENT)) <= held.trust
        ):
            # Nearly every event of a stream: the same agent of the same session goes on.
            held.used = held.used or claim is _EVENT
            return held.spot
        return self._place_anew(event, channel, held)

    def agent_of(self, event: Known) -> AgentId | None:
        """The sub-agent an event is about; None for the main agent."""
        if event.agent is not None:
            return event.agent
        if event.parent is not None:
            return self.agents.touch(event.parent) or AgentId(event.parent)
        return SIDECHAIN if event.sidechain else None

    def take_change(self) -> tuple[Session | None, Session | None]:
        """The session that was named late, and the one that another took the place of."""
        change, self.named, self.replaced = (self.named, self.replaced), None, None
        return change

    def _place_anew(self, event: Known, channel: str, held: _Channel | None) -> Spot:
        own, source, teller = event.session or None, event.source, event.teller
        if own and (source is _HOOK or source is _TRANSCRIPT):
            trust = Trust.HOOK if source is _HOOK else Trust.TRANSCRIPT
            session, held = self._known(own, event.cwd), None
        else:
            session, trust = self._place_stream(event, own, channel)
            held = self._channels[channel]
        if event.cwd:
            if session.cwd is None and session.id is not None:
                self.news.append(SessionDiscovered(session.id, event.cwd))
            session.cwd = event.cwd
        agent = self.agent_of(event)
        spot = Spot(session, trust, teller, agent, session.speaker(teller, agent))
        if held is not None and agent is None and session is held.session:
            held.source, held.spot = source, spot
        return spot

    def link(self, session: SessionId | None, parent: SessionId | None, kind: LinkKind) -> None:
        """Said once per pair and kind."""
        if not session or not parent or (session, parent, kind) in self._linked:
            return
        self._linked[session, parent, kind] = True
        self.news.append(SessionLinked(session, parent, kind))

    def cleared(self, session: Session) -> None:
        """The session ends because its conversation is cleared: the next one goes on for it."""
        if session.id is not None:
            self._cleared = (session.id, session.cwd)

    def began_cleared(self, session: Session) -> None:
        if self._cleared is not None and self._cleared[1] == session.cwd:
            parent, self._cleared = self._cleared[0], None
            self.link(session.id, parent, "clear")

    def _place_stream(self, event: Known, own: SessionId | None, channel: str) -> tuple[Session, Trust]:
        held = self._channels.get(channel)
        claim = _CLAIMS.get(type(event), _EVENT)
        if own is None:  # the client's own input has an empty one
            held = held or self._hold(channel, Session(None), Trust.TRANSCRIPT)
        elif held is None or held.session.id is None:
            held = self._hold(channel, self._named(own, held, event.cwd), claim)
        elif own != held.session.id:
            return self._switch(event, own, held, claim)
        held.trust = max(held.trust, claim)
        held.used = held.used or claim is _EVENT
        return held.session, held.trust

    def _switch(self, event: Known, own: SessionId, held: _Channel, claim: Trust) -> tuple[Session, Trust]:
        """The channel's session is another than the one the event names."""
        known = self._by_id.touch(own)
        if claim is _EVENT or (claim is Trust.RESULT and known is not None):
            return self._known(own, event.cwd), claim
        if claim < held.trust and (claim is Trust.RESULT or not held.used):
            if known is None:
                self._by_id[own] = held.session
                self.link(own, held.session.id, "resume")
            return held.session, held.trust
        self.replaced = held.session
        held.session, held.trust, held.used, held.spot = self._known(own, event.cwd), claim, False, None
        return held.session, claim

    def _hold(self, channel: str, session: Session, trust: Trust) -> _Channel:
        held = self._channels[channel] = _Channel(session, trust)
        return held

    def _named(self, own: SessionId, held: _Channel | None, cwd: str | None) -> Session:
        """The session of a channel whose events had none so far: what came before belongs to it too."""
        if held is None or own in self._by_id:
            return self._known(own, cwd)
        session = self._by_id[own] = self.named = held.session
        session.id, session.cwd = own, cwd or session.cwd
        self.news.append(SessionDiscovered(own, session.cwd))
        return session

    def _known(self, own: SessionId, cwd: str | None) -> Session:
        session = self._by_id.touch(own)
        if session is None:
            session = self._by_id[own] = Session(own, cwd)
            self.news.append(SessionDiscovered(own, cwd))
        return session
