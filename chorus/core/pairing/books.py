"""What all parts of pairing share: the ledger, the sessions, and what could not be understood."""

from collections import Counter, deque
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from chorus.core.entries import Entry, Learned, Seen
from chorus.core.events.base import JsonObject, Known, Source
from chorus.core.events.messages import Assistant, User
from chorus.core.evidence import Evidence
from chorus.core.ids import AgentId, SessionId, ToolUseId, TurnId
from chorus.core.ledger import Ledger
from chorus.core.lru import Recent
from chorus.core.outcomes import BackgroundEnded, Outcome, TurnStarted
from chorus.core.sessions import SPEAKERS_KEPT, Session, Sessions, Speaker, Spot, Trust
from chorus.core.turns import Turn

# Boundaries (init, result, message) remembered by uuid, so that a repeat of one changes nothing.
BOUNDARIES_KEPT = 8192
# Sub-agents and tasks remembered by id.
TASKS_KEPT = 4096
# Questions without an answer. One waits at a time; hooks ask a few per call.
QUESTIONS_KEPT = 4096
# Calls of one agent in one turn that a question may be about: those of one message, and some.
PRE_KEPT = 16
# Kinds counted one by one; a stream with more has no kinds but noise.
KINDS_COUNTED = 1000
# Old transcripts mark a sub-agent's lines without saying which sub-agent.
SIDECHAIN = AgentId("sidechain")

_ONE_STREAM = {Source.CONTROL_IN: Source.STREAM, Source.CONTROL_OUT: Source.STREAM}


def origin(event: Known) -> Source:
    """Both directions of a pipe are one source: what it says of a call, it says once."""
    return _ONE_STREAM.get(event.source, event.source)


class Made(NamedTuple):
    """A tool call as it is shown."""

    call: ToolUseId | None
    tool: str
    input: JsonObject


class Question(NamedTuple):
    """Something the client asked over the control protocol."""

    call: ToolUseId | None
    by_hook: bool


