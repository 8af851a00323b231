"""Handlers for hook events."""

from typing import Literal

from chorus.agents.claude_code.events import hook
from chorus.agents.claude_code.events.user_text import ClientText, TaskEnd, parse_user_text
from chorus.agents.claude_code.pairing.calls import CallUpdate
from chorus.agents.claude_code.pairing.control_handlers import open_form, read_suggestions
from chorus.agents.claude_code.pairing.evidence import Evidence, read_batched, read_failure, read_result
from chorus.agents.claude_code.pairing.message_handlers import end_turns, on_task_end_text
from chorus.agents.claude_code.pairing.sessions import EventContext, SessionContext
from chorus.agents.claude_code.pairing.state import Handlers, PairingState, ShownCall
from chorus.agents.claude_code.pairing.turns import Turn
from chorus.agents.claude_code.pairing.usage_handlers import describe_client, describe_error
from chorus.model.ids import ToolUseId
from chorus.model.outcomes import (
    Outcome,
    PromptClosed,
    PromptOpened,
    SessionEnded,
    TurnEnded,
    TurnReported,
)

_DECISIONS: dict[str | None, Literal["allow", "deny", "cancelled"]] = {"accept": "allow", "decline": "deny"}


def on_pre_tool_use(state: PairingState, event: hook.PreToolUse, context: EventContext) -> list[Outcome]:
    state.set_hooked(context.session)
    state.remember_pending(event, context.session, ShownCall(event.call, event.tool, event.input))
    return _on_call(state, event, context, CallUpdate(Evidence.HOOKED))


def on_post_tool_use(state: PairingState, event: hook.PostToolUse, context: EventContext) -> list[Outcome]:
    update = CallUpdate(Evidence.SUCCEEDED, event.response, effective_input=event.input)
    return _on_call(state, event, context, update)


def on_post_tool_use_failure(
    state: PairingState, event: hook.PostToolUseFailure, context: EventContext
) -> list[Outcome]:
    evidence = Evidence.INTERRUPTED if event.interrupted else read_result(True, event.error)
    return _on_call(state, event, context, CallUpdate(evidence, failure=read_failure(evidence, event.error)))


def on_post_tool_batch(
    state: PairingState, event: hook.PostToolBatch, context: EventContext
) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for done in event.calls:
        outcomes += state.add_call(event, context, ShownCall(done.call, done.tool, done.input))
        if done.call:
            evidence = Evidence.BATCHED | read_batched(done.response)
            failure = read_failure(evidence, done.response)
            outcomes += state.update_call(event, context, done.call, CallUpdate(evidence, failure=failure))
    return outcomes


def on_permission_request(
    state: PairingState, event: hook.PermissionRequest, context: EventContext
) -> list[Outcome]:
    call = event.call or _requested_call(state, event, context.session)
    entry = state.calls.find(call) if call else None
    if entry is not None and entry.evidence & Evidence.ASKED:
        return []  # a repeat, or the same request over the control protocol
    outcomes = state.calls.update(call, CallUpdate(Evidence.ASKED)) if call else []
    suggestions = read_suggestions(event.suggestions)
    prompt = PromptOpened(
        context.session.id, call, event.tool, event.input, event.agent, None, None, suggestions
    )
    return [*outcomes, prompt]


def on_permission_denied(
    state: PairingState, event: hook.PermissionDenied, context: EventContext
) -> list[Outcome]:
    call = event.call or state.only_open_call(context, event.tool)
    return state.calls.update(call, CallUpdate(Evidence.DENIED)) if call else []


def on_elicitation_requested(
    state: PairingState, event: hook.ElicitationRequested, context: EventContext
) -> list[Outcome]:
    return [open_form(event, context, None)]


def on_elicitation_answered(
    state: PairingState, event: hook.ElicitationAnswered, context: EventContext
) -> list[Outcome]:
    return [PromptClosed(context.session.id, None, None, _DECISIONS.get(event.action, "cancelled"))]


def on_user_prompt(state: PairingState, event: hook.UserPromptSubmit, context: EventContext) -> list[Outcome]:
    session = context.session
    state.set_hooked(session)
    # Calls of the same message stay open: if there are any, this event is a repeat.
    outcomes = state.end_calls(context, except_prompt_id=event.prompt_id)
    outcomes += describe_client(context, mode=event.permission_mode)
    user_text = parse_user_text(event.text)
    if isinstance(user_text, TaskEnd):
        return outcomes + on_task_end_text(state, event, context, user_text)
    if isinstance(user_text, ClientText):
        return outcomes
    turn: Turn | None
    if event.prompt_id is None:
        turn = session.turns.add_unnamed(user_text.text)
    else:
        turn = session.turns.on_named_message(event.prompt_id, user_text.text, live=True)
    return outcomes + state.start_turn(context, turn)


