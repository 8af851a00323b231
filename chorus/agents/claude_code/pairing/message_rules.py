"""Pairing: what messages say of calls. Stream and transcript alike."""

from chorus.agents.claude_code.events.base import Known
from chorus.agents.claude_code.events.blocks import MalformedBlock, Text, ToolResult, ToolUse, UnknownBlock
from chorus.agents.claude_code.events.messages import (
    Assistant,
    PermissionRequestLine,
    SessionStartLine,
    TextLine,
    ToolResultLine,
    ToolUseLine,
    User,
)
from chorus.agents.claude_code.events.transcript import Attachment
from chorus.agents.claude_code.events.user_text import (
    Aside,
    Command,
    Message,
    TaskNotice,
    read_text,
    read_user,
)
from chorus.agents.claude_code.pairing.call_facts import Entry, Learned
from chorus.agents.claude_code.pairing.evidence import Evidence, read_denial, read_reason, read_result
from chorus.agents.claude_code.pairing.sessions import Spot
from chorus.agents.claude_code.pairing.state import Books, Handlers, Made
from chorus.agents.claude_code.pairing.system_rules import hear_rest
from chorus.agents.claude_code.pairing.turns import Turn
from chorus.agents.interface import Source
from chorus.model.ids import AgentId, SessionId, ToolUseId
from chorus.model.outcomes import Outcome, PromptOpened
from chorus.model.tools import AGENT_TOOLS

_STRANGE = (UnknownBlock, MalformedBlock)


def hear_assistant(books: Books, event: Assistant, spot: Spot) -> list[Outcome]:
    outcomes: list[Outcome] = []
    speaker = spot.speaker
    blocks = (Text.model_construct(text=event.content),) if isinstance(event.content, str) else event.content
    for block in blocks:
        if type(block) is ToolUse:
            outcomes += books.see(event, spot, Made(block.id, block.tool, block.input), event.message_id)
        elif type(block) is Text:
            if event.error is None:  # else the client speaks, to say that the API failed
                speaker.say(block.text, event.message_id)
        elif isinstance(block, _STRANGE):
            _count_block(books, "assistant", block)
    return outcomes


def hear_tool_use(books: Books, event: ToolUseLine, spot: Spot) -> list[Outcome]:
    return books.see(event, spot, Made(event.id, event.tool, event.input))


def hear_text(books: Books, event: TextLine, spot: Spot) -> list[Outcome]:
    spot.speaker.add(event.text)
    return []


def hear_tool_result(books: Books, event: ToolResultLine, spot: Spot) -> list[Outcome]:
    evidence = read_result(event.is_error, event.content)
    failure = read_reason(evidence, event.content)
    learned = Learned(evidence, event.response, None, event.time, failure)
    return books.learn(event, spot, event.id, learned)


def hear_session_start(books: Books, event: SessionStartLine, spot: Spot) -> list[Outcome]:
    """The client starts anew: what it left open when it went stays open for good."""
    return books.end_calls(spot, Evidence.NONE, everyone=True)


def hear_permission_request(books: Books, event: PermissionRequestLine, spot: Spot) -> list[Outcome]:
    return [PromptOpened(spot.session.id, None, None, {}, None, None, event.text, ())]


def hear_user(books: Books, event: User, spot: Spot) -> list[Outcome]:
    if event.forked_from:
        books.sessions.link(spot.session.id, SessionId(event.forked_from), "fork")
    if spot.session.cleared and event.started_as and event.started_as != spot.session.id:
        books.sessions.link(spot.session.id, SessionId(event.started_as), "clear")
    results = []
    for block in event.content if type(event.content) is tuple else ():
        if type(block) is ToolResult:
            results.append(block)
        elif isinstance(block, _STRANGE):
            _count_block(books, "user", block)
    if len(results) == 1:
        return _hear_result(books, event, spot, results[0], alone=True)
    if not results:
        return _hear_speech(books, event, spot)
    return [o for block in results for o in _hear_result(books, event, spot, block, alone=False)]


