"""Which user message a call belongs to."""

from typing import Any

import pytest

from chorus.agents.claude_code.events import Event
from chorus.agents.claude_code.pairing.pairing import Pairing
from chorus.agents.claude_code.pairing.turns import Turns
from chorus.agents.interface import Source
from chorus.model.outcomes import SessionIdle, TurnStarted
from chorus.model.session import SessionTable
from chorus.model.turn import TurnTable
from tests.agents.event_builders import (
    calls,
    event_from,
    hook_event,
    init,
    prompt_submitted,
    result,
    returns,
    system,
    writes,
)
from tests.agents.recordings import actions_of, fold, run

TRANSCRIPT = Source.TRANSCRIPT


def turns(*events: Event) -> list[tuple[str | None, str | None]]:
    return [(row.turn, row.message) for row in actions_of(events).values()]


def message_line(text: Any, prompt_id: str | None, time: str = "2026-01-01T00:00:00Z", **more: Any) -> Event:
    named = {"promptId": prompt_id} if prompt_id else {}
    return writes(text, source=TRANSCRIPT, timestamp=time, isSidechain=False, **named, **more)


def test_a_stream_numbers_its_turns_by_init() -> None:
    assert turns(init(), calls("a"), returns("a"), result(), init(), calls("b"), returns("b")) == [
        ("1", None),
        ("2", None),
    ]


def test_a_message_may_come_before_or_after_its_turn_begins() -> None:
    before = [
        writes("first", source=Source.CONTROL_IN, session=""),
        init(),
        calls("a"),
        returns("a"),
        result(),
    ]
    after = [init(), writes("second", isReplay=True), calls("b"), returns("b"), result()]
    assert turns(*before, *after) == [("1", "first"), ("2", "second")]


def test_an_echo_is_not_a_second_message() -> None:
    go: dict[str, Any] = {"source": Source.CONTROL_IN, "session": ""}
    events = [writes("go", **go), init(), writes("go", isReplay=True), calls("a"), returns("a"), result()]
    assert turns(*events, writes("on", **go), init(), calls("b")) == [("1", "go"), ("2", "on")]


def test_a_message_queued_while_the_agent_works_starts_the_next_turn() -> None:
    later = writes("later", source=Source.CONTROL_IN, session="")
    events = [
        init(),
        writes("now", isReplay=True),
        later,
        calls("a"),
        returns("a"),
        result(),
        init(),
        calls("b"),
    ]
    assert turns(*events) == [("1", "now"), ("2", "later")]


def test_without_init_every_message_starts_a_turn_and_ends_the_one_before() -> None:
    rows = actions_of([writes("one"), calls("a"), writes("two"), calls("b"), returns("b")])
    assert [(row.status, row.turn, row.message) for row in rows.values()] == [
        ("unfinished", "1", "one"),
        ("succeeded", "2", "two"),
    ]


def test_a_repeated_message_is_not_a_new_turn() -> None:
    assert turns(writes("one", uuid="u"), calls("a"), writes("one", uuid="u"), returns("a")) == [("1", "one")]


def test_the_end_of_a_background_task_does_not_start_a_turn() -> None:
    ended = system("task_notification", task_id="b-1", tool_use_id="a")
    events = [
        init(),
        calls("a", "Bash"),
        returns("a"),
        result(),
        ended,
        init(),
        calls("b"),
        returns("b"),
        result(),
    ]
    assert turns(*events) == [("1", None), ("1", None)]
    assert turns(*events, init(), calls("c"))[-1] == ("2", None)


def test_a_message_that_comes_with_the_end_of_a_background_task_starts_a_turn() -> None:
    ended = system("task_notification", task_id="b-1", tool_use_id="a")
    events = [init(), writes("one", isReplay=True), calls("a", "Bash"), returns("a"), result(), ended, init()]
    assert turns(*events, writes("two", isReplay=True), calls("b")) == [("1", "one"), ("2", "two")]


