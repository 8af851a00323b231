"""Calls and results of one source: opened once, closed once, at the right moment, with the right status."""

from typing import Any

import pytest

from chorus.agents.claude_code.events import Event, Malformed, Unknown
from chorus.agents.claude_code.pairing import Action, Pairing
from chorus.agents.claude_code.pairing.calls import MAX_ORPHANS
from chorus.agents.interface import Source
from chorus.model.action import WriteScope
from chorus.model.ids import SessionId, ToolUseId
from chorus.model.outcomes import (
    ActionClosed,
    BackgroundTaskEnded,
    CallOpened,
    LeadTextAdded,
    Outcome,
    OwnerCorrected,
    PromptClosed,
    PromptOpened,
    StatusCorrected,
    TurnEnded,
    TurnStarted,
)
from tests.agents.event_builders import calls, event_from, init, result, returns, says, system, writes
from tests.agents.recordings import actions_of, fold, run

REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. …)"


def closed(*events: Event) -> list[Action]:
    return [outcome.action for outcome in run(events) if isinstance(outcome, ActionClosed)]


def statuses(*events: Event) -> dict[str, str]:
    return {row.id: row.status for row in actions_of(events).values()}


def kinds(outcomes: list[Outcome]) -> list[type[Outcome]]:
    return [type(outcome) for outcome in outcomes]


def test_a_call_and_its_result_are_one_action() -> None:
    (action,) = closed(
        init(), says("I rename it."), calls("t"), returns("t", timestamp="2026-01-02T03:04:05Z")
    )
    assert (action.id, action.tool, action.status) == ("t", "Edit", "succeeded")
    assert (action.session, action.turn, action.agent) == ("s-1", "1", None)
    assert action.paths == ("/p/a.py",)
    assert action.write_scope is WriteScope.NAMED
    assert (action.lead_text, action.time) == ("I rename it.", "2026-01-02T03:04:05Z")


def test_a_result_may_come_before_the_next_call_of_the_same_message() -> None:
    assert statuses(calls("a"), returns("a"), calls("b"), returns("b")) == dict.fromkeys("ab", "succeeded")


def test_results_of_parallel_calls_come_in_any_order() -> None:
    rows = actions_of([calls("a"), calls("b"), calls("c"), returns("c"), returns("a"), returns("b")])
    assert list(rows) == ["a", "b", "c"]
    assert {row.status for row in rows.values()} == {"succeeded"}


def test_several_blocks_in_one_message_are_several_calls() -> None:
    blocks = [
        {"type": "text", "text": "Both."},
        {"type": "tool_use", "id": "a", "name": "Read", "input": {"file_path": "x"}},
        {"type": "tool_use", "id": "b", "name": "Bash", "input": {"command": "ls"}},
    ]
    results = [
        {"type": "tool_result", "tool_use_id": "b", "content": "ok"},
        {"type": "tool_result", "tool_use_id": "a", "content": "no", "is_error": True},
    ]
    first, second = closed(
        init(),
        event_from(type="assistant", message={"content": blocks}),
        # The report beside several results belongs to none of them.
        event_from(type="user", message={"content": results}, tool_use_result={"filePath": "/elsewhere"}),
    )
    assert (first.id, first.status, first.write_scope, first.lead_text) == (
        "b",
        "succeeded",
        WriteScope.ANYWHERE,
        "Both.",
    )
    assert (second.id, second.status, second.write_scope, second.paths) == (
        "a",
        "failed",
        WriteScope.NOTHING,
        ("/p/x",),
    )


def test_a_result_seen_before_its_call_waits_for_it() -> None:
    outcomes = run([returns("t", error=True, text="no"), returns("t", error=True), calls("t")])
    assert kinds(outcomes)[-2:] == [CallOpened, ActionClosed]
    assert fold(outcomes)["t"].status == "failed"


@pytest.mark.parametrize("is_late", [False, True])
def test_a_call_ended_when_its_result_says_so(is_late: bool) -> None:
    begun = calls("t", timestamp="2026-01-02T03:04:05Z")
    ended = returns("t", timestamp="2026-01-02T03:04:09Z")
    (closing,) = [
        o for o in run([ended, begun] if is_late else [begun, ended]) if isinstance(o, ActionClosed)
    ]
    assert closing.ended == "2026-01-02T03:04:09Z"
    assert [outcome.ended for outcome in run([begun]) if isinstance(outcome, ActionClosed)] == [None]


