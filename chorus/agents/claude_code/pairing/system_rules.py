"""Pairing: what the client says about the session."""

from chorus.agents.claude_code.events.base import Known
from chorus.agents.claude_code.events.system import (
    CompactBoundary,
    ConversationReset,
    DenialNotice,
    Init,
    Result,
    TaskNotification,
    TaskStarted,
    TaskUpdated,
    TurnDuration,
)
from chorus.agents.claude_code.pairing.call_facts import Learned
from chorus.agents.claude_code.pairing.evidence import Evidence
from chorus.agents.claude_code.pairing.sessions import Spot
from chorus.agents.claude_code.pairing.state import Books, Handlers
from chorus.model.ids import AgentId, SessionId
from chorus.model.outcomes import Outcome, SessionIdle, TurnEnded

_AGENT_TASK = "local_agent"
_GOING_ON = frozenset({None, "pending", "running"})


def hear_init(books: Books, event: Init, spot: Spot) -> list[Outcome]:
    if books.is_repeat(event):
        return []
    # A turn begins only when the one before is over, with or without a result.
    outcomes = books.end_calls(spot)
    return outcomes + books.start_turn(spot, spot.session.turns.begin())


def hear_result(books: Books, event: Result, spot: Spot) -> list[Outcome]:
    if books.is_repeat(event):
        return []
    session, outcomes = spot.session, list[Outcome]()
    for denial in event.denials or ():
        if denial.call:
            session.rejected.discard(denial.call)
            outcomes += books.ledger.learn(denial.call, Learned(Evidence.DENIED))
    if event.denials is not None:
        for call in session.rejected:
            outcomes += books.ledger.learn(call, Learned(Evidence.UNLISTED))
        session.rejected.clear()
    turn = session.turns.current
    # The result of a turn may be held back until the background tasks it started are over. Then the turn
    # that follows has begun, and its calls are not this result's to end.
    if session.turns.end(event.waiting):
        outcomes += books.end_calls(spot)
        outcomes.append(TurnEnded(session.id, turn.id if turn else None))
    return outcomes


def hear_task_start(books: Books, event: TaskStarted, spot: Spot) -> list[Outcome]:
    if event.call is None or event.task_type != _AGENT_TASK:
        return []
    return books.name_agent(event.call, AgentId(event.task))


def hear_task_update(books: Books, event: TaskUpdated, spot: Spot) -> list[Outcome]:
    if event.status in _GOING_ON:
        return []
    return books.end_calls(spot, agent=AgentId(event.task))


def hear_task_end(books: Books, event: TaskNotification, spot: Spot) -> list[Outcome]:
    outcomes = books.end_calls(spot, agent=AgentId(event.task))
    if event.call is not None and books.ledger.is_open(event.call):
        return outcomes  # in the foreground: its own result follows
    ended = books.end_task(spot.session.id, event.task, event.call)
    if ended:
        spot.session.turns.notice()
    return outcomes + ended


def hear_denial(books: Books, event: DenialNotice, spot: Spot) -> list[Outcome]:
    if event.call is None:
        return []
    return books.ledger.learn(event.call, Learned(Evidence.DENIED))


def hear_compaction(books: Books, event: CompactBoundary, spot: Spot) -> list[Outcome]:
    if not books.is_repeat(event):
        books.sessions.link(spot.session.id, spot.session.id, "compact")
    return []


def hear_rest(books: Books, event: Known, spot: Spot) -> list[Outcome]:
    """A hook may have told of the next message before the transcript tells that the last one is done with."""
    session, turn = spot.session, spot.session.turns.current
    newer = turn is not None and turn.prompt is not None and turn.prompt != session.written
    if session.id is None or spot.agent is not None or newer or books.is_repeat(event):
        return []
    return [SessionIdle(session.id)]


def hear_reset(books: Books, event: ConversationReset, spot: Spot) -> list[Outcome]:
    books.sessions.link(SessionId(event.to), spot.session.id, "clear")
    return []


HANDLERS: Handlers = {
    Init: hear_init,
    Result: hear_result,
    TaskStarted: hear_task_start,
    TaskUpdated: hear_task_update,
    TaskNotification: hear_task_end,
    DenialNotice: hear_denial,
    CompactBoundary: hear_compaction,
    TurnDuration: hear_rest,
    ConversationReset: hear_reset,
}
