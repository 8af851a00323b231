"""What hooks say of calls, alone and beside other sources."""

import pytest

from chorus.agents.claude_code.events import Event
from chorus.agents.claude_code.pairing import Pairing
from chorus.agents.interface import Source
from chorus.model.ids import SessionId
from chorus.model.outcomes import (
    ActionClosed,
    BackgroundTaskEnded,
    Outcome,
    PromptClosed,
    PromptOpened,
    SessionEnded,
    SessionLinked,
    TurnEnded,
    TurnStarted,
)
from tests.agents.event_builders import (
    INPUT,
    batch,
    calls,
    hook_event,
    init,
    permission_request,
    post,
    pre,
    prompt_submitted,
    result,
    returns,
    writes,
)
from tests.agents.recordings import actions_of, fold, run

REJECTED = "The user doesn't want to proceed with this tool use. …"
TASK_END = "<task-notification>\n<task-id>b-1</task-id>\n<tool-use-id>t</tool-use-id>\n</task-notification>"


def statuses(*events: Event) -> dict[str, str]:
    return {row.id: row.status for row in actions_of(events).values()}


def of_kind(kind: type[Outcome], outcomes: list[Outcome]) -> list[Outcome]:
    return [outcome for outcome in outcomes if isinstance(outcome, kind)]


@pytest.mark.parametrize(
    ("action", "decision"),
    [("accept", "allow"), ("decline", "deny"), ("cancel", "cancelled"), (7, "cancelled")],
)
def test_a_form_opens_with_its_questions_and_closes_with_the_users_decision(
    action: object, decision: str
) -> None:
    schema = {"properties": {"city": {"type": "string", "description": "Which city?"}}}
    asked = hook_event(
        "Elicitation", mcp_server_name="maps", message="I need a city.", requested_schema=schema
    )
    (opened,) = of_kind(PromptOpened, run([asked]))
    assert isinstance(opened, PromptOpened)
    assert (opened.tool, opened.request, opened.text) == ("Elicitation", None, "I need a city.")
    assert (opened.input["server"], opened.input["schema"]) == ("maps", schema)
    assert [question["question"] for question in opened.input["questions"]] == ["Which city?"]
    (closed,) = of_kind(PromptClosed, run([hook_event("ElicitationResult", action=action)]))
    assert isinstance(closed, PromptClosed)
    assert (closed.session, closed.id, closed.request, closed.decision) == (
        opened.session,
        None,
        None,
        decision,
    )


def test_a_call_opens_before_it_runs_and_closes_after() -> None:
    rows = actions_of(
        [
            prompt_submitted("go"),
            pre("t"),
            post("t", tool_response={"filePath": "/p/a.py", "originalFile": ""}),
        ]
    )
    row = rows["t"]
    assert (row.status, row.turn, row.message, row.reported) == ("succeeded", "p-1", "go", True)


def test_a_call_seen_only_at_its_end_is_opened_and_closed() -> None:
    assert statuses(post("t")) == {"t": "succeeded"}
    failed = hook_event(
        "PostToolUseFailure", tool_name="Bash", tool_input={}, tool_use_id="u", error="Exit code 3"
    )
    assert statuses(failed) == {"u": "failed"}
    stopped = hook_event(
        "PostToolUseFailure", tool_name="Bash", tool_use_id="v", error="x", is_interrupt=True
    )
    assert statuses(stopped) == {"v": "unfinished"}


def test_hook_events_without_a_call_id_are_counted() -> None:
    pairing = Pairing()
    failed = hook_event("PostToolUseFailure", tool_name="Bash", error="x")
    assert actions_of([pre(None), post(None), failed]) == {}
    run([pre(None), batch(("", "text"))], pairing)
    assert pairing.problems == {"call-without-id": 2}


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("<tool_use_error>String to replace not found in file.</tool_use_error>", "failed"),
        ("Claude requested permissions to write to /p/a.py, but …", "denied"),
        ("The file /p/a.py has been updated successfully.", "succeeded"),
    ],
)
def test_a_batch_shows_calls_that_fired_no_hook(text: str, status: str) -> None:
    assert statuses(batch(("t", text))) == {"t": status}


def test_a_call_with_only_a_pre_tool_use_hook_was_denied() -> None:
    assert statuses(pre("t"), batch(("t", "No, says the panel"))) == {"t": "denied"}


