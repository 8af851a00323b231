import pytest

from chorus.model.action import Action, Call, WriteScope
from chorus.model.ids import SessionId, ToolUseId, TurnId
from chorus.model.outcomes import (
    ActionClosed,
    BackgroundTaskEnded,
    CallOpened,
    Outcome,
    PromptClosed,
    PromptOpened,
    SessionDiscovered,
    SessionEnded,
    SessionIdle,
    SessionLinked,
    TurnEnded,
    TurnStarted,
)
from chorus.model.session import Session, SessionTable, parse_session

S = SessionId("s")


def fold(*outcomes: Outcome) -> Session:
    roster = SessionTable()
    for number, outcome in enumerate(outcomes):
        roster.feed(outcome, time=f"t{number}", source="hook")
    return roster.sessions[S]


ASKED = PromptOpened(S, None, "Edit", {}, None, None, None, ())
CALL = Call(ToolUseId("c"), "Edit", {}, (), WriteScope.NAMED, session=S)
ACTION = Action(
    ToolUseId("c"), "Edit", {}, "succeeded", S, None, None, (), WriteScope.NAMED, None, None, None, None
)


@pytest.mark.parametrize(
    ("outcomes", "state"),
    [
        ([SessionDiscovered(S, "/p")], "idle"),
        ([SessionDiscovered(S, "/p"), TurnStarted(S, TurnId("1"), "hi")], "working"),
        ([SessionDiscovered(S, "/p"), TurnStarted(S, TurnId("1"), "/model opus")], "idle"),
        ([TurnStarted(S, TurnId("1"), None), ASKED], "waiting"),
        ([ASKED, PromptClosed(S, None, None, "allow")], "working"),
        ([CallOpened(CALL)], "working"),
        ([CallOpened(CALL), ActionClosed(ACTION)], "working"),
        ([TurnStarted(S, TurnId("1"), None), TurnEnded(S, None)], "idle"),
        ([SessionDiscovered(S, None), SessionEnded(S, "other")], "gone"),
    ],
)
def test_the_state_follows_what_happens(outcomes: list[Outcome], state: str) -> None:
    assert fold(*outcomes).state == state


def test_a_session_with_new_events_is_not_gone_any_more() -> None:
    roster = SessionTable()
    roster.feed(SessionEnded(S, "other"), time="t", source="hook")
    assert roster.set_location(S, time="t", source="pane", client="7:1").state == "idle"
    roster.feed(CallOpened(CALL), time="t", source="hook")
    assert roster.set_location(S, time="t", source="pane", client="7:2").state == "working"
    assert roster.sessions[S].client == "7:2"


def test_several_clients_may_be_in_one_session() -> None:
    roster, other = SessionTable(), SessionId("other")
    for client in ("7:1", "8:1"):
        roster.set_location(S, time="t", source="hook", client=client)
    assert roster.clients_of(S) == ["7:1", "8:1"]
    roster.set_location(S, time="t", source="hook", client="7:1")
    assert roster.clients_of(S) == ["8:1", "7:1"]
    assert roster.shared == {S}
    assert roster.remove_client(S, "8:1")
    assert roster.shared == set()
    assert roster.sessions[S].client == "7:1"
    # A client is in one session at a time.
    roster.set_location(S, time="t", source="hook", client="8:1")
    roster.set_location(other, time="t", source="hook", client="8:1")
    assert (roster.clients_of(S), roster.clients_of(other)) == (["7:1"], ["8:1"])
    assert not roster.remove_client(S, "7:1")
    roster.feed(SessionEnded(S, "other"), time="t", source="hook")
    assert roster.clients_of(S) == []
    assert roster.clients_of(SessionId("unknown")) == []


def test_the_client_of_a_saved_session_is_known() -> None:
    roster = SessionTable({S: Session(S, client="7:1")})
    assert roster.clients_of(S) == ["7:1"]


def test_an_idle_client_makes_a_session_idle_unless_it_is_gone() -> None:
    assert fold(ASKED, SessionIdle(S)).state == "idle"
    roster = SessionTable()
    roster.feed(SessionEnded(S, "exit"), time="1", source="hook")
    assert roster.feed(SessionIdle(S), time="2", source="transcript") is None
    assert roster.sessions[S].state == "gone"
    assert roster.feed(SessionIdle(SessionId("nobody")), time="2", source="transcript") is None


def test_the_title_is_the_first_message_on_one_short_line() -> None:
    long = "add\n  a " + "very " * 40 + "long thing"
    session = fold(TurnStarted(S, TurnId("1"), long), TurnStarted(S, TurnId("2"), "then that"))
    assert session.title.startswith("add a very")
    assert len(session.title) == 60


def test_a_slash_command_is_the_title_only_until_the_first_message() -> None:
    cleared = TurnStarted(S, TurnId("1"), "/clear")
    assert fold(cleared).title == "/clear"
    assert fold(cleared, TurnStarted(S, TurnId("2"), "rename it")).title == "rename it"
    path = TurnStarted(S, TurnId("1"), "/etc/hosts is wrong")
    assert fold(path, TurnStarted(S, TurnId("2"), "mend it")).title == "/etc/hosts is wrong"


def test_a_session_that_continues_another_names_its_parent() -> None:
    linked = fold(SessionLinked(S, SessionId("old"), "clear"))
    assert linked.parent == "old"
    assert SessionTable().feed(SessionLinked(S, S, "resume"), time="t", source="hook") is None


def test_first_and_last_time_and_every_source_are_kept() -> None:
    roster = SessionTable()
    roster.feed(SessionDiscovered(S, "/p"), time="1", source="hook")
    roster.feed(SessionDiscovered(S, None), time="2", source="transcript")
    session = roster.set_location(S, time="3", source="transcript", transcript="/t.jsonl", pane=None)
    assert (session.since, session.last, session.sources) == ("1", "3", ("hook", "transcript"))
    assert (session.cwd, session.transcript, session.pane) == ("/p", "/t.jsonl", None)


def test_outcomes_without_a_session_change_none() -> None:
    for outcome in (
        TurnStarted(None, TurnId("1"), None),
        TurnEnded(None, None),
        PromptClosed(None, None, None, "deny"),
        BackgroundTaskEnded(S, None, "t"),
    ):
        assert SessionTable().feed(outcome, time="t", source="hook") is None


def test_a_session_is_read_back_from_its_json() -> None:
    session = fold(SessionDiscovered(S, "/p"), TurnStarted(S, TurnId("1"), "hi"))
    assert parse_session({**session.as_json(), "from a newer version": 1}) == session
