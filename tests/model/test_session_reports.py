"""What the client says of itself and its errors, in the state of its session."""

import pytest

from chorus.model.ids import SessionId
from chorus.model.outcomes import (
    ErrorReported,
    Outcome,
    RateLimited,
    RequestRetried,
    SessionDescribed,
    TurnReported,
)
from chorus.model.session import Session, SessionTable

S = SessionId("s")


def fold(*outcomes: Outcome, source: str = "hook") -> Session:
    table = SessionTable()
    table.set_location(S, time="t", source=source)
    for outcome in outcomes:
        table.feed(outcome, time="t", source=source)
    return table.sessions[S]


def test_the_client_describes_itself() -> None:
    found = fold(SessionDescribed(S, "opus", None, "2.1.325"), SessionDescribed(S, mode="plan"))
    assert (found.model, found.mode, found.version) == ("opus", "plan", "2.1.325")


@pytest.mark.parametrize(
    ("outcomes", "error"),
    [
        ([RequestRetried(S, None, "overloaded", 1, 10)], "retrying after overloaded (1 of 10)"),
        ([ErrorReported(S, None, "no network")], "no network"),
        ([ErrorReported(S, None, "x"), TurnReported(S, None, answer="Done.")], None),
        ([ErrorReported(S, None, "x"), TurnReported(S, None)], "x"),
        ([TurnReported(S, None, error="max turns")], "max turns"),
        ([ErrorReported(None, None, "of no session")], None),
    ],
)
def test_an_error_is_shown_until_a_turn_ends_well(outcomes: list[Outcome], error: str | None) -> None:
    assert fold(*outcomes).error == error


def test_a_limit_that_is_lifted_is_not_shown() -> None:
    assert fold(RateLimited(S, "rejected", None)).limit == "reached"
    assert (
        fold(RateLimited(S, "rejected", 1_800_000_000)).limit == "reached, resets at 2027-01-15T08:00+00:00"
    )
    assert fold(RateLimited(S, "rejected", 10**30)).limit == f"reached, resets at {10**30}"
    assert fold(RateLimited(S, "rejected", None), RateLimited(S, "allowed", None)).limit is None


@pytest.mark.parametrize(("source", "live"), [("hook", True), ("mod", True), ("transcript", False)])
def test_a_session_is_live_if_hooks_or_the_mod_report_it(source: str, live: bool) -> None:
    assert fold(source=source).is_live is live