def test_a_result_without_a_call_is_counted_as_a_problem() -> None:
    pairing = Pairing()
    assert closed() == []
    run([returns(f"t{number}") for number in range(MAX_ORPHANS + 5)], pairing)
    assert pairing.problems["result-without-call"] == MAX_ORPHANS


def test_calls_and_results_without_an_id_are_counted() -> None:
    pairing = Pairing()
    run(
        [
            event_from(type="assistant", message={"content": [{"type": "tool_use", "name": "Edit"}]}),
            event_from(type="user", message={"content": [{"type": "tool_result"}]}),
        ],
        pairing,
    )
    assert pairing.problems == {"call-without-id": 1, "result-without-id": 1}


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("String to replace not found in file.", "failed"),
        ("<tool_use_error>Error: No such tool available: MultiEdit</tool_use_error>", "failed"),
        ("Exit code 3", "failed"),
        (None, "failed"),
        ([{"type": "image"}, {"type": "text", "text": "Exit code 3"}], "failed"),
        ([7, {"type": "image"}], "failed"),
        ("Claude requested permissions to write to /p/a.py, but you haven't granted it yet.", "denied"),
        ([{"type": "text", "text": "Claude requested permissions to use X, but …"}], "denied"),
        (
            "Permission to use Edit has been denied because Claude Code is in don't ask mode.",
            "denied",
        ),
        ("Permission to read /etc/x has been denied.", "denied"),
        (
            "<tool_use_error>File is in a directory that is denied by your permission settings."
            "</tool_use_error>",
            "denied",
        ),
        ("Permission for this action has been denied. Reason: x", "denied"),
        ("Cannot write to /p/new.py while in plan mode.", "denied"),
        ("rm in '/p/b.py' was blocked. For security, Claude Code may only remove files from …", "denied"),
        ("This command requires approval", "denied"),
        ("This Bash command contains multiple operations. The following parts require approval: x", "denied"),
        ("Tool permission request failed: Error: Tool permission stream closed", "failed"),
        ("Auto mode is unavailable: its safety check does not run for this session", "failed"),
        ("PreToolUse:Edit hook error: house rule", "denied"),
        ("Answer questions?", "denied"),
        (REJECTED, "denied"),
        ("The user doesn't want to take this action right now. STOP what you are doing", "denied"),
        ("[Request interrupted by user for tool use]", "denied"),
    ],
)
def test_the_text_of_a_result_tells_a_denial_from_a_failure(text: Any, status: str) -> None:
    assert statuses(calls("t"), returns("t", text, error=True)) == {"t": status}


def test_a_result_with_a_denial_closes_its_call_before_the_turn_ends() -> None:
    denial = "Claude requested permissions to write to /p/a.py, but you haven't granted it yet."
    pairing = Pairing()
    pairing.feed(calls("t", source=Source.TRANSCRIPT))
    (closed_now,) = pairing.feed(returns("t", denial, error=True, source=Source.TRANSCRIPT))
    assert isinstance(closed_now, ActionClosed)
    assert closed_now.action.status == "denied"


def test_the_text_of_a_denial_in_a_successful_result_is_ignored() -> None:
    assert statuses(calls("t"), returns("t", "This command requires approval")) == {"t": "succeeded"}


def test_a_denial_listed_at_the_end_corrects_the_status() -> None:
    outcomes = run([init(), calls("t"), returns("t", "No, says the panel", error=True), result("t")])
    assert [outcome for outcome in outcomes if isinstance(outcome, StatusCorrected)] == [
        StatusCorrected("t", "denied", "failed", "s-1")  # type: ignore[arg-type]  # plain text for an id
    ]


def test_the_event_of_a_denial_comes_before_the_result() -> None:
    denial = system("permission_denied", tool_name="Edit", tool_use_id="t", message="no")
    (action,) = closed(calls("t"), denial, returns("t", "house rule", error=True))
    assert action.status == "denied"
    assert closed(system("permission_denied", tool_name="Edit")) == []


def test_a_denial_without_an_id_belongs_to_the_one_open_call_that_fits() -> None:
    denial = system("permission_denied", tool_name="Edit")
    ends = [returns(name, "house rule", error=True) for name in ("e", "w")]
    open_calls = [init(), calls("e"), calls("w", "Write")]
    assert statuses(*open_calls, denial, *ends) == {"e": "denied", "w": "failed"}
    both = [init(), calls("e"), calls("w")]
    assert statuses(*both, denial, *ends) == {"e": "failed", "w": "failed"}
    # The first of two denials is that of the only call; the second finds none.
    assert statuses(init(), calls("e"), denial, denial, calls("w"), *ends) == {"e": "denied", "w": "failed"}


