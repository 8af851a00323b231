"""Which session an event belongs to, and how sessions hang together."""

from chorus.agents.claude_code.events import Event
from chorus.agents.claude_code.pairing import Pairing
from chorus.agents.interface import Source
from chorus.model.outcomes import Outcome, OwnerCorrected, SessionDiscovered, SessionLinked
from tests.agents.recordings import Row, actions_of, fold, run
from tests.agents.telling import calls, heard, hooked, init, post, pre, result, returns, writes


def start(session: str) -> Event:
    return heard(type="session_start", session_id=session)


def tool(call: str, **more: str) -> list[Event]:
    return [
        heard(type="tool_use", id=call, toolName="Edit", toolInput={}, **more),
        heard(type="tool_result", toolUseId=call, isError=False, **more),
    ]


def links(outcomes: list[Outcome]) -> list[tuple[str, str, str]]:
    return [(o.session, o.parent, o.kind) for o in outcomes if isinstance(o, SessionLinked)]


def session_of(*events: Event, call: str = "t") -> str | None:
    return actions_of(events)[call].session


def test_an_event_that_names_its_session_belongs_to_it() -> None:
    assert session_of(init("a"), init("b"), calls("t", session_id="a")) == "a"


def test_one_that_does_not_belongs_to_the_session_named_last() -> None:
    assert session_of(start("a"), *tool("t"), start("b"), *tool("u")) == "a"
    assert session_of(start("a"), *tool("t"), start("b"), *tool("u"), call="u") == "b"


def test_session_start_is_trusted_before_init_and_init_before_result() -> None:
    assert session_of(start("a"), init("b"), *tool("t"), result(session="c")) == "a"
    assert session_of(init("b"), *tool("t"), result(session="c")) == "b"
    assert session_of(*tool("t"), result(session="c")) == "c"


def test_an_init_after_work_was_done_is_a_new_session() -> None:
    assert session_of(start("a"), *tool("t"), init("b"), *tool("u"), call="u") == "b"


def test_an_id_that_came_with_an_init_means_the_trusted_session_from_then_on() -> None:
    outcomes = run([start("a"), init("b"), calls("t", session_id="b")])
    assert fold(outcomes)["t"].session == "a"
    assert links(outcomes) == [("b", "a", "resume")]
    assert session_of(start("a"), init("b"), init("b"), calls("t", session_id="b")) == "a"


def test_a_result_of_a_known_session_is_that_sessions() -> None:
    outcomes = run([init("a"), calls("t", session_id="a"), init("b"), result("t", session="a")])
    assert fold(outcomes)["t"].status == "denied"


def test_a_session_named_late_is_that_of_what_came_before() -> None:
    outcomes = run([*tool("t"), result(session="c")])
    assert OwnerCorrected("t", "c", "1", None) in outcomes  # type: ignore[arg-type]
    assert fold(outcomes)["t"].session == "c"


def test_a_session_known_already_takes_over_a_nameless_channel() -> None:
    events = [hooked("Stop", session="c"), *tool("t"), result(session="c"), *tool("u")]
    rows = actions_of(events)
    assert (rows["t"].session, rows["u"].session) == (None, "c")


def test_channels_are_kept_apart() -> None:
    pairing = Pairing()
    told: list[Outcome] = []
    for channel, event in [("%1", init("a")), ("%2", init("b"))]:
        told += pairing.feed(event, channel=channel)
    for channel, call in [("%1", "t"), ("%2", "u")]:
        for event in tool(call):
            told += pairing.feed(event, channel=channel)
    rows: dict[str, Row] = fold(told)
    assert (rows["t"].session, rows["u"].session) == ("a", "b")


def test_one_client_after_another_in_a_pane_ends_what_the_first_left_open() -> None:
    outcomes = run([init("a"), calls("t", session_id="a"), init("b")])
    assert [type(o).__name__ for o in outcomes][-2:] == ["ActionClosed", "TurnStarted"]


def test_a_session_that_starts_again_ends_what_it_left_open() -> None:
    outcomes = run([start("a"), tool("t")[0], start("a")])
    assert [type(o).__name__ for o in outcomes][-1] == "ActionClosed"


def test_every_session_is_seen_once_with_its_directory() -> None:
    outcomes = run([init("a"), result(session="a"), init("a"), pre("t", session="b")])
    assert [o for o in outcomes if isinstance(o, SessionDiscovered)] == [
        SessionDiscovered("a", "/p"),  # type: ignore[arg-type]
        SessionDiscovered("b", "/p"),  # type: ignore[arg-type]
    ]


def test_the_more_trusted_source_names_the_session_of_a_call() -> None:
    copied = [calls("t", session_id="fork", source=Source.TRANSCRIPT), returns("t", source=Source.TRANSCRIPT)]
    hooks = [pre("t", session="real"), post("t", session="real")]
    printed = [init("printed"), calls("t", session_id="printed"), returns("t")]
    assert session_of(*copied, *hooks) == "real"
    assert session_of(*hooks, *copied) == "real"
    assert session_of(*copied, *hooks, *printed) == "printed"


def test_a_transcript_that_copies_another_sessions_calls_is_its_fork() -> None:
    first = [calls("t", session_id="a", source=Source.TRANSCRIPT), returns("t", source=Source.TRANSCRIPT)]
    copy = calls("t", session_id="b", source=Source.TRANSCRIPT)
    assert links(run([*first, copy, copy])) == [("b", "a", "fork")]


def test_a_line_may_say_what_it_was_forked_from() -> None:
    forked = writes("x", source=Source.TRANSCRIPT, forkedFrom={"sessionId": "a", "messageUuid": "u"})
    assert links(run([forked])) == [("s-1", "a", "fork")]


def test_clearing_links_the_next_session_in_the_same_directory() -> None:
    ended = hooked("SessionEnd", session="a", reason="clear")
    elsewhere = hooked("SessionStart", session="x", source="clear", cwd="/elsewhere")
    began = hooked("SessionStart", session="b", source="clear")
    again = hooked("SessionStart", session="c", source="clear")
    assert links(run([ended, elsewhere, began, again])) == [("b", "a", "clear")]
    assert links(run([hooked("SessionEnd", session="", reason="clear"), began])) == []


def test_a_conversation_that_goes_on_under_another_id_is_linked() -> None:
    reset = heard(type="conversation_reset", session_id="a", new_conversation_id="b")
    assert links(run([reset])) == [("b", "a", "clear")]


def test_compaction_links_a_session_to_itself_once() -> None:
    boundary = heard(type="system", subtype="compact_boundary", session_id="a", uuid="u")
    assert links(run([boundary, boundary])) == [("a", "a", "compact")]
    assert links(run([heard(type="system", subtype="compact_boundary")])) == []


def test_hook_and_transcript_lines_without_a_session_are_the_channels() -> None:
    assert session_of(init("a"), pre("t", session=""), post("t", session="")) == "a"


def test_a_session_is_told_again_when_its_directory_becomes_known() -> None:
    outcomes = run([calls("t", session_id="a"), init("a"), init("a", uuid="u", cwd="/elsewhere")])
    assert [o for o in outcomes if isinstance(o, SessionDiscovered)] == [
        SessionDiscovered("a", None),  # type: ignore[arg-type]
        SessionDiscovered("a", "/p"),  # type: ignore[arg-type]
    ]