def test_a_late_hook_corrects_the_batch() -> None:
    assert statuses(pre("t"), batch(("t", "fine")), post("t")) == {"t": "succeeded"}


def test_a_permission_request_is_about_the_call_just_before() -> None:
    outcomes = run(
        [
            pre("a"),
            post("a"),
            pre("b"),
            permission_request(permission_suggestions=[{"type": "setMode"}]),
            permission_request(),
        ]
    )
    (prompt,) = of_kind(PromptOpened, outcomes)
    assert isinstance(prompt, PromptOpened)
    assert (prompt.id, prompt.tool, prompt.suggestions) == ("b", "Edit", ({"type": "setMode"},))


def test_a_permission_request_with_changed_input_is_about_the_newest_unasked_call() -> None:
    changed = {"file_path": "/p/changed.py"}
    events = [
        pre("a"),
        pre("b", tool_input={"file_path": "/p/b.py"}),
        permission_request(),
        permission_request(tool_input=changed),
    ]
    prompts = of_kind(PromptOpened, run(events))
    assert [getattr(prompt, "id", None) for prompt in prompts] == ["a", "b"]
    unnamed = of_kind(
        PromptOpened, run([pre("a"), permission_request(), permission_request(tool_input=changed)])
    )
    assert [getattr(prompt, "id", None) for prompt in unnamed] == ["a", None]


def test_a_permission_request_may_name_its_call() -> None:
    (prompt,) = of_kind(PromptOpened, run([permission_request(tool_use_id="t")]))
    assert isinstance(prompt, PromptOpened)
    assert prompt.id == "t"


def test_a_prompt_left_open_by_a_new_message_was_denied() -> None:
    events = [prompt_submitted("go"), pre("t"), permission_request()]
    assert statuses(*events, prompt_submitted("next", "p-2")) == {"t": "denied"}
    assert statuses(*events, hook_event("Stop")) == {"t": "denied"}
    assert statuses(*events, hook_event("SessionEnd", reason="prompt_input_exit")) == {"t": "denied"}


def test_a_prompt_left_open_by_a_killed_client_was_not_answered() -> None:
    events = [prompt_submitted("go"), pre("t"), permission_request()]
    assert statuses(*events) == {"t": "unfinished"}
    outcomes = run([*events, hook_event("SessionStart", source="resume", prompt_id=None)])
    assert fold(outcomes)["t"].status == "unfinished"
    assert SessionLinked("s-1", "s-1", "resume") in outcomes  # type: ignore[arg-type]  # plain text for an id


LOST = "[Tool call interrupted: the session ended before this call's result was recorded, so its outcome …]"


def closed(outcomes: list[Outcome]) -> list[tuple[str, str]]:
    return [(o.action.id, o.action.status) for o in outcomes if isinstance(o, ActionClosed)]


def test_a_client_ends_no_calls_of_another_client_in_the_same_session() -> None:
    pairing, shared = Pairing(), {SessionId("s-1")}
    pairing.set_shared_sessions(shared)
    pairing.feed(prompt_submitted("go"), client="1:1")
    pairing.feed(pre("t"), client="1:1")
    fed = pairing.feed(calls("t", source=Source.TRANSCRIPT))
    fed += pairing.feed(
        returns("t", LOST, error=True, source=Source.TRANSCRIPT, toolDenialKind="interrupted")
    )
    fed += pairing.feed(hook_event("SessionStart", source="resume", prompt_id=None), client="2:2")
    fed += pairing.feed(prompt_submitted("next", "p-2"), client="2:2")
    fed += pairing.feed(writes("next", source=Source.TRANSCRIPT, promptId="p-2"))
    fed += pairing.feed(hook_event("SessionEnd", reason="other"), client="2:2")
    assert closed(fed) == []
    assert closed(pairing.feed(post("t"), client="1:1")) == [("t", "succeeded")]
    pairing.feed(pre("u"), client="1:1")
    assert closed(pairing.feed(prompt_submitted("third", "p-3"), client="1:1")) == [("u", "unfinished")]
    pairing.feed(pre("v"), client="1:1")
    shared.clear()
    assert closed(pairing.feed(prompt_submitted("fourth", "p-4"), client="3:3")) == [("v", "unfinished")]