@pytest.mark.parametrize(
    ("meta", "status"),
    [
        ([{"id": "t", "permission_decision": {"decision": "reject", "source": "hook"}}], "denied"),
        ([{"id": "t", "non_execution_kind": "permission-rule"}], "denied"),
        ([{"id": "t", "non_execution_kind": "interrupted"}], "unfinished"),
        ([{"id": "t", "non_execution_kind": "cancelled"}], "failed"),
        ([{"id": "other", "non_execution_kind": "permission-rule"}, "x"], "failed"),
        ([{"id": "t", "permission_decision": {"decision": "accept"}}], "failed"),
        ([{"id": "t", "permission_decision": 7, "non_execution_kind": 7}], "failed"),
        ("garbage", "failed"),
    ],
)
def test_newer_clients_put_the_kind_of_denial_beside_the_result(meta: Any, status: str) -> None:
    events = [calls("t"), returns("t", "some reason", error=True, tool_result_meta=meta)]
    assert statuses(*events) == {"t": status}


def test_a_transcript_has_its_own_keys_for_a_denial() -> None:
    for more in ({"toolDenialKind": "permission-rule"}, {"permissionDecision": {"decision": "reject"}}):
        events = [
            calls("t", source=Source.TRANSCRIPT),
            returns("t", "reason", error=True, source=Source.TRANSCRIPT, **more),
        ]
        assert statuses(*events) == {"t": "denied"}


def test_an_interrupted_command_is_unfinished_not_denied() -> None:
    """Both have the same text, but only a denial is among the turn's denials."""
    refused = [init(), calls("t", "Bash"), returns("t", REJECTED, error=True), result("t")]
    stopped = [init(), calls("t", "Bash"), returns("t", REJECTED, error=True), result()]
    silent = [init(), calls("t", "Bash"), returns("t", REJECTED, error=True), result(permission_denials=None)]
    assert statuses(*refused) == {"t": "denied"}
    assert statuses(*stopped) == {"t": "unfinished"}
    assert statuses(*silent) == {"t": "denied"}


def test_open_calls_are_closed_with_their_turn() -> None:
    outcomes = run([init(), calls("t"), result(), init(uuid="u-2")])
    assert kinds(outcomes)[3:5] == [ActionClosed, TurnEnded]
    assert fold(outcomes)["t"].status == "unfinished"


def test_a_denied_call_without_a_result_is_closed_as_denied() -> None:
    assert statuses(init(), calls("t"), result("t")) == {"t": "denied"}


def test_a_new_turn_closes_the_killed_one_and_its_calls() -> None:
    outcomes = run([init(), calls("t"), init()])
    assert [outcome.action.status for outcome in outcomes if isinstance(outcome, ActionClosed)] == [
        "unfinished"
    ]
    assert kinds(outcomes)[-3:] == [ActionClosed, TurnEnded, TurnStarted]
    assert [outcome.error for outcome in outcomes if isinstance(outcome, TurnEnded)] == [
        "no result before the next turn"
    ]


def test_the_end_of_input_closes_open_calls() -> None:
    pairing = Pairing()
    pairing.feed(calls("a"))
    pairing.feed(calls("b", session_id="s-2"))
    (closing,) = pairing.close("s-2")  # type: ignore[arg-type]  # plain text for an id
    assert isinstance(closing, ActionClosed)
    assert closing.action.id == "b"
    assert kinds(pairing.close()) == [ActionClosed]
    assert pairing.close() == []


def test_a_late_result_corrects_an_unfinished_call() -> None:
    pairing = Pairing()
    first = run([init(), calls("t")], pairing)
    later = pairing.feed(returns("t"))
    assert later == [StatusCorrected("t", "succeeded", "unfinished", "s-1")]  # type: ignore[arg-type]  # plain text for an id
    assert fold([*first, *later])["t"].status == "succeeded"


def test_repeated_events_have_no_second_outcome() -> None:
    events = [init(uuid="u-1"), calls("t", uuid="u-2"), returns("t", uuid="u-3"), result(uuid="u-4")]
    pairing = Pairing()
    run(events, pairing)
    assert run(events, pairing) == []