def _hear_result(books: Books, event: User, spot: Spot, block: ToolResult, *, alone: bool) -> list[Outcome]:
    evidence = read_result(block.is_error, block.content)
    if not evidence & Evidence.SUCCEEDED:
        evidence |= _read_meta(event.results_meta, block.id)
        if alone:
            evidence |= read_denial(event.denial, event.decision)
    # The tool's own report stands beside the message: it is one call's only if there is one result.
    response = event.response if alone else None
    failure = read_reason(evidence, block.content)
    outcomes = books.learn(event, spot, block.id, Learned(evidence, response, None, event.time, failure))
    if block.id and isinstance(response, dict) and "agentId" in response:
        outcomes = outcomes + _name_agent(books, books.ledger.find(block.id), response["agentId"])
    return outcomes


def _name_agent(books: Books, entry: Entry | None, agent: object) -> list[Outcome]:
    if entry is None or entry.tool not in AGENT_TOOLS or not isinstance(agent, str):
        return []
    return books.name_agent(entry.id, AgentId(agent))


def _read_meta(meta: object, call: ToolUseId | None) -> int:
    evidence = Evidence.NONE
    for item in meta if isinstance(meta, list) else []:
        if isinstance(item, dict) and item.get("id") == call:
            decided = item.get("permission_decision")
            decision = decided.get("decision") if isinstance(decided, dict) else None
            evidence |= read_denial(item.get("non_execution_kind"), decision)
    return evidence


def _hear_speech(books: Books, event: User, spot: Spot) -> list[Outcome]:
    speech = read_user(event)
    if isinstance(speech, Aside):
        # Older clients tell of a turn's end only when nobody broke it off.
        written = event.source is Source.TRANSCRIPT
        return hear_rest(books, event, spot) if speech.breaks_off and written else []
    if books.is_repeat(event):
        return []
    if isinstance(speech, TaskNotice):
        return hear_notice(books, event, spot, speech)
    if event.source is Source.TRANSCRIPT:
        return _hear_written(books, event, spot, speech)
    turns, text = spot.session.turns, speech.text
    known = turns.current
    turn = turns.hear(text, echo=event.source is not Source.CONTROL_IN, delivered=bool(event.replay))
    if turn is None:
        return []
    # A message that is delivered into a running turn ends nothing: calls may still run.
    ended = [] if turn is known or event.replay else books.end_calls(spot)
    return ended + books.start_turn(spot, turn)


def _hear_written(books: Books, event: User, spot: Spot, speech: Message | Command) -> list[Outcome]:
    """A message in a transcript. Its line may stand after the calls it led to: the clock decides."""
    session, outcomes = spot.session, list[Outcome]()
    session.cleared = session.cleared or speech.text == "/clear"
    if isinstance(speech, Message):  # a command may be local to the client, and then interrupts nothing
        outcomes += books.end_calls(spot, spare=event.prompt, before=event.time)
    session.written = event.prompt
    turn: Turn | None
    if event.prompt is None:
        turn = session.turns.count(speech.text)
    else:
        turn = session.turns.hear_prompt(event.prompt, speech.text, live=False)
    return outcomes + books.start_turn(spot, turn)


def hear_attachment(books: Books, event: Attachment, spot: Spot) -> list[Outcome]:
    """What a person, or the end of a task, has to say to the agent while it works."""
    if event.kind != "queued_command" or event.text is None or spot.agent is not None:
        return []
    speech = read_text(event.text)
    if isinstance(speech, TaskNotice):
        return hear_notice(books, event, spot, speech)
    if not isinstance(speech, Message) or event.origin not in (None, "human") or books.is_repeat(event):
        return []
    return books.start_turn(spot, spot.session.turns.hear_meanwhile(speech.text))


def hear_notice(books: Books, event: Known, spot: Spot, notice: TaskNotice) -> list[Outcome]:
    """The client takes up work because a background task is over: still the same turn."""
    if event.prompt is not None:
        spot.session.turns.go_on(event.prompt)
    if notice.task is None:
        return []
    call = ToolUseId(notice.call) if notice.call else None
    return books.end_task(spot.session.id, notice.task, call)


def _count_block(books: Books, place: str, block: UnknownBlock | MalformedBlock) -> None:
    if isinstance(block, UnknownBlock):
        books.count(books.unknown, f"{place}/{block.type}"[:80])
    else:
        books.count(books.problems, f"malformed:{place}/{block.kind}")


HANDLERS: Handlers = {
    Assistant: hear_assistant,
    User: hear_user,
    ToolUseLine: hear_tool_use,
    ToolResultLine: hear_tool_result,
    TextLine: hear_text,
    SessionStartLine: hear_session_start,
    PermissionRequestLine: hear_permission_request,
    Attachment: hear_attachment,
}