def test_a_client_that_was_killed_ends_its_own_calls_and_the_last_one_ends_all() -> None:
    pairing, session = Pairing(), SessionId("s-1")
    pairing.feed(pre("t"), client="1:1")
    pairing.feed(pre("u"), client="2:2")
    assert closed(pairing.close_client(session, "1:1")) == [("t", "unfinished")]
    assert closed(pairing.close(session)) == [("u", "unfinished")]


def test_a_call_without_a_prompt_and_without_an_end_is_unfinished() -> None:
    assert statuses(prompt_submitted("go"), pre("t"), prompt_submitted("next", "p-2")) == {"t": "unfinished"}


def test_a_repeated_message_closes_no_calls() -> None:
    outcomes = run([prompt_submitted("go"), pre("t"), prompt_submitted("go"), post("t")])
    assert [o.action.status for o in outcomes if isinstance(o, ActionClosed)] == ["succeeded"]
    assert len(of_kind(TurnStarted, outcomes)) == 1


def test_the_end_of_an_old_turn_closes_no_calls_of_the_new_one() -> None:
    events = [
        prompt_submitted("go"),
        prompt_submitted("next", "p-2"),
        pre("t", prompt_id="p-2"),
        hook_event("Stop"),
        post("t", prompt_id="p-2"),
    ]
    outcomes = run(events)
    assert [type(outcome) for outcome in outcomes][-2:] == [TurnEnded, ActionClosed]
    assert fold(outcomes)["t"].status == "succeeded"


def test_the_end_of_the_main_agents_turn_leaves_sub_agents_alone() -> None:
    events = [prompt_submitted("go"), pre("t", agent_id="g-1"), hook_event("Stop"), post("t", agent_id="g-1")]
    outcomes = run(events)
    (closing,) = of_kind(ActionClosed, outcomes)
    assert isinstance(closing, ActionClosed)
    assert (closing.action.status, closing.action.agent) == ("succeeded", "g-1")


def test_the_end_of_a_sub_agent_closes_only_its_own_calls() -> None:
    events = [
        pre("t", agent_id="g-1"),
        pre("u"),
        hook_event("SubagentStop", agent_id="g-1"),
        hook_event("SubagentStop"),
    ]
    pairing = Pairing()
    outcomes = [outcome for event in events for outcome in pairing.feed(event)]
    assert [row.status for row in fold(outcomes).values()] == ["unfinished", "open"]


def test_the_end_of_a_session_is_an_outcome() -> None:
    outcomes = run([pre("t"), pre("u", agent_id="g-1"), hook_event("SessionEnd", reason="other")])
    assert SessionEnded("s-1", "other") in outcomes  # type: ignore[arg-type]  # plain text for an id
    assert len(of_kind(ActionClosed, outcomes)) == 2


def test_a_hook_without_a_session_ends_no_session() -> None:
    assert of_kind(SessionEnded, run([hook_event("SessionEnd", session="", reason="clear")])) == []


def test_a_permission_denied_hook_denies_the_call() -> None:
    denied = hook_event("PermissionDenied", tool_name="Edit", tool_use_id="t")
    assert statuses(pre("t"), denied, batch(("t", "automatic"))) == {"t": "denied"}
    assert run([hook_event("PermissionDenied", tool_name="Edit")])[1:] == []
    unnamed = hook_event("PermissionDenied", tool_name="Edit")
    assert statuses(pre("t"), unnamed, batch(("t", "automatic"))) == {"t": "denied"}


def test_a_turn_started_by_a_background_task_is_still_the_same_turn() -> None:
    events = [
        prompt_submitted("go"),
        pre("t", "Bash"),
        post("t", "Bash"),
        prompt_submitted(TASK_END, "p-2"),
        pre("u", prompt_id="p-2"),
    ]
    outcomes = run(
        [*events, prompt_submitted(TASK_END, "p-2"), prompt_submitted("<task-notification>empty", "p-3")]
    )
    assert BackgroundTaskEnded("s-1", "t", "b-1") in outcomes  # type: ignore[arg-type]  # plain text for an id
    assert len(of_kind(BackgroundTaskEnded, outcomes)) == 1
    assert (fold(outcomes)["u"].turn, fold(outcomes)["u"].message) == ("p-1", "go")