def test_open_calls_are_never_dropped() -> None:
    many = [f"t{number}" for number in range(3000)]
    rows = actions_of([*(calls(call, "Bash") for call in many), *(returns(call) for call in reversed(many))])
    assert list(rows) == many
    assert {row.status for row in rows.values()} == {"succeeded"}


def test_the_lead_text_of_a_call_is_that_of_its_message() -> None:
    events = [
        init(),
        says("Two at once."),
        calls("a", message="m-1"),
        says("   "),
        returns("a"),
        calls("b", message="m-1"),
        returns("b"),
        calls("c", message="m-2"),
        returns("c"),
        says("API Error", error="server_error"),
        calls("d"),
        returns("d"),
    ]
    found = {row.id: row.lead_text for row in actions_of(events).values()}
    assert found == {"a": "Two at once.", "b": None, "c": None, "d": None}


def test_the_lead_text_of_a_message_holds_even_after_a_result() -> None:
    events = [
        init(),
        says("Two.", message="m-1"),
        calls("a", message="m-1"),
        returns("a"),
        calls("b", message="m-1"),
        returns("b"),
    ]
    assert [row.lead_text for row in actions_of(events).values()] == ["Two.", "Two."]


def test_lead_text_of_the_turn_before_is_not_used() -> None:
    events = [init(), says("All done."), result(), init(), calls("t"), returns("t")]
    assert actions_of(events)["t"].lead_text is None


def test_the_last_text_of_a_turn_leads_no_call_even_if_the_next_message_comes_late() -> None:
    done = [{"type": "text", "text": "All done."}]
    message = {"content": done, "id": "m1", "stop_reason": "end_turn"}
    events = [
        event_from(Source.TRANSCRIPT, type="assistant", sessionId="s-1", message=message),
        calls("t", source=Source.TRANSCRIPT, message="m2"),
        writes("Next.", source=Source.TRANSCRIPT, promptId="p2"),
        returns("t", source=Source.TRANSCRIPT),
    ]
    assert actions_of(events)["t"].lead_text is None


def test_text_in_several_events_is_joined() -> None:
    events = [
        event_from(type="session_start", session_id="s-1"),
        event_from(type="text", text="I'll update "),
        event_from(type="text", text="it."),
        event_from(type="tool_use", id="t", toolName="Edit", toolInput={"file_path": "a.py"}),
        event_from(type="tool_result", toolUseId="t", isError=False, content="ok"),
        event_from(type="text", text="Done."),
        event_from(type="tool_use", id="u", toolName="Edit", toolInput={}),
        event_from(type="tool_result", toolUseId="u", isError=True, content="no"),
    ]
    first, second = closed(*events)
    assert (first.lead_text, first.status, first.session) == ("I'll update it.", "succeeded", "s-1")
    assert (second.lead_text, second.status) == ("Done.", "failed")


def test_a_message_of_plain_text_is_read_too() -> None:
    events = [event_from(type="assistant", message={"content": "Plain."}), calls("t"), returns("t")]
    assert actions_of(events)["t"].lead_text == "Plain."


def test_the_tools_own_report_names_what_was_written() -> None:
    response: dict[str, Any] = {
        "type": "create",
        "filePath": "/p/other.py",
        "content": "C=1\n",
        "structuredPatch": [],
        "originalFile": None,
    }
    (action,) = closed(
        init(), calls("t", "Write", input={"file_path": "/p/new.py"}), returns("t", tool_use_result=response)
    )
    assert action.paths == ("/p/other.py",)
    assert action.report is not None
    assert action.report.files[0].created


def test_a_malformed_report_is_counted() -> None:
    pairing = Pairing()
    outcomes = run(
        [init(), calls("t"), returns("t", tool_use_result={"filePath": "/p/a.py", "structuredPatch": 7})],
        pairing,
    )
    assert fold(outcomes)["t"].status == "succeeded"
    assert pairing.problems == {"malformed-report": 1}


def test_late_lead_text_is_added_once() -> None:
    pairing = Pairing()
    run([init(), calls("t"), returns("t")], pairing)
    later = [
        event_from(
            Source.TRANSCRIPT,
            type="assistant",
            session_id="s-1",
            message={"content": [{"type": "text", "text": "I rename it."}], "id": "m"},
        ),
        calls("t", message="m", source=Source.TRANSCRIPT),
    ]
    found = [outcome for event in [*later, *later] for outcome in pairing.feed(event)]
    assert found == [LeadTextAdded(ToolUseId("t"), "I rename it.", SessionId("s-1"))]


