import json

from chorus.model.ids import AgentId, SessionId, TurnId
from chorus.model.outcomes import (
    ErrorReported,
    MessageDelivered,
    ModelAnswered,
    Outcome,
    RequestRetried,
    SessionDescribed,
    SessionEnded,
    SessionIdle,
    Tokens,
    TurnEnded,
    TurnRenamed,
    TurnReported,
    TurnStarted,
)
from chorus.model.turn import TurnTable, join_turn, read_turns, sum_turns

S, T = SessionId("s"), TurnId("1")


def feed(*outcomes: Outcome) -> TurnTable:
    table = TurnTable()
    for number, outcome in enumerate(outcomes):
        table.feed(outcome, time=f"t{number}")
    return table


def test_a_turn_has_its_message_answer_tokens_and_cost() -> None:
    first = TurnReported(S, T, "Done.", None, "completed", Tokens(10, 5), None, 0.5, 100, 80, 2, 1000)
    second = TurnReported(S, TurnId("2"), "Too.", None, "completed", Tokens(1, 1), total_cost=0.75)
    restarted = TurnReported(S, TurnId("3"), "Again.", None, "completed", total_cost=0.25)
    answered = ModelAnswered(S, T, None, "m", "opus", Tokens(7, 1, 2, 1))
    started = TurnStarted(S, T, "hi")
    records = feed(started, MessageDelivered(S, T, "u"), answered, first, second, restarted).all()
    one = records[0].as_json()
    assert (one["message"], one["messages"], one["answer"], one["state"]) == ("hi", ["u"], "Done.", "done")
    assert (one["tokens"]["input"], one["context"], one["window"], one["model"]) == (10, 10, 1000, "opus")
    assert [record.cost for record in records] == [0.5, 0.25, 0.25]


def test_several_results_of_one_turn_are_summed() -> None:
    first = TurnReported(S, T, "Begun.", None, "completed", Tokens(10, 5), 0.5, 0.5, 100, 80)
    second = TurnReported(S, T, "Done.", None, "completed", Tokens(1, 1, 2), 0.25, 0.75, 50, 110)
    timed = TurnReported(S, T, duration_ms=7)  # by the transcript, of a part of it
    record = feed(first, second, timed).all()[0]
    assert (record.answer, record.tokens, record.cost) == ("Done.", Tokens(11, 6, 2), 0.75)
    assert (record.duration_ms, record.api_ms) == (150, 110)
    assert feed(timed).all()[0].duration_ms == 7


def test_a_fork_costs_what_its_own_turns_cost() -> None:
    forked = TurnReported(S, T, "Forked.", None, "completed", cost=0.25, total_cost=1.0)
    table = feed(forked)
    assert (table.all()[0].cost, table.total_cost(S)) == (0.25, 1.0)


def test_a_session_costs_what_the_client_counts_where_its_turns_do_not_say() -> None:
    table = feed(TurnStarted(S, T, "hi"), TurnReported(S, None, total_cost=0.5))
    turns = [one.as_json() for one in table.all()]
    assert sum_turns(turns, table.total_cost(S))["cost_usd"] == 0.5
    assert table.total_cost(SessionId("other")) is None
    assert feed(TurnReported(None, None, total_cost=0.5)).all() == []


def test_tokens_are_summed_until_the_result_says_them() -> None:
    early = ModelAnswered(S, T, None, "m", None, Tokens(5, 1))
    whole = early._replace(tokens=Tokens(5, 9))
    below = ModelAnswered(S, T, AgentId("a"), "n", "haiku", Tokens(3, 2))
    record = feed(early, whole, early, below).of_session(S)[0]
    assert record.tokens == Tokens(8, 11)
    assert (record.model, record.context) == (None, 5)


def test_a_result_counts_the_tokens_of_the_turns_that_ended_with_it_only_once() -> None:
    two = TurnId("2")
    table = feed(
        TurnStarted(S, T, "one"),
        ModelAnswered(S, T, None, "m-1", None, Tokens(10, 1)),
        TurnStarted(S, two, "two"),
        ModelAnswered(S, two, None, "m-2", None, Tokens(10, 1)),
        TurnReported(S, two, "Done.", None, "completed", Tokens(20, 10), includes=(T, TurnId("not-seen"))),
        ModelAnswered(S, T, None, "m-1", None, Tokens(10, 5)),  # by the transcript, which is complete
    )
    assert [record.tokens for record in table.all()] == [Tokens(10, 5), Tokens(10, 5)]


def test_a_failed_turn_says_why() -> None:
    assert feed(TurnReported(S, T, error="400")).all()[0].as_json()["state"] == "failed"
    reported = feed(ErrorReported(S, T, "limit"), TurnEnded(S, T), TurnEnded(S, T)).all()[0]
    assert (reported.state, reported.error, reported.ended) == ("failed", "limit", "t1")
    assert feed(TurnStarted(S, T, None), TurnEnded(S, T)).all()[0].state == "done"
    left = feed(TurnStarted(S, T, None), RequestRetried(S, T, "529", 1, 2), SessionEnded(S, None)).all()[0]
    assert (left.state, left.reason, left.retries) == ("failed", "client ended", 1)
    assert feed(TurnReported(S, T, duration_ms=5)).all()[0].state == "running"


