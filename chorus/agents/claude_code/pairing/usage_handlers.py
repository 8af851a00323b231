"""Handlers for reports of the client about its work: models, tokens, cost, errors, retries, live text."""

from collections.abc import Mapping
from typing import Any

from chorus.agents.claude_code.events.messages import (
    Assistant,
    CostState,
    ErrorLine,
    Partial,
    PermissionModeLine,
)
from chorus.agents.claude_code.events.system import ApiRetry, Init, RateLimit, Result, Status
from chorus.agents.claude_code.pairing.sessions import EventContext
from chorus.agents.claude_code.pairing.state import Handlers, PairingState
from chorus.agents.claude_code.pairing.turns import Turn
from chorus.agents.interface import Source
from chorus.model.ids import TurnId
from chorus.model.outcomes import (
    ErrorReported,
    MessageDelivered,
    ModelAnswered,
    Outcome,
    RateLimited,
    RequestRetried,
    SessionDescribed,
    TextWritten,
    Tokens,
    TurnReported,
)

# The model of messages that the client writes itself, such as one about a failed API request.
_CLIENT_MODEL = "<synthetic>"
# A name for the member: the attribute lookup takes longer than most steps here.
_STREAM = Source.STREAM
# How the client says that the user interrupted a turn.
_INTERRUPTED = "aborted"
INTERRUPTED = "interrupted"
# Nothing that a model uses is counted in larger numbers.
MAX_NUMBER = 2**53
# The fields of `Tokens` in a message or result, and in a list by model.
_TOKEN_NAMES = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_CAMEL_TOKEN_NAMES = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")


def read_tokens(usage: Mapping[str, Any]) -> Tokens:
    """Read the numbers of tokens, in either spelling of the fields; a missing number counts as 0."""
    get = usage.get
    read, written = get("input_tokens"), get("output_tokens")
    cached, stored = get("cache_read_input_tokens"), get("cache_creation_input_tokens")
    if type(read) is type(written) is type(cached) is type(stored) is int:
        return Tokens(read, written, cached, stored)
    names = _CAMEL_TOKEN_NAMES if "inputTokens" in usage else _TOKEN_NAMES
    return Tokens(*[number if type(number := get(name)) is int else 0 for name in names])


def describe_error(error: object) -> str:
    """Return the text of an error from the client; empty if it has none."""
    match error:
        case str():
            return error.strip()
        case {"formatted": str(text)}:
            return text
        case {"message": str(message), "type": str(kind)} if message != kind:
            return f"{kind}: {message}"
        case {"message": str(message)}:
            return message
        case {"type": str(kind)}:
            return kind
        case {"error": inner}:
            return describe_error(inner)
        case list():
            return "; ".join(filter(None, map(describe_error, error)))
    return ""


def describe_client(
    context: EventContext, *, model: str | None = None, mode: str | None = None, version: str | None = None
) -> list[Outcome]:
    """Report the session's model and client version, if given, and its permission mode, if it is new."""
    session = context.session
    new_mode = mode if mode != session.mode else None
    session.mode = mode or session.mode
    if session.id is None or (model is None and new_mode is None and version is None):
        return []
    return [SessionDescribed(session.id, model, new_mode, version)]


def count_answer(
    state: PairingState, event: Assistant, context: EventContext, message: str | None
) -> ModelAnswered | None:
    """Report the tokens of a message of the model, once for each source that shows it."""
    usage = event.usage
    if usage is None or message is None or (model := event.model) == _CLIENT_MODEL:
        return None
    is_new, turn = state.add_answer(event, context, message)
    if not is_new:
        return None
    return ModelAnswered(
        context.session.id, turn.id if turn else None, context.agent, message, model, read_tokens(usage)
    )


def write_text(context: EventContext, text: str) -> TextWritten | None:
    """Report a complete text block of the main agent in a stream, unless its pieces were reported."""
    session = context.session
    streamed, session.written = session.written, ""
    if context.agent is not None or context.source is not _STREAM:
        return None
    text = text.strip()
    if not text or (streamed and streamed.strip() == text):
        return None
    turn = session.turns.current
    return TextWritten(session.id, turn.id if turn is not None else None, text + "\n")


def on_partial(state: PairingState, event: Partial, context: EventContext) -> list[Outcome]:
    if context.agent is not None:
        return []
    session = context.session
    if event.kind in ("content_block_delta", "delta") and event.text:
        session.written += event.text
        return [TextWritten(session.id, _id(session.turns.current), event.text)]
    if event.kind == "content_block_start":
        session.written = ""
    elif event.kind == "content_block_stop" and session.written:
        return [TextWritten(session.id, _id(session.turns.current), "\n")]
    return []