def test_known_lead_text_is_not_added_again() -> None:
    pairing = Pairing()
    run([init(), says("I rename it.", message="m"), calls("t", message="m"), returns("t")], pairing)
    assert pairing.feed(calls("t", message="m")) == []


def test_a_background_command_is_recognized_by_its_report() -> None:
    response = {"stdout": "", "backgroundTaskId": "b1"}
    outcomes = run(
        [init(), calls("t", "Bash", input={"command": "x"}), returns("t", tool_use_result=response)]
    )
    closed = [outcome.action for outcome in outcomes if isinstance(outcome, ActionClosed)]
    assert [action.background for action in closed] == [True]


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("<tool_use_error>Not found in file.\nString: x</tool_use_error>", "Not found in file."),
        ("Error: No such tool available: X", "No such tool available: X"),
        ("Exit code 3\nboom", "Exit code 3"),
        ("", None),
    ],
)
def test_a_failed_action_has_the_first_line_of_its_error(text: str, failure: str | None) -> None:
    outcomes = run([init(), calls("t"), returns("t", text, error=True)])
    closed = [outcome.action for outcome in outcomes if isinstance(outcome, ActionClosed)]
    assert [(action.status, action.failure) for action in closed] == [("failed", failure)]


def test_unknown_and_malformed_events_and_blocks_are_counted() -> None:
    pairing = Pairing()
    strange = [{"type": "new"}, {"type": "tool_use", "id": 7, "name": "Edit"}, 7]
    run(
        [
            Unknown("new-type", Source.STREAM),
            Malformed("user", "no message", Source.STREAM),
            event_from(type="assistant", message={"content": strange}),
            event_from(type="user", message={"content": strange[:1]}),
            *(Unknown(f"kind-{number}", Source.STREAM) for number in range(1200)),
        ],
        pairing,
    )
    assert pairing.unknown["new-type"] == pairing.unknown["assistant/new"] == pairing.unknown["user/new"] == 1
    assert pairing.problems == {
        "malformed:user": 1,
        "malformed:assistant/tool_use": 1,
        "malformed:assistant/block": 1,
    }
    assert len(pairing.unknown) <= 1001
    assert pairing.unknown["other"] > 0


def test_the_calls_of_a_sub_agent_have_its_id() -> None:
    started = system("task_started", task_id="g-1", tool_use_id="A", task_type="local_agent")
    events = [
        init(),
        calls("A", "Agent", input={"prompt": "x"}),
        started,
        started,
        writes([{"type": "text", "text": "do it"}], parent_tool_use_id="A"),
        calls("t", parent_tool_use_id="A"),
        returns("t", parent_tool_use_id="A"),
        returns("A", tool_use_result={"agentId": "g-1"}),
    ]
    rows = actions_of(events)
    assert (rows["A"].agent, rows["t"].agent, rows["t"].turn) == (None, "g-1", "1")


def test_a_sub_agent_is_named_by_its_call_until_its_id_is_known() -> None:
    events = [
        calls("A", "Agent"),
        calls("t", parent_tool_use_id="A"),
        calls("u", parent_tool_use_id="A"),
        returns("t"),
    ]
    pairing = Pairing()
    outcomes = [outcome for event in events for outcome in pairing.feed(event)]
    assert fold(outcomes)["t"].agent == "A"
    later = pairing.feed(returns("A", tool_use_result={"agentId": "g-1"}))
    assert OwnerCorrected("t", "s-1", "1", "g-1") in later  # type: ignore[arg-type]  # plain text for an id
    assert fold([*outcomes, *later, *pairing.feed(returns("u"))])["u"].agent == "g-1"


