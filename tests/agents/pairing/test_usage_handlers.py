"""What the client says about its work, in both spellings of the protocol notes and as it is recorded."""

from typing import Any

import pytest

from chorus.agents.claude_code.pairing import Pairing
from chorus.agents.claude_code.pairing.usage_handlers import describe_error, read_tokens
from chorus.agents.interface import Source
from chorus.model.outcomes import (
    ControlAsked,
    ControlReplied,
    ErrorReported,
    MessageDelivered,
    ModelAnswered,
    PromptClosed,
    PromptOpened,
    RateLimited,
    RequestRetried,
    SessionDescribed,
    TextWritten,
    Tokens,
    TurnReported,
)

INIT = {"type": "system", "subtype": "init", "session_id": "s", "model": "opus", "permissionMode": "plan"}


def outcomes(*values: dict[str, Any], source: Source = Source.STREAM) -> list[Any]:
    pairing = Pairing()
    return [o for value in values for o in pairing.feed_value({"session_id": "s", **value}, source=source)]


def of(kind: type, *values: dict[str, Any], source: Source = Source.STREAM) -> list[Any]:
    return [outcome for outcome in outcomes(*values, source=source) if type(outcome) is kind]


def test_a_result_reports_answer_tokens_cost_and_durations() -> None:
    usage = {"input_tokens": 3, "output_tokens": 7, "cache_read_input_tokens": 21989}
    result = {
        "type": "result", "subtype": "success", "is_error": False, "duration_ms": 2511, "num_turns": 1,
        "result": "Here.", "total_cost_usd": 0.02, "usage": usage, "modelUsage": {"m": {"contextWindow": 9}},
    }  # fmt: skip
    (reported,) = of(TurnReported, INIT, result)
    assert (reported.answer, reported.error, reported.total_cost) == ("Here.", None, 0.02)
    assert (reported.tokens, reported.window, reported.duration_ms) == (Tokens(3, 7, 21989), 9, 2511)


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ({"subtype": "error_max_turns", "is_error": True, "result": "..."}, "..."),
        ({"subtype": "error_max_turns", "is_error": True, "errors": ["Reached it"]}, "Reached it"),
        ({"subtype": "success", "is_error": True, "result": "truncated"}, "truncated"),
        (
            {
                "subtype": "error_during_execution",
                "errors": [{"type": "overloaded_error", "message": "Overloaded"}],
            },
            "overloaded_error: Overloaded",
        ),
        ({"subtype": "error", "is_error": True, "terminal_reason": "aborted_tools"}, "interrupted"),
        ({"subtype": "error_input"}, "error_input"),
        ({"is_error": True}, "unknown error"),
        ({"subtype": "success", "permission_denials": [{"tool_name": "AskUserQuestion"}]}, None),
    ],
)
def test_a_failed_turn_says_why(result: dict[str, Any], error: str | None) -> None:
    assert of(TurnReported, INIT, {"type": "result", **result})[0].error == error


def test_the_other_spellings_of_usage_are_read() -> None:
    inner = {"stopReason": "end_turn", "usage": {"inputTokens": 1523, "outputTokens": 842}}
    assert of(TurnReported, {"type": "result", "result": inner})[0].tokens == Tokens(1523, 842)
    totals = {"type": "result", "total_input_tokens": 5}
    assert of(TurnReported, totals)[0].tokens == Tokens(5, 0)
    assert read_tokens({"input_tokens": "3"}) == Tokens()


def test_errors_retries_and_limits_are_reported() -> None:
    line = {"type": "error", "error": {"type": "api_error", "message": "Rate limit exceeded"}}
    assert of(ErrorReported, line, {"type": "error"}) == [
        ErrorReported("s", None, "api_error: Rate limit exceeded"),  # type: ignore[arg-type]  # an id is text
        ErrorReported("s", None, "unknown error"),  # type: ignore[arg-type]  # an id is text
    ]
    retry = {"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 9, "error_status": 429}
    retried = of(RequestRetried, {**retry, "error": "rate_limit", "uuid": "u"}, {**retry, "uuid": "u"})
    assert [(r.reason, r.attempt, r.limit) for r in retried] == [("429 rate_limit", 1, 9)]
    info = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 7}}
    assert of(RateLimited, info, {"type": "rate_limit_event"}) == [RateLimited("s", "rejected", 7)]  # type: ignore[arg-type]  # plain text
    assert describe_error([{"error": {"message": "a"}}, {"type": "b"}, 5]) == "a; b"


def test_a_retry_in_stream_and_transcript_is_one() -> None:
    streamed = {
        "type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10, "retry_delay_ms": 554,
        "error_status": 429, "error": "rate_limit", "uuid": "u1",
    }  # fmt: skip
    error = {"message": '429 {"type":"error"}', "status": 429, "formatted": "429 Too many requests"}
    written = {
        "type": "system", "subtype": "api_error", "retryAttempt": 1, "maxRetries": 10, "retryInMs": 554,
        "error": error, "uuid": "u2",
    }  # fmt: skip
    later = {**streamed, "attempt": 2, "retry_delay_ms": 1013, "uuid": "u3"}
    (first, second) = of(RequestRetried, streamed, written, later)
    assert (first.reason, second.attempt) == ("429 rate_limit", 2)
    (alone,) = of(RequestRetried, written, streamed, source=Source.TRANSCRIPT)
    assert alone.reason == "429 Too many requests"
    (unknown,) = of(RequestRetried, {"type": "system", "subtype": "api_retry"})
    assert unknown.reason == "API error"