def test_a_task_end_without_a_call_ends_the_task_too() -> None:
    text = "<task-notification><task-id>b-9</task-id></task-notification>"
    assert BackgroundTaskEnded("s-1", None, "b-9") in run([prompt_submitted(text)])  # type: ignore[arg-type]  # plain text for an id


def test_client_text_in_the_users_name_is_not_a_message() -> None:
    outcomes = run([prompt_submitted("<local-command-stdout>x</local-command-stdout>")])
    assert of_kind(TurnStarted, outcomes) == []


def test_hook_events_of_old_clients_number_the_turns() -> None:
    outcomes = run(
        [
            prompt_submitted("go", None),
            pre("t", prompt_id=None),
            prompt_submitted("next", None),
            hook_event("Stop", prompt_id=None),
        ]
    )
    assert [getattr(turn, "turn", None) for turn in of_kind(TurnStarted, outcomes)] == ["1", "2"]
    assert (fold(outcomes)["t"].status, fold(outcomes)["t"].turn) == ("unfinished", "1")
    assert of_kind(TurnEnded, outcomes) == [TurnEnded("s-1", "2")]  # type: ignore[arg-type]  # plain text for an id
    assert run([hook_event("Stop", prompt_id=None)])[-1] == TurnEnded("s-1", None)  # type: ignore[arg-type]  # plain text for an id


def test_text_shown_on_the_screen_leads_the_next_call() -> None:
    shown = [
        hook_event("MessageDisplay", delta="I rename", index=0),
        hook_event("MessageDisplay", delta=" it.", final=True),
    ]
    rows = actions_of([prompt_submitted("go"), *shown, pre("t"), post("t"), pre("u"), post("u")])
    assert [row.lead_text for row in rows.values()] == ["I rename it.", None]


def test_compaction_and_other_session_starts_close_no_calls() -> None:
    for began in ("compact", "clear", None):
        outcomes = run([pre("t"), hook_event("SessionStart", source=began, prompt_id=None), post("t")])
        assert fold(outcomes)["t"].status == "succeeded"
    assert SessionLinked("s-1", "s-1", "compact") in run([hook_event("SessionStart", source="compact")])  # type: ignore[arg-type]  # plain text for an id


def test_an_interrupted_call_differs_from_a_denied_one_by_its_prompt() -> None:
    written = returns("t", REJECTED, error=True, source=Source.TRANSCRIPT)
    call = calls("t", source=Source.TRANSCRIPT)
    assert statuses(call, pre("t"), written) == {"t": "unfinished"}
    assert statuses(call, pre("t"), permission_request(), written) == {"t": "denied"}
    assert statuses(call, written) == {"t": "denied"}


def test_one_call_seen_by_hook_and_stream_is_one_action() -> None:
    events = [prompt_submitted("go"), init(), calls("t"), pre("t"), post("t"), returns("t"), result()]
    outcomes = run(events)
    (row,) = fold(outcomes).values()
    assert (row.status, row.turn, row.message, row.session) == ("succeeded", "p-1", "go", "s-1")
    assert len(of_kind(TurnStarted, outcomes)) == 1


def test_a_hook_event_after_the_result_still_names_the_turn() -> None:
    outcomes = run(
        [
            init(),
            calls("t"),
            returns("t"),
            pre("t"),
            post("t", tool_response={"filePath": "/p/a.py", "content": "x"}),
        ]
    )
    row = fold(outcomes)["t"]
    assert row.turn == "p-1"


def test_a_hook_event_names_the_sub_agent() -> None:
    events = [init(), calls("t", parent_tool_use_id="A"), pre("t", agent_id="g-1"), returns("t")]
    assert actions_of(events)["t"].agent == "g-1"


def test_a_source_closes_only_calls_that_it_has_shown() -> None:
    """A transcript that is read from its beginning says nothing of a call that a hook just opened."""
    old = writes("an old message", source=Source.TRANSCRIPT, promptId="p-0", timestamp="2026-01-01T00:00:00Z")
    outcomes = run([pre("t"), old, init(), result(), post("t")])
    assert [o.action.status for o in outcomes if isinstance(o, ActionClosed)] == ["succeeded"]


def test_an_open_call_has_the_input_of_the_model() -> None:
    assert actions_of([post("t", tool_input=INPUT | {"answers": {}})])["t"].paths == ("/p/a.py",)