def test_a_background_sub_agent_outlives_the_turn_that_started_it() -> None:
    events = [
        init(),
        writes("first", isReplay=True),
        calls("A", "Agent"),
        system("task_started", task_id="g-1", tool_use_id="A", task_type="local_agent"),
        returns("A", tool_use_result={"agentId": "g-1", "status": "async_launched"}),
        calls("t", parent_tool_use_id="A", agent_id="g-1"),
        result(),
        init(),
        writes("second", isReplay=True),
        returns("t", parent_tool_use_id="A", agent_id="g-1"),
        calls("u", parent_tool_use_id="A", agent_id="g-1"),
        system("task_updated", task_id="g-1", patch={"status": "running"}),
        system("task_updated", task_id="g-1", patch={"status": "killed"}),
        system("task_notification", task_id="g-1", tool_use_id="A", status="killed", timestamp="T"),
        system("task_notification", task_id="g-1", tool_use_id="A", status="killed"),
    ]
    outcomes = run(events)
    rows = fold(outcomes)
    assert (rows["t"].status, rows["t"].turn, rows["t"].message) == ("succeeded", "1", "first")
    assert (rows["u"].status, rows["u"].turn) == ("unfinished", "1")
    assert [outcome for outcome in outcomes if isinstance(outcome, BackgroundTaskEnded)] == [
        BackgroundTaskEnded("s-1", "A", "g-1", "T")  # type: ignore[arg-type]  # plain text for an id
    ]


def test_the_end_of_a_foreground_task_is_not_a_background_end() -> None:
    events = [
        calls("A", "Agent"),
        system("task_notification", task_id="g-1", tool_use_id="A"),
        returns("A"),
        system("task_started", task_id="b-1", tool_use_id="B", task_type="local_bash"),
        system("task_started", task_id="g-2", task_type="local_agent"),
    ]
    assert [outcome for outcome in run(events) if isinstance(outcome, BackgroundTaskEnded)] == []


def test_the_side_chain_of_an_old_transcript_is_a_sub_agent() -> None:
    events = [calls("t", source=Source.TRANSCRIPT, isSidechain=True), returns("t", source=Source.TRANSCRIPT)]
    assert actions_of(events)["t"].agent == "sidechain"


def test_the_result_of_another_tool_names_no_agent() -> None:
    events = [
        calls("t", "Bash"),
        returns("t", tool_use_result={"agentId": "g-1"}),
        calls("A", "Agent"),
        returns("A", tool_use_result={"agentId": 7}),
    ]
    assert {row.agent for row in actions_of(events).values()} == {None}


def asks(call: str | None = "t", request: str | None = "r", **more: Any) -> Event:
    inner = {"subtype": "can_use_tool", "tool_name": "Write", "input": {"file_path": "/p/n.py"}, **more}
    if call:
        inner["tool_use_id"] = call
    value = {"type": "control_request", "request": inner}
    return event_from(Source.CONTROL_OUT, **(value | {"request_id": request} if request else value))


def answers(request: str = "r", **payload: Any) -> Event:
    inner = {"subtype": "success", "request_id": request, "response": payload}
    return event_from(Source.CONTROL_IN, type="control_response", response=inner)


def test_a_control_request_and_its_response_open_and_close_a_prompt() -> None:
    question = asks(permission_suggestions=[{"type": "setMode"}, 7], description="n.py", agent_id="g-1")
    outcomes = run(
        [init(), question, question, answers(behavior="deny", message="no"), returns("t", "no", error=True)]
    )
    (prompt,) = [outcome for outcome in outcomes if isinstance(outcome, PromptOpened)]
    assert (prompt.session, prompt.id, prompt.tool, prompt.request) == ("s-1", "t", "Write", "r")
    assert (prompt.text, prompt.suggestions, prompt.agent) == ("n.py", ({"type": "setMode"},), "g-1")
    assert PromptClosed("s-1", "t", "r", "deny") in outcomes  # type: ignore[arg-type]  # plain text for an id
    assert fold(outcomes)["t"].status == "denied"


def test_an_input_changed_by_the_response_is_the_one_that_ran() -> None:
    changed = {"file_path": "/p/other.py"}
    (action,) = closed(init(), asks(), answers(behavior="allow", updatedInput=changed), returns("t"))
    assert (action.input, action.paths) == (changed, ("/p/other.py",))


def test_a_response_without_a_request_is_ignored() -> None:
    events = [
        answers("unasked", behavior="deny"),
        asks(),
        event_from(
            Source.CONTROL_IN,
            type="control_response",
            response={"subtype": "error", "request_id": "r", "error": "x"},
        ),
        asks(request="r2"),
        answers("r2", neither="allow nor deny"),
        asks(call=None, request=None),
        event_from(Source.CONTROL_IN, type="control_response", response={"subtype": "success"}),
        asks(call=None, request="r3"),
        answers("r3", behavior="allow"),
        returns("t"),
    ]
    outcomes = run(events)
    assert fold(outcomes)["t"].status == "succeeded"
    assert [outcome for outcome in outcomes if isinstance(outcome, PromptClosed)] == [
        PromptClosed(None, None, "r3", "allow")
    ]


