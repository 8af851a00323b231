"""Handlers for messages and session events, in the stream and in transcripts alike."""

from chorus.agents.claude_code.events.base import Known
from chorus.agents.claude_code.events.messages import (
    Assistant,
    Attachment,
    Block,
    MalformedBlock,
    PermissionRequestLine,
    SessionStartLine,
    Text,
    TextLine,
    ToolResult,
    ToolResultLine,
    ToolUse,
    ToolUseLine,
    UnknownBlock,
    User,
)
from chorus.agents.claude_code.events.system import (
    CompactBoundary,
    ConversationReset,
    Init,
    PermissionDenied,
    Result,
    TaskNotification,
    TaskStarted,
    TaskUpdated,
    TurnDuration,
)
from chorus.agents.claude_code.events.user_text import (
    ClientText,
    Command,
    Message,
    TaskEnd,
    parse_user_text,
    read_user,
)
from chorus.agents.claude_code.pairing import usage_handlers
from chorus.agents.claude_code.pairing.calls import CallEntry, CallUpdate
from chorus.agents.claude_code.pairing.evidence import Evidence, read_denial, read_failure, read_result
from chorus.agents.claude_code.pairing.sessions import EventContext, SessionContext
from chorus.agents.claude_code.pairing.state import Handlers, PairingState, ShownCall
from chorus.agents.claude_code.pairing.turns import Turn
from chorus.agents.interface import Source
from chorus.model.ids import AgentId, SessionId, ToolUseId
from chorus.model.outcomes import (
    MessageDelivered,
    Outcome,
    PromptOpened,
    SessionIdle,
    TurnEnded,
    TurnReported,
)
from chorus.model.tools import AGENT_TOOLS

# With these stop reasons, a message is the last of its turn: its text is the answer, and no call follows. In
# a transcript the user's next message does not show where a turn ends: it may come after the calls it led to.
_LAST_REASONS = frozenset({"end_turn", "stop_sequence"})
_NOT_UNDERSTOOD = (UnknownBlock, MalformedBlock)
# The type of a task that is a sub-agent, and the statuses of a task that is not over.
_AGENT_TASK = "local_agent"
_RUNNING_STATUSES = frozenset({None, "pending", "running"})
# A name for the member: the attribute lookup takes longer than most steps here.
_TRANSCRIPT = Source.TRANSCRIPT
NO_RESULT = "no result before the next turn"


def on_assistant(state: PairingState, event: Assistant, context: EventContext) -> list[Outcome]:
    outcomes: list[Outcome] = []
    lead_text = context.lead_text
    in_transcript = context.source is _TRANSCRIPT
    if context.agent is None and not in_transcript and context.session.turns.queued:
        outcomes += _start_queued(state, context)
    content, message_id = event.content, event.message_id
    if (answered := usage_handlers.count_answer(state, event, context, message_id)) is not None:
        outcomes.append(answered)
    blocks = (Text.model_construct(text=content),) if isinstance(content, str) else content
    for block in blocks:
        if type(block) is ToolUse:
            outcomes += state.add_call(
                event, context, ShownCall(block.id, block.tool, block.input), message_id
            )
        elif type(block) is Text:
            if event.error is None:  # else it is the client's own text about a failed API request
                text = block.text
                lead_text.set(text, message_id)
                if (written := usage_handlers.write_text(context, text)) is not None:
                    outcomes.append(written)
        elif isinstance(block, _NOT_UNDERSTOOD):
            _count_block(state, "assistant", block)
    if event.stop_reason in _LAST_REASONS:
        if in_transcript and context.agent is None:
            outcomes += _report_last_text(state, event, context, blocks)
        lead_text.clear()
    return outcomes


def _start_queued(state: PairingState, context: EventContext) -> list[Outcome]:
    turn = context.session.turns.start_queued()
    return state.start_turn(context, turn) if turn is not None else []


