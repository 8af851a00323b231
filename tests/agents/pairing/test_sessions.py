"""Which session an event belongs to, and how sessions hang together."""

from chorus.agents.claude_code.events import Event
from chorus.agents.claude_code.pairing import Pairing
from chorus.agents.interface import Source
from chorus.model.outcomes import Outcome, OwnerCorrected, SessionDiscovered, SessionLinked
from tests.agents.event_builders import (
    calls,
    event_from,
    hook_event,
    init,
    post,
    pre,
    result,
    returns,
    writes,
)
from tests.agents.recordings import Row, actions_of, fold, run


def start(session: str) -> Event:
    return event_from(type="session_start", session_id=session)


def tool(call: str, **more: str) -> list[Event]:
    return [
        event_from(type="tool_use", id=call, toolName="Edit", toolInput={}, **more),
        event_from(type="tool_result", toolUseId=call, isError=False, **more),
    ]


def links(outcomes: list[Outcome]) -> list[tuple[str, str, str]]:
    return [(o.session, o.parent, o.kind) for o in outcomes if isinstance(o, SessionLinked)]


def session_of(*events: Event, call: str = "t") -> str | None:
    return actions_of(events)[call].session


def test_an_event_that_names_its_session_belongs_to_it() -> None:
    assert session_of(init("a"), init("b"), calls("t", session_id="a")) == "a"


def test_an_event_without_a_session_belongs_to_the_one_named_last() -> None:
    assert session_of(start("a"), *tool("t"), start("b"), *tool("u")) == "a"
    assert session_of(start("a"), *tool("t"), start("b"), *tool("u"), call="u") == "b"


def test_session_start_is_trusted_before_init_and_init_before_result() -> None:
    assert session_of(start("a"), init("b"), *tool("t"), result(session="c")) == "a"
    assert session_of(init("b"), *tool("t"), result(session="c")) == "b"
    assert session_of(*tool("t"), result(session="c")) == "c"


def test_an_init_after_work_was_done_is_a_new_session() -> None:
    assert session_of(start("a"), *tool("t"), init("b"), *tool("u"), call="u") == "b"


def test_the_id_of_a_less_trusted_init_becomes_an_alias_of_the_session() -> None:
    outcomes = run([start("a"), init("b"), calls("t", session_id="b")])
    assert fold(outcomes)["t"].session == "a"
    assert links(outcomes) == [("b", "a", "resume")]
    assert session_of(start("a"), init("b"), init("b"), calls("t", session_id="b")) == "a"


def test_a_result_belongs_to_the_known_session_it_names() -> None:
    outcomes = run([init("a"), calls("t", session_id="a"), init("b"), result("t", session="a")])
    assert fold(outcomes)["t"].status == "denied"


def test_a_session_named_late_owns_the_earlier_calls() -> None:
    outcomes = run([*tool("t"), result(session="c")])
    assert OwnerCorrected("t", "c", "1", None) in outcomes  # type: ignore[arg-type]  # plain text for an id
    assert fold(outcomes)["t"].session == "c"


def test_a_known_session_takes_over_a_channel_without_a_name() -> None:
    events = [hook_event("Stop", session="c"), *tool("t"), result(session="c"), *tool("u")]
    rows = actions_of(events)
    assert (rows["t"].session, rows["u"].session) == (None, "c")


def test_channels_are_kept_apart() -> None:
    pairing = Pairing()
    found: list[Outcome] = []
    for channel, event in [("%1", init("a")), ("%2", init("b"))]:
        found += pairing.feed(event, channel=channel)
    for channel, call in [("%1", "t"), ("%2", "u")]:
        for event in tool(call):
            found += pairing.feed(event, channel=channel)
    rows: dict[str, Row] = fold(found)
    assert (rows["t"].session, rows["u"].session) == ("a", "b")


def test_a_second_client_in_a_pane_closes_the_calls_of_the_first() -> None:
    outcomes = run([init("a"), calls("t", session_id="a"), init("b")])
    assert [type(o).__name__ for o in outcomes][-2:] == ["ActionClosed", "TurnStarted"]


def test_a_session_that_starts_again_closes_its_open_calls() -> None:
    outcomes = run([start("a"), tool("t")[0], start("a")])
    assert [type(o).__name__ for o in outcomes][-1] == "ActionClosed"


def test_every_session_is_discovered_once_with_its_directory() -> None:
    outcomes = run([init("a"), result(session="a"), init("a"), pre("t", session="b")])
    assert [o for o in outcomes if isinstance(o, SessionDiscovered)] == [
        SessionDiscovered("a", "/p"),  # type: ignore[arg-type]  # plain text for an id
        SessionDiscovered("b", "/p"),  # type: ignore[arg-type]  # plain text for an id
    ]


def test_the_more_trusted_source_names_the_session_of_a_call() -> None:
    copied = [calls("t", session_id="fork", source=Source.TRANSCRIPT), returns("t", source=Source.TRANSCRIPT)]
    hooks = [pre("t", session="real"), post("t", session="real")]
    printed = [init("printed"), calls("t", session_id="printed"), returns("t")]
    assert session_of(*copied, *hooks) == "real"
    assert session_of(*hooks, *copied) == "real"
    assert session_of(*copied, *hooks, *printed) == "printed"


def test_a_transcript_that_copies_calls_of_another_session_is_a_fork() -> None:
    first = [calls("t", session_id="a", source=Source.TRANSCRIPT), returns("t", source=Source.TRANSCRIPT)]
    copy = calls("t", session_id="b", source=Source.TRANSCRIPT)
    assert links(run([*first, copy, copy])) == [("b", "a", "fork")]


def test_a_transcript_line_may_name_the_session_it_was_forked_from() -> None:
    forked = writes("x", source=Source.TRANSCRIPT, forkedFrom={"sessionId": "a", "messageUuid": "u"})
    assert links(run([forked])) == [("s-1", "a", "fork")]


def test_clearing_links_the_next_session_in_the_same_directory() -> None:
    ended = hook_event("SessionEnd", session="a", reason="clear")
    elsewhere = hook_event("SessionStart", session="x", source="clear", cwd="/elsewhere")
    began = hook_event("SessionStart", session="b", source="clear")
    again = hook_event("SessionStart", session="c", source="clear")
    assert links(run([ended, elsewhere, began, again])) == [("b", "a", "clear")]
    assert links(run([hook_event("SessionEnd", session="", reason="clear"), began])) == []


def test_a_conversation_that_continues_under_another_id_is_linked() -> None:
    reset = event_from(type="conversation_reset", session_id="a", new_conversation_id="b")
    assert links(run([reset])) == [("b", "a", "clear")]


def test_compaction_links_a_session_to_itself_once() -> None:
    boundary = event_from(type="system", subtype="compact_boundary", session_id="a", uuid="u")
    assert links(run([boundary, boundary])) == [("a", "a", "compact")]
    assert links(run([event_from(type="system", subtype="compact_boundary")])) == []


def test_hook_events_and_transcript_lines_without_a_session_belong_to_the_channel() -> None:
    assert session_of(init("a"), pre("t", session=""), post("t", session="")) == "a"


def test_a_session_is_discovered_again_when_its_directory_becomes_known() -> None:
    outcomes = run([calls("t", session_id="a"), init("a"), init("a", uuid="u", cwd="/elsewhere")])
    assert [o for o in outcomes if isinstance(o, SessionDiscovered)] == [
        SessionDiscovered("a", None),  # type: ignore[arg-type]  # plain text for an id
        SessionDiscovered("a", "/p"),  # type: ignore[arg-type]  # plain text for an id
    ]
