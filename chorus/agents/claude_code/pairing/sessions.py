"""Find the session that an event belongs to, and link sessions.

An event that names no session belongs to the session of its channel, a pane or pipe. If sources disagree
about a call's session, the more trusted one decides (see `Trust`). Transcripts are trusted least, because the
transcript of a fork has copies of another session's lines.
"""

from dataclasses import dataclass, field
from enum import IntEnum

from chorus.agents.claude_code.events.base import Known
from chorus.agents.claude_code.events.messages import SessionStartLine
from chorus.agents.claude_code.events.system import Init, Result
from chorus.agents.claude_code.pairing.turns import Turns
from chorus.agents.interface import Source
from chorus.model.ids import AgentId, SessionId, ToolUseId, TurnId
from chorus.model.lru import LruDict
from chorus.model.outcomes import LinkKind, SessionDiscovered, SessionLinked, TurnRenamed

# A session that was dropped counts as new when it is seen again.
MAX_SESSIONS = 4096
# Sub-agents of one session that are still at work.
MAX_AGENTS_PER_SESSION = 256
# Sub-agents of all sessions, by the call that started each.
MAX_AGENTS = 4096
# Old transcripts mark the lines of sub-agents without naming the sub-agent.
SIDECHAIN = AgentId("sidechain")


class Trust(IntEnum):
    TRANSCRIPT = 1
    HOOK = 2
    EVENT = 3
    RESULT = 4
    INIT = 5
    SESSION_START = 6


@dataclass(slots=True)
class LeadText:
    """An agent's latest text: the lead text of the next calls, until one of them has a result."""

    text: str | None = None
    message_id: str | None = None
    has_result: bool = False  # a call after the text has a result
    in_pieces: bool = False

    def set(self, text: str, message_id: str | None = None) -> None:
        text = text.strip()
        if text:
            self.text, self.message_id, self.has_result, self.in_pieces = text, message_id, False, False

    def append(self, piece: str) -> None:
        """Append a piece of a text that comes in several events."""
        so_far = self.text if self.in_pieces and not self.has_result else None
        self.text, self.message_id = (so_far or "") + piece, None
        self.has_result, self.in_pieces = False, True

    def clear(self) -> None:
        self.text = self.message_id = None

    def before(self, message_id: str | None) -> str | None:
        """Return the lead text of a call in the message `message_id`; None if there is none.

        If the latest text is from another message, it counts only until a call after the text has a result.
        """
        same = message_id is not None and message_id == self.message_id
        return self.text if same or not self.has_result else None


@dataclass(slots=True, eq=False)  # two contexts are never the same session
class SessionContext:
    """The state that pairing keeps of one session."""

    id: SessionId | None
    cwd: str | None = None
    turns: Turns = field(default_factory=Turns)
    lead_texts: LruDict[tuple[Source, AgentId | None], LeadText] = field(
        default_factory=lambda: LruDict(MAX_AGENTS_PER_SESSION)
    )
    hooked: bool = False  # a PreToolUse event comes before each call that may write
    cleared: bool = False  # its transcript begins with `/clear`
    transcript_prompt_id: TurnId | None = None  # the prompt id of the newest message in its transcript
    mode: str | None = None  # the permission mode reported last
    written: str = ""  # the text of the unfinished block, as it was streamed
    # Rejected calls, until the turn's result tells whether they were denied or interrupted.
    rejected: set[ToolUseId] = field(default_factory=set)

    def take_renamed(self) -> list[TurnRenamed]:
        renamed, self.turns.renamed = self.turns.renamed, []
        return [TurnRenamed(self.id, old, new) for old, new in renamed]

    def lead_text_of(self, source: Source, agent: AgentId | None) -> LeadText:
        """Return the latest text of an agent in one source. One source may be ahead of another."""
        found = self.lead_texts.touch((source, agent))
        if found is None:
            found = self.lead_texts[source, agent] = LeadText()
        return found


@dataclass(slots=True)
class EventContext:
    """The session, agent and source of an event, and the trust in its session."""

    session: SessionContext
    trust: Trust
    source: Source  # without the direction of a pipe
    agent: AgentId | None  # the sub-agent; None for the main agent
    lead_text: LeadText
    client: str = ""  # the client that ran the hook; empty if the source does not say


@dataclass(slots=True)
class _Channel:
    session: SessionContext
    trust: Trust
    used: bool = False  # something happened since the session was named
    source: Source | None = None
    context: EventContext | None = None  # the context of the main agent's events from `source`


# Names for enum members: an attribute lookup takes longer than a dozen other steps here.
_EVENT = Trust.EVENT
_HOOK, _MOD, _TRANSCRIPT = Source.HOOK, Source.MOD, Source.TRANSCRIPT
_CLAIMS: dict[type[Known], Trust] = {
    SessionStartLine: Trust.SESSION_START,
    Init: Trust.INIT,
    Result: Trust.RESULT,
}