def test_text_is_given_once_streamed_or_whole() -> None:
    def delta(text: str) -> dict[str, Any]:
        event = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}
        return {"type": "stream_event", "event": event}

    start, stop = (
        {"type": "stream_event", "event": {"type": f"content_block_{w}"}} for w in ("start", "stop")
    )
    whole = {"type": "assistant", "message": {"content": [{"type": "text", "text": "Hello!"}]}}
    texts = of(TextWritten, INIT, start, delta("Hel"), delta("lo!"), stop, whole, whole)
    assert [text.text for text in texts] == ["Hel", "lo!", "\n", "Hello!\n"]
    assert (
        of(TextWritten, {**delta("x"), "parent_tool_use_id": "t"}, {**whole, "parent_tool_use_id": "t"}) == []
    )
    assert of(TextWritten, stop) == []


def test_a_message_of_the_model_is_counted_once() -> None:
    message = {"id": "m", "model": "opus", "usage": {"input_tokens": 2}, "content": []}
    value = {"type": "assistant", "message": message}
    assert [o.tokens for o in of(ModelAnswered, value, value)] == [Tokens(2)]
    assert of(ModelAnswered, {"type": "assistant", "message": {**message, "model": "<synthetic>"}}) == []


def test_a_transcript_reports_the_last_text_its_duration_and_the_mode() -> None:
    def line(text: str, **more: Any) -> dict[str, Any]:
        message = {"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
        return {"type": "assistant", "sessionId": "s", "message": message, **more}

    asked = {"type": "user", "sessionId": "s", "promptId": "p", "message": {"content": "hi"}}
    ended = {"type": "system", "subtype": "turn_duration", "durationMs": 755, "sessionId": "s"}
    mode = {"type": "permission-mode", "permissionMode": "plan", "sessionId": "s"}
    failed = line("API Error", isApiErrorMessage=True)
    values = asked, line("Done."), failed, ended, mode, mode
    reported = of(TurnReported, *values, source=Source.TRANSCRIPT)
    assert [(r.answer, r.error, r.duration_ms) for r in reported] == [
        ("Done.", None, None), (None, "API Error", None), (None, None, 755),
    ]  # fmt: skip
    assert [o.mode for o in of(SessionDescribed, *values, source=Source.TRANSCRIPT)] == ["plan"]


def test_a_turn_that_ends_without_text_reports_no_answer() -> None:
    message = {"content": [{"type": "thinking", "thinking": "Done."}], "stop_reason": "end_turn"}
    assert of(TurnReported, {"type": "assistant", "message": message}, source=Source.TRANSCRIPT) == []


def test_a_stop_hook_reports_the_answer_or_the_failure() -> None:
    stop = {"hook_event_name": "Stop", "last_assistant_message": "Finished.", "prompt_id": "p"}
    failed = {"hook_event_name": "StopFailure", "prompt_id": "p", "error": "overloaded"}
    reported = of(TurnReported, stop, failed, {"hook_event_name": "StopFailure"}, source=Source.HOOK)
    assert [(r.answer, r.error) for r in reported] == [
        ("Finished.", None), (None, "overloaded"), (None, "unknown error"),
    ]  # fmt: skip


def test_a_message_is_delivered_with_its_id() -> None:
    replay = {"type": "user", "isReplay": True, "uuid": "u-1", "message": {"content": "go"}}
    status = {"type": "system", "subtype": "status", "user_message_uuids": ["u-2"]}
    assert [o.message for o in of(MessageDelivered, INIT, replay, status)] == ["u-1", "u-2"]


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("kind", ["control_request", "sdk_control_request"])
def test_every_request_of_the_client_is_reported(kind: str, inside: bool) -> None:
    def request(**fields: Any) -> dict[str, Any]:
        if inside:
            return {"type": kind, "request": {"request_id": "r", **fields}}
        return {"type": kind, "request_id": "r", "request": fields}

    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    mcp = request(subtype="mcp_message", server_name="calculator", message=message)
    assert of(ControlAsked, INIT, mcp) == [
        ControlAsked("s", "r", "mcp_message", "calculator", message)  # type: ignore[arg-type]  # an id is text
    ]
    new = request(subtype="from_the_future")
    assert [o.subtype for o in of(ControlAsked, INIT, new)] == ["from_the_future"]
    assert of(ControlAsked, INIT, new, source=Source.CONTROL_IN) == []
    callback = request(subtype="hook_callback", input={})
    assert [o.subtype for o in of(ControlAsked, INIT, callback)] == ["hook_callback"]


def test_an_elicitation_is_a_prompt_that_is_answered() -> None:
    schema = {"properties": {"city": {"type": "string"}}}
    fields = {
        "subtype": "elicitation",
        "mcp_server_name": "e",
        "message": "City?",
        "requested_schema": schema,
    }
    asked = {"type": "control_request", "request_id": "r", "request": fields}
    (prompt,) = of(PromptOpened, INIT, asked, asked)
    assert (prompt.tool, prompt.request, len(prompt.input["questions"])) == ("Elicitation", "r", 1)

    def decided(action: str) -> list[str]:
        body = {"subtype": "success", "request_id": "r", "response": {"action": action}}
        response = {"type": "control_response", "response": body}
        return [o.decision for o in of(PromptClosed, INIT, asked, response)]

    assert [decided(action) for action in ("accept", "decline")] == [["allow"], ["deny"]]
    fields.pop("requested_schema")
    assert "questions" not in of(PromptOpened, INIT, asked)[0].input


def test_the_answer_to_a_request_of_ours_is_reported() -> None:
    def response(**body: Any) -> dict[str, Any]:
        return {"type": "control_response", "response": {"request_id": "req_1", **body}}

    done = response(subtype="success", response={"mode": "plan"})
    failed = response(subtype="error", error="invalid request format")
    assert of(ControlReplied, done, failed, response(subtype="error")) == [
        ControlReplied("req_1", {"mode": "plan"}, None),
        ControlReplied("req_1", {}, "invalid request format"),
        ControlReplied("req_1", {}, "refused"),
    ]
    assert of(ControlReplied, done, source=Source.CONTROL_IN) == []


def test_the_cost_of_a_turn_is_that_since_the_last_result() -> None:
    since = {"m": {"costUSD": 0.25}, "n": {"costUSD": 1}, "o": {"costUSD": "x"}, "p": 1}
    result = {"type": "result", "total_cost_usd": 2.0, "model_usage_since_last_result": since}
    (reported,) = of(TurnReported, INIT, result)
    assert (reported.cost, reported.total_cost) == (1.25, 2.0)
    assert of(TurnReported, INIT, {"type": "result"})[0].cost is None


def test_a_transcript_reports_the_cost_of_the_session_when_its_client_exits() -> None:
    lines: list[dict[str, Any]] = [
        {"type": "cost-state", "totalCostUSD": 0.5, "sessionId": "s"},
        {"type": "cost-state"},
    ]
    (reported,) = of(TurnReported, *lines, source=Source.TRANSCRIPT)
    assert (reported.turn, reported.total_cost) == (None, 0.5)


def test_a_stream_with_one_init_begins_a_turn_with_each_message() -> None:
    def says(text: str) -> dict[str, Any]:
        return {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}

    def asks(text: str) -> dict[str, Any]:
        return {"type": "user", "message": {"role": "user", "content": text}}

    first = [asks("one"), INIT, says("First."), {"type": "result"}]
    reported = of(TurnReported, *first, asks("two"), says("Second."), {"type": "result"})
    assert [(one.turn, one.answer, one.reason) for one in reported] == [
        ("1", "First.", "completed"),
        ("2", "Second.", "completed"),
    ]
    silent = of(TurnReported, *first, asks("two"), {"type": "result", "result": "Quietly."})
    assert [(one.turn, one.answer) for one in silent] == [("1", "First."), ("2", "Quietly.")]


@pytest.mark.parametrize("number", [float("inf"), float("nan"), 10**400])
def test_numbers_that_cannot_be_true_are_left_out(number: float) -> None:
    by_model = {"a": {"contextWindow": number, "costUSD": number}, "b": {"contextWindow": 9, "costUSD": 2.5}}
    result = {"type": "result", "modelUsage": by_model, "model_usage_since_last_result": by_model}
    (report,) = of(TurnReported, INIT, result)
    assert (report.window, report.cost) == (9, 2.5)


def test_a_failed_turn_never_names_success_as_its_reason() -> None:
    failed = {"type": "result", "subtype": "success", "is_error": True}
    assert of(TurnReported, INIT, failed)[0].error == "unknown error"
    assert of(TurnReported, INIT, {**failed, "stop_reason": "max_tokens"})[0].error == "max_tokens"


def test_text_is_shown_in_either_form_of_partial_message_and_thinking_never() -> None:
    def piece(kind: str, **event: Any) -> dict[str, Any]:
        return {"type": "stream_event", "event": {"type": kind, "index": 0, **event}}

    thought = [
        piece("content_block_start", content_block={"type": "thinking", "thinking": ""}),
        piece("content_block_delta", delta={"type": "thinking_delta", "thinking": "secret"}),
        piece("content_block_delta", delta={"type": "signature_delta", "signature": "x"}),
        {"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": "secret"}]}},
        piece("content_block_stop"),
    ]
    older = [
        {"type": "stream", "event": "tool_use_start"},
        {"type": "stream", "event": "delta", "text": "Par"},
    ]
    assert [written.text for written in of(TextWritten, INIT, *thought, *older)] == ["Par"]