def report_result(
    event: Result, context: EventContext, turn: Turn | None, before: list[Turn]
) -> TurnReported:
    """Return the report of how a turn ended. The turns in `before` end with the same result."""
    usage, result, by_model, by_model_since = event.usage, event.result, event.by_model, event.by_model_since
    tokens = read_tokens(usage) if usage is not None else None
    if tokens is None and (event.input_tokens is not None or event.output_tokens is not None):
        tokens = Tokens(event.input_tokens or 0, event.output_tokens or 0)
    answer = result if isinstance(result, str) else context.lead_text.text
    error = _describe_failure(event)
    reason = event.terminal_reason or event.stop_reason or event.subtype or "completed"
    # The largest context window is the main agent's.
    windows = _numbers(by_model, "contextWindow") if by_model else ()
    costs = _numbers(by_model_since, "costUSD") if by_model_since else ()
    return TurnReported(
        context.session.id, _id(turn), answer if error is None else None, error, reason, tokens,
        float(sum(costs)) if costs else None, event.cost, event.duration_ms, event.api_ms, event.steps,
        int(max(windows)) if windows else None, tuple([one.id for one in before]),
    )  # fmt: skip


def on_status(state: PairingState, event: Status, context: EventContext) -> list[Outcome]:
    outcomes = describe_client(context, mode=event.permission_mode)
    turn = context.session.turns.current
    # The messages are added here as well, because a message whose turn fails at once is not replayed.
    messages = [str(message) for message in event.messages] if isinstance(event.messages, list) else []
    if len(messages) == 1:  # else the others were sent into the turn, and have turns of their own
        state.add_user_message(context, messages[0], turn)
    return outcomes + [MessageDelivered(context.session.id, _id(turn), message) for message in messages]


def on_permission_mode(
    state: PairingState, event: PermissionModeLine, context: EventContext
) -> list[Outcome]:
    return describe_client(context, mode=event.mode)


def describe_init(event: Init, context: EventContext) -> list[Outcome]:
    return describe_client(context, model=event.model, mode=event.permission_mode, version=event.version)


def on_retry(state: PairingState, event: ApiRetry, context: EventContext) -> list[Outcome]:
    # Stream and transcript report one retry under different ids, but with the same pause to the millisecond.
    same = f"retry {context.session.id} {event.attempt} {event.delay_ms}"
    if state.is_repeat(event) or (event.delay_ms is not None and state.is_known(same)):
        return []
    status, said = str(event.status) if event.status is not None else "", describe_error(event.error)
    reason = said if said.startswith(status) and said else f"{status} {said}".strip() or "API error"
    turn = _id(state.turn_of(event, context))
    return [RequestRetried(context.session.id, turn, reason, event.attempt, event.limit)]


def on_rate_limit(state: PairingState, event: RateLimit, context: EventContext) -> list[Outcome]:
    if context.session.id is None or event.status is None:
        return []
    return [RateLimited(context.session.id, event.status, event.resets)]


def on_error(state: PairingState, event: ErrorLine, context: EventContext) -> list[Outcome]:
    reason = describe_error(event.error) or "unknown error"
    return [ErrorReported(context.session.id, _id(context.session.turns.current), reason)]


def on_cost_state(state: PairingState, event: CostState, context: EventContext) -> list[Outcome]:
    return [TurnReported(context.session.id, None, total_cost=event.cost)] if event.cost is not None else []


def _describe_failure(event: Result) -> str | None:
    """Return why a turn failed; None if it did not."""
    is_error = event.is_error
    if is_error is None:
        is_error = (event.subtype or "").startswith("error")
    if not is_error:
        return None
    if (event.terminal_reason or "").startswith(_INTERRUPTED):
        return INTERRUPTED
    subtype = None if event.subtype == "success" else event.subtype
    said = describe_error(event.errors) or describe_error(event.result)
    return said or subtype or event.stop_reason or "unknown error"


def _numbers(by_model: Mapping[str, Any], name: str) -> list[int | float]:
    """Return the number under `name` of each model. Leave out numbers that are too large to be true."""
    return [
        number
        for usage in by_model.values()
        if isinstance(usage, dict)
        and isinstance(number := usage.get(name), (int, float))
        and abs(number) <= MAX_NUMBER
    ]


def _id(turn: Turn | None) -> TurnId | None:
    return turn.id if turn is not None else None


HANDLERS: Handlers = {
    Partial: on_partial,
    Status: on_status,
    PermissionModeLine: on_permission_mode,
    CostState: on_cost_state,
    ApiRetry: on_retry,
    RateLimit: on_rate_limit,
    ErrorLine: on_error,
}