class SessionRegistry:
    def __init__(self) -> None:
        self._by_id: LruDict[SessionId, SessionContext] = LruDict(MAX_SESSIONS)
        self._channels: LruDict[str, _Channel] = LruDict(MAX_SESSIONS)
        self._linked: LruDict[tuple[SessionId, SessionId, LinkKind], bool] = LruDict(MAX_SESSIONS)
        self._cleared: tuple[SessionId, str | None] | None = None
        self.agents: LruDict[ToolUseId, AgentId] = LruDict(MAX_AGENTS)  # by the call that started each
        self.named: SessionContext | None = None
        self.replaced: SessionContext | None = None
        self.news: list[SessionDiscovered | SessionLinked] = []  # not returned yet

    def take_news(self) -> list[SessionDiscovered | SessionLinked]:
        news, self.news = self.news, []
        return news

    def context_of(self, event: Known, channel: str, client: str = "") -> EventContext:
        if client:
            return self._find_context(event, channel, None, client)
        held = self._channels.get(channel)
        if held is not None and held.context is not None:
            # Reading one attribute of a model takes as long as all of these. This runs for every event.
            fields, session = event.__dict__, held.session
            if (
                fields["session"] == session.id
                and fields["source"] is held.source
                and fields["agent"] is None
                and fields["parent"] is None
                and not fields["sidechain"]
                and ((cwd := fields["cwd"]) is None or cwd == session.cwd)
                and (claim := _CLAIMS.get(type(event), _EVENT)) <= held.trust
            ):
                # Nearly every event of a stream is from the same agent of the same session as the one before.
                held.used = held.used or claim is _EVENT
                return held.context
        return self._find_context(event, channel, held)

    def agent_of(self, event: Known) -> AgentId | None:
        """Return the sub-agent that an event belongs to; None for the main agent."""
        if event.agent is not None:
            return event.agent
        if event.parent is not None:
            return self.agents.touch(event.parent) or AgentId(event.parent)
        return SIDECHAIN if event.sidechain else None

    def take_change(self) -> tuple[SessionContext | None, SessionContext | None]:
        """Return which sessions changed since the last call, and forget them.

        The first session had no id, and its id became known. The second session was left by its channel,
        which now has another session. Each is None if there is no such session.
        """
        change, self.named, self.replaced = (self.named, self.replaced), None, None
        return change

    def _find_context(
        self, event: Known, channel: str, held: _Channel | None, client: str = ""
    ) -> EventContext:
        own, source = event.session or None, event.source
        if own and (source is _HOOK or source is _MOD or source is _TRANSCRIPT):
            trust = Trust.TRANSCRIPT if source is _TRANSCRIPT else Trust.HOOK
            session, held = self._known(own, event.cwd), None
        else:
            session, trust = self._stream_session(event, own, channel)
            held = self._channels[channel]
        if event.cwd:
            if session.cwd is None and session.id is not None:
                self.news.append(SessionDiscovered(session.id, event.cwd))
            session.cwd = event.cwd
        agent = self.agent_of(event)
        base_source = event.base_source
        lead_text = session.lead_text_of(base_source, agent)
        context = EventContext(session, trust, base_source, agent, lead_text, client)
        if held is not None and agent is None and session is held.session and not client:
            held.source, held.context = source, context
        return context

    def link(self, session: SessionId | None, parent: SessionId | None, kind: LinkKind) -> None:
        """Link a session to its parent, unless this link is known."""
        if not session or not parent or (session, parent, kind) in self._linked:
            return
        self._linked[session, parent, kind] = True
        self.news.append(SessionLinked(session, parent, kind))

    def on_cleared(self, session: SessionContext) -> None:
        if session.id is not None:
            self._cleared = (session.id, session.cwd)

    def on_started_cleared(self, session: SessionContext) -> None:
        """Link a session that starts after `/clear` to the session cleared in the same directory."""
        if self._cleared is not None and self._cleared[1] == session.cwd:
            parent, self._cleared = self._cleared[0], None
            self.link(session.id, parent, "clear")

    def _stream_session(
        self, event: Known, own: SessionId | None, channel: str
    ) -> tuple[SessionContext, Trust]:
        held = self._channels.get(channel)
        claim = _CLAIMS.get(type(event), _EVENT)
        if own is None:  # the client's own input has an empty session id
            held = held or self._hold(channel, SessionContext(None), Trust.TRANSCRIPT)
        elif held is None or held.session.id is None:
            held = self._hold(channel, self._named(own, held, event.cwd), claim)
        elif own != held.session.id:
            return self._switch(event, own, held, claim)
        held.trust = max(held.trust, claim)
        held.used = held.used or claim is _EVENT
        return held.session, held.trust

    def _switch(
        self, event: Known, own: SessionId, held: _Channel, claim: Trust
    ) -> tuple[SessionContext, Trust]:
        """Find the session of an event that names another session than its channel has.

        The kind of event (`claim`) decides. The event belongs to the named session, or it belongs to the
        channel's session, or the channel switches to the named session. The second result is the trust in the
        session.
        """
        known = self._by_id.touch(own)
        if claim is _EVENT or (claim is Trust.RESULT and known is not None):
            return self._known(own, event.cwd), claim
        if claim < held.trust and (claim is Trust.RESULT or not held.used):
            if known is None:
                self._by_id[own] = held.session
                self.link(own, held.session.id, "resume")
            return held.session, held.trust
        self.replaced = held.session
        held.session, held.trust, held.used, held.context = self._known(own, event.cwd), claim, False, None
        return held.session, claim

    def _hold(self, channel: str, session: SessionContext, trust: Trust) -> _Channel:
        held = self._channels[channel] = _Channel(session, trust)
        return held

    def _named(self, own: SessionId, held: _Channel | None, cwd: str | None) -> SessionContext:
        """Return the session with the id `own`.

        If no session has this id, give the id to the channel's session or, if the channel has none, to a new
        session.
        """
        if held is None or own in self._by_id:
            return self._known(own, cwd)
        session = self._by_id[own] = self.named = held.session
        session.id, session.cwd = own, cwd or session.cwd
        self.news.append(SessionDiscovered(own, session.cwd))
        return session

    def _known(self, own: SessionId, cwd: str | None) -> SessionContext:
        session = self._by_id.touch(own)
        if session is None:
            session = self._by_id[own] = SessionContext(own, cwd)
            self.news.append(SessionDiscovered(own, cwd))
        return session