def test_a_withdrawn_request_closes_its_prompt_and_a_late_denial_is_ignored() -> None:
    cancel = event_from(Source.CONTROL_OUT, type="control_cancel_request", request_id="r")
    outcomes = run([init(), asks(), cancel, cancel, answers(behavior="deny"), returns("t")])
    assert PromptClosed("s-1", "t", "r", "cancelled") in outcomes  # type: ignore[arg-type]  # plain text for an id
    assert fold(outcomes)["t"].status == "succeeded"


def callback(name: str, request: str | None = "h", **more: Any) -> Event:
    given = {
        "hook_event_name": name,
        "session_id": "s-1",
        "prompt_id": "p-1",
        "tool_name": "Edit",
        "tool_input": {},
    }
    inner = {"subtype": "hook_callback", "callback_id": "hook_0", "input": given | more, "tool_use_id": "t"}
    value = {"type": "control_request", "request": inner}
    return event_from(Source.CONTROL_OUT, **(value | {"request_id": request} if request else value))


def test_a_hook_callback_can_deny_a_call_before_it_runs() -> None:
    permission_request = callback("PreToolUse", tool_use_id="t")
    no = answers("h", hookSpecificOutput={"permissionDecision": "deny"})
    assert statuses(init(), permission_request, no, returns("t", "house rule", error=True)) == {"t": "denied"}


def test_a_hook_callback_can_deny_a_call_with_odd_fields_in_its_output() -> None:
    no = answers("h", session_id=5, hookSpecificOutput={"permissionDecision": "deny"})
    events = [init(), callback("PreToolUse", tool_use_id="t"), no, returns("t", "house rule", error=True)]
    assert statuses(*events) == {"t": "denied"}


def test_a_hook_callback_after_a_call_cannot_deny_it() -> None:
    permission_request = callback("PostToolUse", tool_use_id="t")
    assert statuses(init(), calls("t"), permission_request, answers("h", decision="block")) == {
        "t": "succeeded"
    }


def test_a_hook_callback_may_change_the_input() -> None:
    permission_request = callback("PreToolUse", tool_use_id="t")
    changed = {"permissionDecision": "allow", "updatedInput": {"file_path": "/p/z.py"}}
    (action,) = closed(init(), permission_request, answers("h", hookSpecificOutput=changed), returns("t"))
    assert action.paths == ("/p/z.py",)


def test_a_hook_callback_without_a_decision_leaves_the_call_open() -> None:
    permission_request = [callback("PreToolUse", request=None, tool_use_id="t"), callback("PreToolUse")]
    assert statuses(init(), *permission_request, answers("h", **{"continue": True})) == {"t": "unfinished"}
    cancel = event_from(Source.CONTROL_OUT, type="control_cancel_request", request_id="h")
    assert PromptClosed not in kinds(run([init(), *permission_request, cancel]))


def test_a_permission_request_in_plain_text_opens_a_prompt() -> None:
    (prompt,) = run([event_from(type="permission_request", prompt="Allow?")])
    assert isinstance(prompt, PromptOpened)
    assert (prompt.text, prompt.id, prompt.tool) == ("Allow?", None, None)


def test_other_control_messages_have_no_outcome() -> None:
    assert run([event_from(type="control_request", request_id="r", request={"subtype": "interrupt"})]) == []
    assert run([event_from(type="stream_event", event={"type": "message_stop"})]) == []


def test_only_the_newest_finished_calls_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorus.agents.claude_code.pairing.calls.MAX_FINISHED", 2)
    pairing = Pairing()
    for call in ("a", "b", "c"):
        run([calls(call), returns(call)], pairing)
    assert run([returns("c"), returns("b")], pairing) == []
    # Of an older one, that it is over is remembered longer.
    assert run([calls("a"), returns("a")], pairing) == []


def test_the_oldest_finished_calls_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorus.agents.claude_code.pairing.calls.MAX_FINISHED", 1)
    monkeypatch.setattr("chorus.agents.claude_code.pairing.calls.MAX_PAST", 1)
    pairing = Pairing()
    for call in ("a", "b", "c"):
        run([calls(call), returns(call)], pairing)
    assert run([calls("b"), returns("b")], pairing) == []
    assert kinds(run([calls("a"), returns("a")], pairing)) == [CallOpened, ActionClosed]