def _report_last_text(
    state: PairingState, event: Assistant, context: EventContext, blocks: tuple[Block, ...]
) -> list[Outcome]:
    """Report the last text of a turn in a transcript: the agent's answer, or why the turn failed."""
    texts = [block.text for block in blocks if type(block) is Text]
    if not texts:
        return []
    turn = state.transcript_turn(event, context)
    failed = event.error is not None or event.api_error is True
    answer, error = (None, texts[-1]) if failed else (texts[-1], None)
    ended = end_turns(context.session, context.session.turns.ended_before(turn), error)
    return [*ended, TurnReported(context.session.id, turn.id if turn else None, answer, error)]


def on_tool_use(state: PairingState, event: ToolUseLine, context: EventContext) -> list[Outcome]:
    return state.add_call(event, context, ShownCall(event.id, event.tool, event.input))


def on_text(state: PairingState, event: TextLine, context: EventContext) -> list[Outcome]:
    context.lead_text.append(event.text)
    return []


def on_tool_result(state: PairingState, event: ToolResultLine, context: EventContext) -> list[Outcome]:
    evidence = read_result(event.is_error, event.content)
    failure = read_failure(evidence, event.content)
    update = CallUpdate(evidence, event.response, None, event.time, failure)
    return state.update_call(event, context, event.id, update)


def on_session_start(state: PairingState, event: SessionStartLine, context: EventContext) -> list[Outcome]:
    """Close the open calls of the session, because its client has started again."""
    return state.end_calls(context, Evidence.NONE, all_agents=True)


def on_permission_request(
    state: PairingState, event: PermissionRequestLine, context: EventContext
) -> list[Outcome]:
    return [PromptOpened(context.session.id, None, None, {}, None, None, event.text, ())]


def on_user(state: PairingState, event: User, context: EventContext) -> list[Outcome]:
    if event.forked_from:
        state.sessions.link(context.session.id, SessionId(event.forked_from), "fork")
    if context.session.cleared and event.started_as and event.started_as != context.session.id:
        state.sessions.link(context.session.id, SessionId(event.started_as), "clear")
    content, results = event.content, []
    for block in content if type(content) is tuple else ():
        if type(block) is ToolResult:
            results.append(block)
        elif isinstance(block, _NOT_UNDERSTOOD):
            _count_block(state, "user", block)
    if len(results) == 1:
        return _on_tool_result_block(state, event, context, results[0], alone=True)
    if not results:
        return _on_user_text(state, event, context)
    return [o for block in results for o in _on_tool_result_block(state, event, context, block, alone=False)]


def _on_tool_result_block(
    state: PairingState, event: User, context: EventContext, block: ToolResult, *, alone: bool
) -> list[Outcome]:
    call, content = block.id, block.content
    evidence = read_result(block.is_error, content)
    if evidence == Evidence.NONE:
        return []
    if not evidence & Evidence.SUCCEEDED:
        evidence |= _read_meta(event.results_meta, call)
        if alone:
            evidence |= read_denial(event.denial, event.decision)
    # The tool's own result is outside the blocks, so its call is known only if there is one result block.
    response = event.response if alone else None
    failure = read_failure(evidence, content)
    update = CallUpdate(evidence, response, None, event.time, failure)
    outcomes = state.update_call(event, context, call, update)
    if call and isinstance(response, dict) and "agentId" in response:
        outcomes = outcomes + _set_agent(state, state.calls.find(call), response["agentId"])
    return outcomes


def _set_agent(state: PairingState, entry: CallEntry | None, agent: object) -> list[Outcome]:
    if entry is None or entry.tool not in AGENT_TOOLS or not isinstance(agent, str):
        return []
    return state.set_agent(entry.id, AgentId(agent))


def _read_meta(meta: object, call: ToolUseId | None) -> int:
    evidence = Evidence.NONE
    for item in meta if isinstance(meta, list) else []:
        if isinstance(item, dict) and item.get("id") == call:
            decided = item.get("permission_decision")
            decision = decided.get("decision") if isinstance(decided, dict) else None
            evidence |= read_denial(item.get("non_execution_kind"), decision)
    return evidence


