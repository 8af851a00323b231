"""Pairing: what hooks say of calls."""

from chorus.agents.claude_code.events import hook
from chorus.agents.claude_code.events.user_text import Aside, TaskNotice, read_text
from chorus.agents.claude_code.pairing.call_facts import Learned
from chorus.agents.claude_code.pairing.control_rules import read_suggestions
from chorus.agents.claude_code.pairing.evidence import Evidence, read_batched, read_reason, read_result
from chorus.agents.claude_code.pairing.message_rules import hear_notice
from chorus.agents.claude_code.pairing.sessions import Session, Spot
from chorus.agents.claude_code.pairing.state import Books, Handlers, Made
from chorus.agents.claude_code.pairing.turns import Turn
from chorus.model.ids import ToolUseId
from chorus.model.outcomes import Outcome, PromptOpened, SessionEnded, TurnEnded


def hear_pre(books: Books, event: hook.PreToolUse, spot: Spot) -> list[Outcome]:
    books.remember_pre(event, spot.session, Made(event.call, event.tool, event.input))
    return _hear_call(books, event, spot, Learned(Evidence.HOOKED))


def hear_post(books: Books, event: hook.PostToolUse, spot: Spot) -> list[Outcome]:
    learned = Learned(Evidence.SUCCEEDED, event.response, ran=event.input)
    return _hear_call(books, event, spot, learned)


def hear_failure(books: Books, event: hook.PostToolUseFailure, spot: Spot) -> list[Outcome]:
    evidence = Evidence.INTERRUPTED if event.interrupted else read_result(True, event.error)
    return _hear_call(books, event, spot, Learned(evidence, failure=read_reason(evidence, event.error)))


def hear_batch(books: Books, event: hook.PostToolBatch, spot: Spot) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for done in event.calls:
        outcomes += books.see(event, spot, Made(done.call, done.tool, done.input))
        if done.call:
            evidence = Evidence.BATCHED | read_batched(done.response)
            failure = read_reason(evidence, done.response)
            outcomes += books.learn(event, spot, done.call, Learned(evidence, failure=failure))
    return outcomes


def hear_question(books: Books, event: hook.PermissionRequest, spot: Spot) -> list[Outcome]:
    call = event.call or _call_before(books, event, spot.session)
    entry = books.ledger.find(call) if call else None
    if entry is not None and entry.evidence & Evidence.ASKED:
        return []  # a repeat, or the same question over the control protocol
    outcomes = books.ledger.learn(call, Learned(Evidence.ASKED)) if call else []
    suggestions = read_suggestions(event.suggestions)
    prompt = PromptOpened(
        spot.session.id, call, event.tool, event.input, event.agent, None, None, suggestions
    )
    return [*outcomes, prompt]


def hear_denied(books: Books, event: hook.PermissionDenied, spot: Spot) -> list[Outcome]:
    return books.ledger.learn(event.call, Learned(Evidence.DENIED)) if event.call else []


def hear_message(books: Books, event: hook.UserPromptSubmit, spot: Spot) -> list[Outcome]:
    session = spot.session
    # Calls of the same prompt are spared: then this is a repeat.
    outcomes = books.end_calls(spot, spare=event.prompt)
    speech = read_text(event.text)
    if isinstance(speech, TaskNotice):
        return outcomes + hear_notice(books, event, spot, speech)
    if isinstance(speech, Aside):
        return outcomes
    turn: Turn | None
    if event.prompt is None:
        turn = session.turns.count(speech.text)
    else:
        turn = session.turns.hear_prompt(event.prompt, speech.text, live=True)
    return outcomes + books.start_turn(spot, turn)


def hear_display(books: Books, event: hook.MessageDisplay, spot: Spot) -> list[Outcome]:
    spot.speaker.add(event.text)
    return []


def hear_session_start(books: Books, event: hook.SessionStart, spot: Spot) -> list[Outcome]:
    session = spot.session
    if event.began == "clear":
        books.sessions.began_cleared(session)
    elif event.began == "compact":
        books.sessions.link(session.id, session.id, "compact")
    elif event.began in ("startup", "resume"):
        if event.began == "resume":
            books.sessions.link(session.id, session.id, "resume")
        # The client was killed before: nobody answered, nothing finished.
        return books.end_calls(spot, Evidence.NONE, everyone=True)
    return []


def hear_session_end(books: Books, event: hook.SessionEnd, spot: Spot) -> list[Outcome]:
    outcomes = books.end_calls(spot, everyone=True)
    if event.reason == "clear":
        books.sessions.cleared(spot.session)
    if spot.session.id is not None:
        outcomes.append(SessionEnded(spot.session.id, event.reason))
    return outcomes


def hear_stop(books: Books, event: hook.Stop, spot: Spot) -> list[Outcome]:
    session = spot.session
    outcomes = books.end_calls(spot, only=event.prompt)
    turn = session.turns.named(event.prompt) if event.prompt else session.turns.current
    return [*outcomes, TurnEnded(session.id, turn.id if turn else None)]


def hear_subagent_stop(books: Books, event: hook.SubagentStop, spot: Spot) -> list[Outcome]:
    return books.end_calls(spot, agent=event.agent) if event.agent else []


def _hear_call(
    books: Books,
    event: hook.PreToolUse | hook.PostToolUse | hook.PostToolUseFailure,
    spot: Spot,
    learned: Learned,
) -> list[Outcome]:
    outcomes = books.see(event, spot, Made(event.call, event.tool, event.input))
    if not event.call:
        return outcomes
    if learned.evidence == Evidence.HOOKED:
        return outcomes + books.ledger.learn(event.call, learned)
    return outcomes + books.learn(event, spot, event.call, learned)


def _call_before(books: Books, event: hook.PermissionRequest, session: Session) -> ToolUseId | None:
    """The newest call of that agent that came to PreToolUse with the same tool and input.

    A person or another hook may have changed the input by now: then the newest with the same tool that
    nobody asked about yet.
    """
    made = [pre for pre in books.recall_pre(event, session) if pre.tool == event.tool]
    exact = [pre.call for pre in made if pre.input == event.input]
    if exact:
        return exact[-1]
    entries = [books.ledger.find(pre.call) for pre in made if pre.call]
    unasked = [entry.id for entry in entries if entry and not entry.evidence & Evidence.ASKED]
    return unasked[-1] if unasked else None


HANDLERS: Handlers = {
    hook.PreToolUse: hear_pre,
    hook.PostToolUse: hear_post,
    hook.PostToolUseFailure: hear_failure,
    hook.PostToolBatch: hear_batch,
    hook.PermissionRequest: hear_question,
    hook.PermissionDenied: hear_denied,
    hook.UserPromptSubmit: hear_message,
    hook.MessageDisplay: hear_display,
    hook.SessionStart: hear_session_start,
    hook.SessionEnd: hear_session_end,
    hook.Stop: hear_stop,
    hook.SubagentStop: hear_subagent_stop,
}