def test_a_result_held_back_does_not_end_the_turn_that_follows() -> None:
    """A client that waits for its background tasks prints the first result after the second turn began."""
    ended = system("task_notification", task_id="g-1", tool_use_id="a")
    events = [init(), calls("a", "Agent"), returns("a"), ended, init(), calls("b"), result(uuid="r-1")]
    outcomes = run([*events, returns("b"), result(uuid="r-2")])
    assert [type(outcome).__name__ for outcome in outcomes[-3:]] == [
        "ActionClosed",
        "TurnEnded",
        "TurnReported",
    ]
    assert fold(outcomes)["b"].status == "succeeded"


def test_a_transcript_names_its_turns() -> None:
    events = [
        message_line("one", "p-1"),
        calls("a", source=TRANSCRIPT),
        returns("a", source=TRANSCRIPT, promptId="p-1"),
        message_line("two", "p-2"),
        calls("b", source=TRANSCRIPT),
    ]
    assert turns(*events) == [("p-1", "one"), ("p-2", "two")]


def test_a_transcript_may_have_a_call_before_its_message() -> None:
    early = calls("a", source=TRANSCRIPT, timestamp="2026-01-01T00:00:05Z")
    events = [
        early,
        message_line("one", "p-1", "2026-01-01T00:00:01Z"),
        returns("a", source=TRANSCRIPT, promptId="p-1"),
    ]
    rows = actions_of(events)
    assert (rows["a"].status, rows["a"].turn, rows["a"].message) == ("succeeded", "p-1", "one")


def test_a_message_closes_the_calls_before_it() -> None:
    early = calls("a", source=TRANSCRIPT, timestamp="2026-01-01T00:00:01Z")
    outcomes = run(
        [
            message_line("one", "p-1"),
            early,
            message_line("two", "p-2", "2026-01-01T00:00:05Z"),
            calls("b", source=TRANSCRIPT),
        ]
    )
    assert fold(outcomes)["a"].status == "unfinished"
    assert [type(o).__name__ for o in outcomes].index("ActionClosed") < len(outcomes) - 2


def test_old_transcripts_number_their_turns() -> None:
    events = [
        message_line("one", None),
        calls("a", source=TRANSCRIPT),
        message_line("two", None),
        calls("b", source=TRANSCRIPT),
    ]
    assert turns(*events) == [("1", "one"), ("2", "two")]


def test_a_fork_gives_all_old_messages_one_prompt_id() -> None:
    events = [
        message_line("one", "p", uuid="u-1"),
        calls("a", source=TRANSCRIPT),
        returns("a", source=TRANSCRIPT, promptId="p"),
        message_line("two", "p", uuid="u-2"),
        calls("b", source=TRANSCRIPT),
        returns("b", source=TRANSCRIPT, promptId="p"),
    ]
    assert turns(*events) == [("p", "one"), ("p.2", "two")]


@pytest.mark.parametrize(
    "more",
    [
        {"isMeta": True},
        {"isSynthetic": True},
        {"isCompactSummary": True},
        {"parent_tool_use_id": "A"},
        {"agentId": "g-1"},
        {"origin": {"kind": "peer"}},
    ],
)
def test_text_marked_as_not_from_the_user_is_not_a_message(more: dict[str, Any]) -> None:
    assert [o for o in run([writes("words", **more)]) if isinstance(o, TurnStarted)] == []


@pytest.mark.parametrize(
    "text",
    [
        "<local-command-caveat>Caveat</local-command-caveat>",
        "<local-command-stdout></local-command-stdout>",
        "<bash-input>ls</bash-input>",
        "<system-reminder>x</system-reminder>",
        "[Request interrupted by user for tool use]",
        "This session is being continued from a previous conversation that ran out of context.",
        [{"type": "text", "text": "[Request interrupted by user]"}],
        [{"type": "thinking", "thinking": "x"}],
        [],
    ],
)
def test_text_of_the_client_is_not_a_message(text: Any) -> None:
    assert [o for o in run([writes(text)]) if isinstance(o, TurnStarted)] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("words", "words"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "image", "source": {}}], ""),
        ("<command-name>/fix</command-name>\n<command-args>12</command-args>", "/fix 12"),
        ("<command-message>fix</command-message>\n<command-name>/fix</command-name>", "/fix"),
        ("<command-name>", "<command-name>"),
        ("<b>bold</b>", "<b>bold</b>"),
    ],
)
def test_text_of_the_user_is_the_message(text: Any, message: str) -> None:
    started = [
        o.message
        for o in run([message_line(text, "p-1", origin={"kind": "human"})])
        if isinstance(o, TurnStarted)
    ]
    assert started == [message]