def on_message_display(
    state: PairingState, event: hook.MessageDisplay, context: EventContext
) -> list[Outcome]:
    context.lead_text.append(event.text)
    return []


def on_session_start(state: PairingState, event: hook.SessionStart, context: EventContext) -> list[Outcome]:
    session = context.session
    state.set_hooked(session)
    if event.began == "clear":
        state.sessions.on_started_cleared(session)
    elif event.began == "compact":
        state.sessions.link(session.id, session.id, "compact")
    elif event.began in ("startup", "resume"):
        if event.began == "resume":
            state.sessions.link(session.id, session.id, "resume")
        # The client was killed: its open calls were neither answered nor finished.
        return state.end_calls(context, Evidence.NONE, all_agents=True)
    return []


def on_session_end(state: PairingState, event: hook.SessionEnd, context: EventContext) -> list[Outcome]:
    outcomes = state.end_calls(context, all_agents=True)
    if event.reason == "clear":
        state.sessions.on_cleared(context.session)
    if context.session.id is not None:
        outcomes.append(SessionEnded(context.session.id, event.reason))
    return outcomes


def on_stop(state: PairingState, event: hook.Stop, context: EventContext) -> list[Outcome]:
    session = context.session
    context.lead_text.clear()
    outcomes = state.end_calls(context, only_prompt_id=event.prompt_id)
    turn = session.turns.of_prompt_id(event.prompt_id) if event.prompt_id else session.turns.current
    outcomes += describe_client(context, mode=event.permission_mode)
    turn_id = turn.id if turn else None
    failed = event.event == "StopFailure"
    error = (describe_error(event.error) or "unknown error") if failed else None
    outcomes += end_turns(session, session.turns.ended_before(turn), error)
    if failed or event.answer is not None:
        answer = event.answer if not failed else None
        outcomes.append(TurnReported(session.id, turn_id, answer, error))
    return [*outcomes, TurnEnded(session.id, turn_id)]


def on_session_measured(
    state: PairingState, event: hook.SessionMeasured, context: EventContext
) -> list[Outcome]:
    turns = context.session.turns
    turn = turns.of_prompt_id(event.prompt_id) if event.prompt_id else turns.current
    turn_id = turn.id if turn else None
    return [TurnReported(context.session.id, turn_id, total_cost=event.cost, window=event.window)]


def on_subagent_stop(state: PairingState, event: hook.SubagentStop, context: EventContext) -> list[Outcome]:
    return state.end_calls(context, agent=event.agent) if event.agent else []


def _on_call(
    state: PairingState,
    event: hook.PreToolUse | hook.PostToolUse | hook.PostToolUseFailure,
    context: EventContext,
    update: CallUpdate,
) -> list[Outcome]:
    outcomes = state.add_call(event, context, ShownCall(event.call, event.tool, event.input))
    if not event.call:
        return outcomes
    if update.evidence == Evidence.HOOKED:
        return outcomes + state.calls.update(event.call, update)
    return outcomes + state.update_call(event, context, event.call, update)


def _requested_call(
    state: PairingState, event: hook.PermissionRequest, session: SessionContext
) -> ToolUseId | None:
    """Return the agent's newest call with the tool and input of a permission request.

    The user or a hook may have changed the input. If no call has this input, return the newest call of the
    tool that has had no prompt yet; None if there is no such call.
    """
    shown = [pre for pre in state.pending_calls(event, session) if pre.tool == event.tool]
    exact = [pre.call for pre in shown if pre.input == event.input]
    if exact:
        return exact[-1]
    entries = [state.calls.find(pre.call) for pre in shown if pre.call]
    unasked = [entry.id for entry in entries if entry and not entry.evidence & Evidence.ASKED]
    return unasked[-1] if unasked else None


HANDLERS: Handlers = {
    hook.PreToolUse: on_pre_tool_use,
    hook.PostToolUse: on_post_tool_use,
    hook.PostToolUseFailure: on_post_tool_use_failure,
    hook.PostToolBatch: on_post_tool_batch,
    hook.PermissionRequest: on_permission_request,
    hook.PermissionDenied: on_permission_denied,
    hook.ElicitationRequested: on_elicitation_requested,
    hook.ElicitationAnswered: on_elicitation_answered,
    hook.UserPromptSubmit: on_user_prompt,
    hook.MessageDisplay: on_message_display,
    hook.SessionStart: on_session_start,
    hook.SessionEnd: on_session_end,
    hook.Stop: on_stop,
    hook.SubagentStop: on_subagent_stop,
    hook.SessionMeasured: on_session_measured,
}