def _on_user_text(state: PairingState, event: User, context: EventContext) -> list[Outcome]:
    user_text = read_user(event)
    if isinstance(user_text, ClientText):
        # Older clients report the end of a turn only if it was not interrupted.
        in_transcript = event.source is _TRANSCRIPT
        return on_idle(state, event, context) if user_text.interrupts and in_transcript else []
    if event.source is _TRANSCRIPT and not isinstance(user_text, TaskEnd):
        # Done even if the stream showed this message before.
        context.session.transcript_prompt_id = event.prompt_id
    if state.is_repeat(event):
        return []
    if isinstance(user_text, TaskEnd):
        return on_task_end_text(state, event, context, user_text)
    if event.source is _TRANSCRIPT:
        return _on_transcript_message(state, event, context, user_text)
    turns = context.session.turns
    known = turns.current
    turn = turns.on_message(
        user_text.text, echo=event.source is not Source.CONTROL_IN, delivered=bool(event.replay)
    )
    if event.replay and event.uuid is not None:
        read_by = turn or turns.reading(user_text.text)
        delivered: list[Outcome] = [
            MessageDelivered(context.session.id, read_by.id if read_by else None, event.uuid)
        ]
    else:
        delivered = []
    if turn is None:
        return delivered
    # A message that is delivered into a running turn ends no calls: they may still run.
    ended = [] if turn is known or event.replay else state.end_calls(context)
    return [*ended, *state.start_turn(context, turn), *delivered]


def _on_transcript_message(
    state: PairingState, event: User, context: EventContext, user_text: Message | Command
) -> list[Outcome]:
    """Handle a message or a command in a transcript.

    A message closes the open calls that were made before it. Times are compared, not the order of the lines:
    the message's line may come after calls that the message led to.
    """
    session, outcomes = context.session, list[Outcome]()
    session.cleared = session.cleared or user_text.text == "/clear"
    if isinstance(user_text, Message):  # a command may be local to the client, and then it ends no calls
        outcomes += state.end_calls(context, except_prompt_id=event.prompt_id, before=event.time)
    turn: Turn | None
    if event.prompt_id is None:
        turn = session.turns.add_unnamed(user_text.text)
    else:
        turn = session.turns.on_named_message(event.prompt_id, user_text.text, live=False)
    if turn is not None and event.uuid is not None:
        state.add_user_message(context, event.uuid, turn)
    return outcomes + state.start_turn(context, turn)


def on_attachment(state: PairingState, event: Attachment, context: EventContext) -> list[Outcome]:
    """Handle a queued message, or the end of a task, that the main agent reads while it works."""
    if event.kind != "queued_command" or event.text is None or context.agent is not None:
        return []
    user_text = parse_user_text(event.text)
    if isinstance(user_text, TaskEnd):
        return on_task_end_text(state, event, context, user_text)
    if not isinstance(user_text, Message) or event.origin not in (None, "human") or state.is_repeat(event):
        return []
    session = context.session
    turn = session.turns.on_queued_message(user_text.text, session.transcript_prompt_id)
    return state.start_turn(context, turn)


def on_task_end_text(state: PairingState, event: Known, context: EventContext, end: TaskEnd) -> list[Outcome]:
    """Report that a background task has ended."""
    if event.prompt_id is not None:
        context.session.turns.continue_with(event.prompt_id)
    if end.task is None:
        return []
    call = ToolUseId(end.call) if end.call else None
    return state.end_task(context.session.id, end.task, call, event.time)


def _count_block(state: PairingState, context: str, block: UnknownBlock | MalformedBlock) -> None:
    if isinstance(block, UnknownBlock):
        state.count(state.unknown, f"{context}/{block.type}"[:80])
    else:
        state.count(state.problems, f"malformed:{context}/{block.kind}")


def on_init(state: PairingState, event: Init, context: EventContext) -> list[Outcome]:
    if state.is_repeat(event):
        return []
    # A turn begins only after the one before is over, with or without a result.
    outcomes, session = state.end_calls(context), context.session
    outcomes += [TurnEnded(session.id, turn.id, NO_RESULT) for turn in session.turns.unfinished()]
    outcomes += usage_handlers.describe_init(event, context)
    return outcomes + state.start_turn(context, session.turns.on_init())