class Books:
    def __init__(self) -> None:
        self.unknown: Counter[str] = Counter()
        self.problems: Counter[str] = Counter()
        self.sessions = Sessions()
        self.ledger = Ledger(self.problems)
        self.agents: Recent[ToolUseId, AgentId] = Recent(TASKS_KEPT)  # by the call that started each
        self.questions: Recent[str, Question] = Recent(QUESTIONS_KEPT)  # unanswered, by request id
        self._pre: Recent[tuple[SessionId | None, AgentId | None, TurnId | None], deque[Made]] = Recent(
            SPEAKERS_KEPT
        )
        self._boundaries: Recent[str, bool] = Recent(BOUNDARIES_KEPT)
        self._ended_tasks: Recent[str, bool] = Recent(TASKS_KEPT)

    def count(self, counter: Counter[str], kind: str) -> None:
        counter[kind if kind in counter or len(counter) < KINDS_COUNTED else "other"] += 1

    def is_repeat(self, event: Known) -> bool:
        """Whether this very event was taken before."""
        if event.uuid is None:
            return False
        if event.uuid in self._boundaries:
            return True
        self._boundaries[event.uuid] = True
        return False

    def agent_of(self, event: Known) -> AgentId | None:
        """The sub-agent an event is about; None for the main agent."""
        if event.agent is not None:
            return event.agent
        if event.parent is not None:
            return self.agents.touch(event.parent) or AgentId(event.parent)
        sidechain = isinstance(event, Assistant | User) and event.sidechain
        return SIDECHAIN if sidechain else None

    def speaker(self, event: Known, session: Session) -> Speaker:
        return session.speaker(origin(event), self.agent_of(event))

    def turn_of(self, event: Known, session: Session) -> Turn | None:
        if event.prompt is not None:
            return session.turns.named(event.prompt)
        started = self.ledger.find(event.parent) if event.parent else None
        # A background sub-agent outlives the turn that started it, and still works for it.
        return started.seen.turn if started else session.turns.current

    def remember_pre(self, event: Known, session: Session, made: Made) -> None:
        """A call comes to its PreToolUse: a question that follows is about it."""
        key = (session.id, event.agent, event.prompt)
        pre = self._pre.touch(key)
        if pre is None:
            pre = self._pre[key] = deque(maxlen=PRE_KEPT)
        if made.call and made not in pre:
            pre.append(made)

    def recall_pre(self, event: Known, session: Session) -> list[Made]:
        return list(self._pre.touch((session.id, event.agent, event.prompt)) or ())

    def see(self, event: Known, spot: Spot, made: Made, *, message_id: str | None = None) -> list[Outcome]:
        """A tool call, wherever it is seen."""
        call = made.call
        if not call:
            self.count(self.problems, "call-without-id")
            return []
        session, trust = spot.session, spot.trust
        entry = self.ledger.find(call)
        outcomes = self._begin_work(event, session) if entry is None else []
        said = self.speaker(event, session).words_before(message_id)
        seen = Seen(
            origin(event), session, trust, self.turn_of(event, session), event.prompt, self.agent_of(event),
            event.parent, said, event.time, event.cwd or session.cwd,
        )  # fmt: skip
        if entry is not None and trust is Trust.TRANSCRIPT and entry.seen.session is not session:
            # Transcripts copy the lines of the session they were forked or resumed from.
            self.sessions.link(session.id, entry.seen.session.id, "fork")
        return outcomes + self.ledger.see(call, made.tool, made.input, seen)

    def _begin_work(self, event: Known, session: Session) -> list[Outcome]:
        """In the stream, the main agent's first call starts a turn if nothing else did."""
        if origin(event) is not Source.STREAM or self.agent_of(event) is not None:
            return []
        turn = session.turns.work()
        return [TurnStarted(session.id, turn.id, turn.message)] if turn else []

    def learn(
        self, event: Known, session: Session, call: ToolUseId | None, learned: Learned
    ) -> list[Outcome]:
        """A tool's result, or part of one, wherever it is seen."""
        if not call:
            self.count(self.problems, "result-without-id")
            return []
        self.speaker(event, session).answered = True
        outcomes: list[Outcome] = []
        entry = self.ledger.find(call)
        if entry is not None and event.prompt is not None:
            turn = session.turns.named(event.prompt)
            seen = Seen(origin(event), session, entry.seen.trust, turn, event.prompt)
            outcomes += self.ledger.see_again(entry, seen)
        learned.time = learned.time or event.time
        if learned.evidence & Evidence.REJECTED and origin(event) is Source.STREAM:
            session.rejected.add(call)
        return outcomes + self.ledger.learn(call, learned)

    def end_calls(
        self, event: Known, session: Session, evidence: Evidence = Evidence.TURN_OVER, *,
        agent: AgentId | None = None, everyone: bool = False, spare: TurnId | None = None,
        only: TurnId | None = None, before: str | None = None,
    ) -> list[Outcome]:  # fmt: skip
        """Close what an agent left open. A source can only speak of calls that it has shown."""
        source = origin(event)

        def is_over(entry: Entry) -> bool:
            if entry.seen.session is not session or source not in entry.sources:
                return False
            if spare is not None and entry.seen.prompt == spare:
                return False
            if only is not None and entry.seen.prompt not in (None, only):
                return False
            if before is not None and entry.seen.time is not None and entry.seen.time >= before:
                return False
            return everyone or entry.seen.agent == agent

        return self.ledger.end(is_over, evidence)

    def start_turn(self, event: Known, session: Session, turn: Turn | None) -> list[Outcome]:
        """A turn begins with a message or with `init`."""
        session.speaker(origin(event), None).text = None  # words of the turn before
        return [TurnStarted(session.id, turn.id, turn.message)] if turn is not None else []

    def name_agent(self, call: ToolUseId, agent: AgentId) -> list[Outcome]:
        if self.agents.touch(call) == agent:
            return []
        self.agents[call] = agent
        return self.ledger.name_agent(call, agent)

    def end_task(self, session: SessionId | None, task: str, call: ToolUseId | None) -> list[Outcome]:
        """A task that outlived its call is over. Said once."""
        if task in self._ended_tasks:
            return []
        self._ended_tasks[task] = True
        return [BackgroundEnded(session, call, task)]


# What each part of pairing offers: for a kind of event, what it tells.
Handlers: TypeAlias = dict[type[Known], Callable[[Books, Any, Spot], list[Outcome]]]