def test_a_slash_command_closes_no_calls() -> None:
    early = calls("a", source=TRANSCRIPT, timestamp="2026-01-01T00:00:01Z")
    command = message_line("<command-name>/model</command-name>", "p-2", "2026-01-01T00:00:05Z")
    outcomes = [*run([message_line("one", "p-1"), early, command])]
    assert [type(o).__name__ for o in outcomes][-1] == "ActionClosed"  # closed by the end, not by the command


def test_a_task_end_in_a_transcript_continues_the_turn() -> None:
    task_end = message_line(
        "<task-notification><task-id>b</task-id></task-notification>",
        "p-2",
        origin={"kind": "task-notification"},
    )
    events = [
        message_line("one", "p-1"),
        task_end,
        calls("a", source=TRANSCRIPT),
        returns("a", source=TRANSCRIPT, promptId="p-2"),
    ]
    assert turns(*events) == [("p-1", "one")]


def test_a_task_end_without_a_prompt_id_is_not_a_message() -> None:
    task_end = message_line("<task-notification><task-id>b</task-id></task-notification>", None)
    events = [
        message_line("one", None),
        task_end,
        calls("a", source=TRANSCRIPT),
        returns("a", source=TRANSCRIPT),
    ]
    assert turns(*events) == [("1", "one")]


def test_a_live_message_names_the_running_turn() -> None:
    events = [
        init(),
        prompt_submitted("go", "p-1"),
        calls("a"),
        returns("a"),
        result(),
        prompt_submitted("on", "p-2"),
        init(),
        calls("b"),
    ]
    assert turns(*events) == [("p-1", "go"), ("p-2", "on")]


def test_a_message_in_the_control_protocol_and_in_a_hook_is_one_turn() -> None:
    go: dict[str, Any] = {"source": Source.CONTROL_IN, "session": "s-1"}
    events = [
        writes("go", **go),
        prompt_submitted("go", "p-1"),
        init(),
        calls("a"),
        returns("a"),
        result(),
        writes("on", **go),
        prompt_submitted("on", "p-2"),
        init(),
        calls("b"),
        returns("b"),
        result(),
        init(),
        calls("c"),
    ]
    assert turns(*events) == [("p-1", "go"), ("p-2", "on"), ("3", None)]


def test_a_queued_message_starts_a_turn_when_it_is_delivered() -> None:
    sent = writes("and this", source=Source.CONTROL_IN, session="")
    running = [init(), writes("one", isReplay=True), calls("a"), sent, calls("b")]
    delivered = [returns("a"), writes("and this", isReplay=True), returns("b"), calls("c"), returns("c")]
    assert turns(*running, *delivered, result(), init(), calls("d")) == [
        ("1", "one"),
        ("1", "one"),
        ("2", "and this"),
        ("3", None),
    ]


def test_a_stream_may_show_only_that_a_message_was_delivered() -> None:
    events = [init(), writes("one", isReplay=True), calls("a"), returns("a"), writes("two", isReplay=True)]
    assert turns(*events, calls("b")) == [("1", "one"), ("2", "two")]


def test_a_message_that_the_client_dropped_does_not_start_the_next_turn() -> None:
    sent = writes("and this", source=Source.CONTROL_IN, session="")
    first = [init(), writes("one", isReplay=True), sent, calls("a"), returns("a")]
    assert turns(*first, result(queued_turn_count=0), init(), calls("b")) == [("1", "one"), ("2", None)]
    assert turns(*first, result(queued_turn_count=1), init(), calls("b")) == [("1", "one"), ("2", "and this")]
    assert turns(*first, result(queued_turn_count="x"), init(), calls("b"))[1] == ("2", "and this")