def on_result(state: PairingState, event: Result, context: EventContext) -> list[Outcome]:
    if state.is_repeat(event):
        return []
    session = context.session
    outcomes: list[Outcome] = []
    for denial in event.denials or ():
        if denial.call:
            session.rejected.discard(denial.call)
            outcomes += state.calls.update(denial.call, CallUpdate(Evidence.DENIED))
    if event.denials is not None:
        for call in session.rejected:
            outcomes += state.calls.update(call, CallUpdate(Evidence.UNLISTED))
        session.rejected.clear()
    if session.turns.queued:
        outcomes += _start_queued(state, context)
    turn, ending = session.turns.current, session.turns.ending
    before = session.turns.ended_before(ending)
    report = usage_handlers.report_result(event, context, ending, before)
    if before:
        outcomes += end_turns(session, before, report.error)
    # The result of a turn may be held back until its background tasks are over. By then the next turn has
    # begun, and the result must not end the calls of the next turn.
    if session.turns.on_result(event.queued_messages):
        context.lead_text.clear()
        outcomes += state.end_calls(context)
        outcomes.append(TurnEnded(session.id, turn.id if turn else None))
    outcomes.append(report)
    return outcomes


def end_turns(session: SessionContext, turns: list[Turn], error: str | None) -> list[Outcome]:
    """End these turns; with `error`, as failed.

    The client does not report the end of such a turn, because the agent read the next message during the
    turn.
    """
    return [
        TurnEnded(session.id, one.id) if error is None else TurnReported(session.id, one.id, error=error)
        for one in turns
    ]


def on_task_start(state: PairingState, event: TaskStarted, context: EventContext) -> list[Outcome]:
    if event.call is None or event.task_type != _AGENT_TASK:
        return []
    return state.set_agent(event.call, AgentId(event.task))


def on_task_update(state: PairingState, event: TaskUpdated, context: EventContext) -> list[Outcome]:
    if event.status in _RUNNING_STATUSES:
        return []
    return state.end_calls(context, agent=AgentId(event.task))


def on_task_end(state: PairingState, event: TaskNotification, context: EventContext) -> list[Outcome]:
    outcomes = state.end_calls(context, agent=AgentId(event.task))
    if event.call is not None and state.calls.is_open(event.call):
        return outcomes  # a foreground task: its own result follows
    ended = state.end_task(context.session.id, event.task, event.call, event.time)
    if ended:
        context.session.turns.on_task_end()
    return outcomes + ended


def on_denial(state: PairingState, event: PermissionDenied, context: EventContext) -> list[Outcome]:
    call = event.call or state.only_open_call(context, event.tool)
    return state.calls.update(call, CallUpdate(Evidence.DENIED)) if call else []


def on_compaction(state: PairingState, event: CompactBoundary, context: EventContext) -> list[Outcome]:
    if not state.is_repeat(event):
        state.sessions.link(context.session.id, context.session.id, "compact")
    return []


def on_idle(state: PairingState, event: Known, context: EventContext) -> list[Outcome]:
    """Report that the session is idle, unless a hook has already shown the next turn's message."""
    session, turn = context.session, context.session.turns.current
    outcomes: list[Outcome] = []
    newer = turn is not None and turn.prompt_id is not None and turn.prompt_id != session.transcript_prompt_id
    if session.id is None or context.agent is not None or newer or state.is_repeat(event):
        return []
    if type(event) is TurnDuration and turn is not None and event.duration_ms is not None:
        outcomes.append(TurnReported(session.id, turn.id, duration_ms=event.duration_ms))
    return [*outcomes, SessionIdle(session.id)]


def on_reset(state: PairingState, event: ConversationReset, context: EventContext) -> list[Outcome]:
    state.sessions.link(SessionId(event.to), context.session.id, "clear")
    return []


HANDLERS: Handlers = {
    Assistant: on_assistant,
    User: on_user,
    ToolUseLine: on_tool_use,
    ToolResultLine: on_tool_result,
    TextLine: on_text,
    SessionStartLine: on_session_start,
    PermissionRequestLine: on_permission_request,
    Attachment: on_attachment,
    Init: on_init,
    Result: on_result,
    TaskStarted: on_task_start,
    TaskUpdated: on_task_update,
    TaskNotification: on_task_end,
    PermissionDenied: on_denial,
    CompactBoundary: on_compaction,
    TurnDuration: on_idle,
    ConversationReset: on_reset,
}