def test_a_turn_keeps_what_is_known_under_its_new_id() -> None:
    table = feed(TurnStarted(S, T, "hi"), TurnRenamed(S, T, TurnId("p")))
    assert [(record.turn, record.message) for record in table.all()] == [("p", "hi")]


def test_an_outcome_without_a_turn_changes_no_turn() -> None:
    nowhere: list[Outcome] = [
        TurnStarted(None, T, None), TurnRenamed(None, T, T), TurnRenamed(S, T, T), TurnEnded(S, None),
        TurnReported(S, None), ModelAnswered(S, None, None, "m", None, Tokens()), SessionIdle(S),
        SessionEnded(S, None), RequestRetried(None, T, "", None, None), ErrorReported(S, None, ""),
        MessageDelivered(S, None, "u"),
    ]  # fmt: skip
    assert feed(*nowhere).all() == []


def test_saved_turns_are_read_in_their_last_form() -> None:
    whole = feed(TurnStarted(S, T, "hi")).all()[0].as_json()
    older = {name: value for name, value in whole.items() if name != "mode"}
    lines = [json.dumps(whole | {"answer": "a"}), "broken", "[]", '{"session": "s"}', json.dumps(older)]
    assert read_turns(lines) == [whole]


def test_a_session_has_the_sums_of_its_turns() -> None:
    one = TurnReported(S, T, "Done.", None, "completed", Tokens(10, 5), 0.5, duration_ms=100, window=1000)
    two = TurnReported(S, TurnId("2"), None, "400", "completed", Tokens(1, 1, 2, 3), 0.25, duration_ms=50)
    answered = ModelAnswered(S, TurnId("2"), None, "m", None, Tokens(4))
    table = feed(one, RequestRetried(S, TurnId("2"), "529", 1, 2), answered, two)
    sums = sum_turns([turn.as_json() for turn in table.all()], 9.0)
    assert (sums["tokens"], sums["cost_usd"]) == (
        {"input": 11, "output": 6, "cache_read": 2, "cache_write": 3},
        0.75,
    )
    assert (sums["context"], sums["window"], sums["duration_ms"]) == (4, 1000, 150)
    assert (sums["turns"], sums["failed"], sums["retries"]) == (2, 1, 1)


def test_a_turn_has_the_permission_mode_it_ran_in() -> None:
    second = TurnId("2")
    before: list[Outcome] = [
        SessionDescribed(S, mode="plan"),
        TurnStarted(S, T, "hi"),
        SessionDescribed(S, model="m"),
    ]
    after: list[Outcome] = [
        TurnEnded(S, T),
        SessionDescribed(S, mode="default"),
        TurnStarted(S, second, "more"),
    ]
    changed = SessionDescribed(S, mode="acceptEdits")
    assert [turn.mode for turn in feed(*before, *after, changed).all()] == ["plan", "acceptEdits"]


def test_a_session_gets_the_turns_from_before_its_id_was_known() -> None:
    unnamed = SessionId("")
    table = feed(TurnStarted(unnamed, T, "hi"))
    table.name_session(S, unnamed)
    table.feed(TurnEnded(S, T), time="t")
    assert [(turn.session, turn.message, turn.state) for turn in table.all()] == [("s", "hi", "done")]


def test_an_error_after_the_end_is_not_the_turns() -> None:
    ended = feed(TurnReported(S, T, "Done.", None, "completed"), ErrorReported(S, T, "limit")).all()[0]
    assert (ended.state, ended.error) == ("done", None)


def test_a_saved_turn_that_is_read_again_stays_as_it_was_unless_it_went_on() -> None:
    first = TurnReported(S, T, "Done.", None, "completed", Tokens(10, 5), None, 0.5, 100, 80)
    (saved,) = (
        one.as_json() for one in feed(TurnStarted(S, T, "hi"), MessageDelivered(S, T, "u"), first).all()
    )
    again: list[Outcome] = [TurnStarted(S, T, "hi"), ModelAnswered(S, T, None, "m", "opus", Tokens(10, 5))]
    (known,) = (one.as_json() for one in feed(*again).all())
    joined = join_turn(saved, {**known, "started": "t9"})
    assert joined == {**saved, "model": "opus", "context": 10}
    (more,) = (
        one.as_json() for one in feed(*again, ModelAnswered(S, T, None, "n", "opus", Tokens(1, 1))).all()
    )
    went_on = join_turn(saved, more)
    assert (went_on["state"], went_on["tokens"]["input"], went_on["cost_usd"]) == ("running", 11, 0.5)
    assert (went_on["messages"], went_on["started"]) == (["u"], "t0")


def test_costs_are_given_without_the_noise_of_binary_fractions() -> None:
    turns = [
        TurnReported(S, TurnId(str(n)), "Done.", None, "completed", total_cost=total)
        for n, total in enumerate((0.1, 0.3, 0.30014), 1)
    ]
    records = [record.as_json() for record in feed(*turns).all()]
    assert [record["cost_usd"] for record in records] == [0.1, 0.2, 0.00014]
    assert sum_turns(records)["cost_usd"] == 0.30014