def test_a_hook_shows_a_queued_message_under_the_same_prompt_id() -> None:
    pre = hook_event("PreToolUse", tool_name="Bash", tool_use_id="a")
    post = hook_event("PostToolUse", tool_name="Bash", tool_use_id="a")
    after = hook_event("PostToolUse", tool_name="Edit", tool_use_id="b")
    events = [
        prompt_submitted("one"),
        pre,
        prompt_submitted("and this"),
        post,
        after,
        prompt_submitted("one"),
        prompt_submitted("and this"),
    ]
    outcomes = run(events)
    assert [(row.turn, row.message, row.status) for row in fold(outcomes).values()] == [
        ("p-1", "one", "succeeded"),
        ("p-1.2", "and this", "succeeded"),
    ]
    assert len([o for o in outcomes if isinstance(o, TurnStarted)]) == 2


def queued(text: Any, **more: Any) -> Event:
    attachment = {"type": "queued_command", "prompt": text, "origin": {"kind": "human"}} | more
    return event_from(
        TRANSCRIPT, type="attachment", sessionId="s-1", isSidechain=False, attachment=attachment
    )


def test_a_transcript_shows_a_queued_message_as_an_attachment() -> None:
    after = [calls("b", source=TRANSCRIPT), returns("b", source=TRANSCRIPT, promptId="p-1")]
    late = returns("a", source=TRANSCRIPT, promptId="p-1")
    events = [message_line("one", "p-1"), calls("a", source=TRANSCRIPT), queued("and this"), late, *after]
    assert turns(*events) == [("p-1", "one"), ("p-1.2", "and this")]
    assert turns(*events, queued("and this"), calls("c", source=TRANSCRIPT))[-1] == ("p-1.2", "and this")


def test_an_old_transcript_numbers_the_turn_of_a_queued_message() -> None:
    events = [
        message_line("one", None),
        queued("and this"),
        queued("and this"),
        calls("a", source=TRANSCRIPT),
    ]
    assert turns(*events) == [("2", "and this")]
    assert turns(queued("and this"), calls("a", source=TRANSCRIPT)) == [("1", "and this")]


@pytest.mark.parametrize(
    "attachment",
    [
        queued([{"type": "image"}]),
        queued("words", type="date"),
        queued("words", origin={"kind": "peer"}),
        queued("<system-reminder>x</system-reminder>"),
        queued("<task-notification><task-id>b</task-id></task-notification>"),
    ],
)
def test_other_attachments_start_no_turn(attachment: Event) -> None:
    assert turns(message_line("one", "p-1"), attachment, calls("a", source=TRANSCRIPT)) == [("p-1", "one")]


SENT = (prompt_submitted("two"), prompt_submitted("three"))
DELIVERED = (writes("two", isReplay=True, uuid="m-2"), writes("three", isReplay=True, uuid="m-3"))
ATTACHED = (message_line("one", "p-1", uuid="m-1"), queued("two"), queued("three"))


