"""What all parts of pairing share: the ledger, the sessions, and what could not be understood."""

from collections import Counter, deque
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from chorus.agents.claude_code.events.base import JsonObject, Known
from chorus.agents.claude_code.pairing.call_facts import Entry, Learned
from chorus.agents.claude_code.pairing.calls import Ledger
from chorus.agents.claude_code.pairing.evidence import Evidence
from chorus.agents.claude_code.pairing.sessions import SPEAKERS_KEPT, Session, Sessions, Spot, Trust
from chorus.agents.claude_code.pairing.turns import Turn
from chorus.agents.interface import Source
from chorus.model.ids import AgentId, SessionId, ToolUseId, TurnId
from chorus.model.lru import LruDict
from chorus.model.outcomes import BackgroundTaskEnded, Outcome, TurnStarted

# Boundaries (init, result, message) remembered by uuid, so that a repeat of one changes nothing.
BOUNDARIES_KEPT = 8192
# Background tasks remembered by id.
TASKS_KEPT = 4096
# Questions without an answer. One waits at a time; hooks ask a few per call.
QUESTIONS_KEPT = 4096
# Calls of one agent in one turn that a question may be about: those of one message, and some.
PRE_KEPT = 16
# Kinds counted one by one; a stream with more has no kinds but noise.
KINDS_COUNTED = 1000
# Looked up once: see `sessions`.
_STREAM, _TRANSCRIPT = Source.STREAM, Trust.TRANSCRIPT


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
        self.questions: LruDict[str, Question] = LruDict(QUESTIONS_KEPT)  # unanswered, by request id
        self._pre: LruDict[tuple[SessionId | None, AgentId | None, TurnId | None], deque[Made]] = LruDict(
            SPEAKERS_KEPT
        )
        self._boundaries: LruDict[str, bool] = LruDict(BOUNDARIES_KEPT)
        self._ended_tasks: LruDict[str, bool] = LruDict(TASKS_KEPT)

    def count(self, counter: Counter[str], kind: str) -> None:
        counter[kind if kind in counter or len(counter) < KINDS_COUNTED else "other"] += 1

    def is_repeat(self, event: Known) -> bool:
        """Whether this very event was taken before."""
        uuid = event.uuid
        if uuid is None:
            return False
        if uuid in self._boundaries:
            return True
        self._boundaries[uuid] = True
        return False

    def turn_of(self, event: Known, session: Session) -> Turn | None:
        if event.prompt is not None:
            return session.turns.named(event.prompt)
        started = self.ledger.find(event.parent) if event.parent else None
        # A background sub-agent outlives the turn that started it, and still works for it.
        return started.turn if started else session.turns.current

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

    def see(self, event: Known, spot: Spot, made: Made, message_id: str | None = None) -> list[Outcome]:
        """A tool call, wherever it is seen."""
        call, tool, given = made
        session, trust, teller, agent, speaker = spot
        if not call:
            self.count(self.problems, "call-without-id")
            return []
        known = self.ledger.find(call)
        outcomes: list[Outcome] = []
        if known is None:
            if teller is _STREAM and agent is None and (turn := session.turns.work()) is not None:
                outcomes.append(TurnStarted(session.id, turn.id, turn.message))
        elif trust is _TRANSCRIPT and known.session is not session:
            # Transcripts copy the lines of the session they were forked or resumed from.
            self.sessions.link(session.id, known.session.id, "fork")
        seen = Entry(
            call, tool, given, session, trust, (teller,), self.turn_of(event, session), event.prompt, agent,
            event.parent, speaker.words_before(message_id), event.time, event.cwd or session.cwd,
        )  # fmt: skip
        return outcomes + self.ledger.see(seen)

    def learn(self, event: Known, spot: Spot, call: ToolUseId | None, learned: Learned) -> list[Outcome]:
        """A tool's result, or part of one, wherever it is seen."""
        if not call:
            self.count(self.problems, "result-without-id")
            return []
        spot.speaker.answered = True
        if learned.evidence & Evidence.REJECTED and spot.teller is _STREAM:
            spot.session.rejected.add(call)
        if event.prompt is None or (entry := self.ledger.find(call)) is None:
            return self.ledger.learn(call, learned)
        turn = spot.session.turns.named(event.prompt)
        return self.ledger.name_turn(entry, turn, event.prompt) + self.ledger.learn(call, learned)

    def end_calls(
        self, spot: Spot, evidence: int = Evidence.TURN_OVER, *, agent: AgentId | None = None,
        everyone: bool = False, spare: TurnId | None = None, only: TurnId | None = None,
        before: str | None = None,
    ) -> list[Outcome]:  # fmt: skip
        """Close what an agent left open. A source can only speak of calls that it has shown."""
        if not self.ledger.any_open:
            return []

        def is_over(entry: Entry) -> bool:
            if entry.session is not spot.session or spot.teller not in entry.sources:
                return False
            if spare is not None and entry.prompt == spare:
                return False
            if only is not None and entry.prompt not in (None, only):
                return False
            if before is not None and entry.time is not None and entry.time >= before:
                return False
            return everyone or entry.agent == agent

        return self.ledger.end(is_over, evidence)

    def start_turn(self, spot: Spot, turn: Turn | None) -> list[Outcome]:
        """A turn begins with a message or with `init`."""
        spot.speaker.text = None  # words of the turn before
        return [TurnStarted(spot.session.id, turn.id, turn.message)] if turn is not None else []

    def name_agent(self, call: ToolUseId, agent: AgentId) -> list[Outcome]:
        if self.sessions.agents.touch(call) == agent:
            return []
        self.sessions.agents[call] = agent
        return self.ledger.name_agent(call, agent)

    def end_task(self, session: SessionId | None, task: str, call: ToolUseId | None) -> list[Outcome]:
        """A task that outlived its call is over. Said once."""
        if task in self._ended_tasks:
            return []
        self._ended_tasks[task] = True
        return [BackgroundTaskEnded(session, call, task)]


# What each part of pairing offers: for a kind of event, what it tells.
Handlers: TypeAlias = dict[type[Known], Callable[[Books, Any, Spot], list[Outcome]]]