@pytest.mark.parametrize(
    "sources",
    [
        (*SENT, *DELIVERED, *ATTACHED),
        (*DELIVERED, *SENT, *ATTACHED),
        (*SENT, *ATTACHED, *DELIVERED),
        (SENT[0], *DELIVERED, SENT[1], *ATTACHED),
        (*SENT, *DELIVERED),
        (*DELIVERED, *ATTACHED),
        DELIVERED,
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_messages_sent_into_a_turn_have_a_turn_each_whichever_source_is_first(
    sources: tuple[Event, ...], late: bool
) -> None:
    """`late`: the transcript is read when the result has come."""
    known = [one for one in sources if one in ATTACHED and late]
    earlier = [prompt_submitted("zero", "p-0"), init(), message_line("zero", "p-0", uuid="m-0"), result()]
    begin = [prompt_submitted("one"), init(), writes("one", isReplay=True, uuid="m-1"), calls("a")]
    sending = system("status", status="requesting", user_message_uuids=["m-1", "m-2", "m-3"])
    pairing, table, sessions = Pairing(), TurnTable(), SessionTable()
    shown = [one for one in sources if one not in known]
    for event in (*earlier, *begin, returns("a"), *shown, sending, result(), *known):
        for outcome in pairing.feed(event):
            table.feed(outcome, time="")
            sessions.feed(outcome, time="", source="")
    found = [(record.message, record.messages, record.state, record.reason) for record in table.all()[1:]]
    assert sorted(found, key=lambda one: one[1]) == [
        ("one", ["m-1"], "done", None),
        ("two", ["m-2"], "done", None),
        ("three", ["m-3"], "done", "success"),
    ]
    assert [session.state for session in sessions.sessions.values()] == ["idle"]


def test_a_hook_ends_the_turns_of_all_messages_sent_into_one() -> None:
    def states(end: Event) -> list[tuple[str | None, str, str | None]]:
        table = TurnTable()
        for outcome in run([prompt_submitted("one"), *SENT, end]):
            table.feed(outcome, time="")
        return [(record.message, record.state, record.error) for record in table.all()]

    assert states(hook_event("Stop", last_assistant_message="Done.")) == [
        ("one", "done", None),
        ("two", "done", None),
        ("three", "done", None),
    ]
    assert states(hook_event("StopFailure", error="overloaded")) == [
        ("one", "failed", "overloaded"),
        ("two", "failed", "overloaded"),
        ("three", "failed", "overloaded"),
    ]


def test_a_transcript_ends_the_turns_of_all_messages_sent_into_one() -> None:
    answer = event_from(
        TRANSCRIPT, type="assistant", sessionId="s-1", isSidechain=False,
        message={"id": "a-1", "content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"},
    )  # fmt: skip
    table = TurnTable()
    for outcome in run([*ATTACHED, answer]):
        table.feed(outcome, time="")
    assert [(record.message, record.state, record.answer) for record in table.all()] == [
        ("one", "done", None),
        ("two", "done", None),
        ("three", "done", "Done."),
    ]


@pytest.mark.parametrize("transcript_is_read", ["first", "between", "last"])
def test_a_turn_that_stream_and_transcript_show_without_a_hook_is_one(transcript_is_read: str) -> None:
    """The transcript is read first where the watcher was started again, and reads the pane from its start."""
    usage = {"input_tokens": 10, "output_tokens": 5}

    def answers(source: Source, message: str, **more: Any) -> Event:
        content = [{"type": "text", "text": "Hi."}]
        value = {"id": message, "model": "m", "content": content, "stop_reason": "end_turn", "usage": usage}
        return event_from(source, type="assistant", sessionId="s-1", isSidechain=False, message=value, **more)

    old = [message_line("before", "p-0", uuid="u-0"), answers(TRANSCRIPT, "m-0")]
    stream = [init(), answers(Source.STREAM, "m-1")]
    transcript = [message_line("hello", "p-1", uuid="u-1"), answers(TRANSCRIPT, "m-1")]
    end = result(usage=usage)
    events = {
        "first": [*transcript, *stream, end],
        "between": [*stream, *transcript, end],
        "last": [*stream, end, *transcript],
    }[transcript_is_read]
    table = TurnTable()
    for outcome in run([*old, *events]):
        table.feed(outcome, time="")
    assert [(one.turn, one.message, one.reason, one.tokens.output) for one in table.all()] == [
        ("p-0", "before", None, 5),
        ("p-1", "hello", "success", 5),
    ]


def test_the_last_text_in_a_transcript_is_that_of_its_turn_even_if_the_next_has_begun() -> None:
    answer = event_from(
        TRANSCRIPT, type="assistant", sessionId="s-1", isSidechain=False,
        message={"id": "a-1", "content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"},
    )  # fmt: skip
    events = [
        prompt_submitted("one", "p-1"),
        prompt_submitted("two", "p-2"),
        message_line("one", "p-1"),
        answer,
    ]
    table = TurnTable()
    for outcome in run(events):
        table.feed(outcome, time="")
    assert [(one.message, one.state, one.answer) for one in table.all()] == [
        ("one", "done", "Done."),
        ("two", "running", None),
    ]


def test_a_failed_turn_that_is_read_from_the_transcript_first_is_one() -> None:
    """It has no message of the model, but the stream names the user's."""
    failure = event_from(
        TRANSCRIPT, type="assistant", sessionId="s-1", isApiErrorMessage=True,
        message={"id": "m", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 400"}]},
    )  # fmt: skip
    told = system("status", status="requesting", user_message_uuids=["u-1"])
    replay = writes("hello", isReplay=True, uuid="u-1")
    end = result(is_error=True, result="API Error: 400")
    table = TurnTable()
    for outcome in run([message_line("hello", "p-1", uuid="u-1"), failure, init(), told, replay, end, told]):
        table.feed(outcome, time="")
    assert [(one.turn, one.message, one.messages, one.error) for one in table.all()] == [
        ("p-1", "hello", ["u-1"], "API Error: 400")
    ]


def test_messages_sent_into_a_turn_that_is_read_from_the_transcript_first_have_a_turn_each() -> None:
    stream = [init(), system("status", user_message_uuids=["m-1"]), writes("one", isReplay=True, uuid="m-1")]
    table = TurnTable()
    for outcome in run([*ATTACHED, *stream, *DELIVERED, result()]):
        table.feed(outcome, time="")
    found = [(one.turn, one.message, one.messages, one.reason) for one in table.all()]
    assert sorted(found) == [
        ("p-1", "one", ["m-1"], None),
        ("p-1.2", "two", ["m-2"], None),
        ("p-1.3", "three", ["m-3"], "success"),
    ]


def test_a_result_fails_the_turns_of_all_messages_sent_into_one() -> None:
    events = [init(), writes("one", isReplay=True), *DELIVERED, result(is_error=True, result="no more")]
    table = TurnTable()
    for outcome in run(events):
        table.feed(outcome, time="")
    assert [(record.state, record.error) for record in table.all()] == [("failed", "no more")] * 3


def test_a_call_seen_with_and_without_a_prompt_id_joins_both_turns() -> None:
    events = [
        init(),
        calls("a"),
        returns("a"),
        calls("b"),
        hook_event("PreToolUse", tool_name="Edit", tool_use_id="b"),
    ]
    outcomes = run(events)
    assert [row.turn for row in fold(outcomes).values()] == ["p-1", "p-1"]


def test_a_result_before_any_turn_ends_no_turn() -> None:
    alone = Turns()
    assert alone.on_result()
    assert alone.current is None
    alone.continue_with("p-1")  # type: ignore[arg-type]  # plain text for an id
    assert alone.of_prompt_id("p-1").message is None  # type: ignore[arg-type]  # plain text for an id


def rests(*events: Event) -> int:
    """The number of SessionIdle outcomes."""
    pairing = Pairing()
    return sum(isinstance(outcome, SessionIdle) for event in events for outcome in pairing.feed(event))


def rested(**more: Any) -> Event:
    value = {"type": "system", "subtype": "turn_duration", "sessionId": "s-1", "uuid": "u-1", "durationMs": 9}
    return event_from(TRANSCRIPT, **(value | more))


def test_a_transcript_reports_the_end_of_a_turn_once() -> None:
    assert rests(message_line("go", "p-1"), rested(), rested()) == 1
    assert rests(rested()) == 1


def test_the_end_of_an_earlier_turn_is_not_that_of_the_next() -> None:
    submitted = prompt_submitted("again", "p-2")
    assert rests(message_line("go", "p-1"), submitted, rested()) == 0
    assert rests(message_line("go", "p-1"), submitted, message_line("again", "p-2"), rested()) == 1


@pytest.mark.parametrize(
    "text", ["[Request interrupted by user]", "[Request interrupted by user for tool use]"]
)
def test_an_interrupted_turn_is_over(text: str) -> None:
    """2.1.191 writes nothing else then."""
    stopped = message_line([{"type": "text", "text": text}], "p-1", uuid="u-2")
    assert rests(message_line("go", "p-1"), stopped, stopped) == 1
    assert rests(message_line("go", "p-1"), prompt_submitted("again", "p-2"), stopped) == 0
    assert rests(init(), writes(text)) == 0


def test_the_end_of_a_sub_agents_turn_does_not_make_the_session_idle() -> None:
    assert rests(message_line("go", "p-1"), rested(agentId="a-1", isSidechain=True)) == 0
    assert rests(rested(sessionId=None)) == 0
