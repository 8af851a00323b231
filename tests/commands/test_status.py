"""What the agent watches, in words."""

from typing import Any

from chorus.commands.doctor import check_sessions
from chorus.commands.status import render


def session(name: str, state: str, *sources: str) -> dict[str, Any]:
    return {"id": name * 8, "state": state, "pane": None, "title": f"job {name}", "sources": list(sources)}


STATUS: dict[str, Any] = {
    "running": True,
    "pid": 7,
    "repository": "/r",
    "since": "now",
    "open": 2,
    "prompts": 0,
    "problems": ["inotify watch limit reached: changes are found by scanning"],
    "sessions": [session("a", "idle", "transcript"), session("b", "gone", "hook")],
}


def test_sessions_that_have_ended_are_counted_and_listed_on_request() -> None:
    short, whole = render(STATUS, ended=False), render(STATUS, ended=True)
    assert "job a" in short
    assert "job b" not in short
    assert "1 ended" in short
    assert "job b" in whole
    assert "ended" not in whole


def test_a_watch_that_cannot_be_had_is_a_problem_that_is_named() -> None:
    assert "problem: inotify watch limit reached" in render(STATUS, ended=False)


def test_a_session_without_hooks_is_named_with_the_way_to_lend_some() -> None:
    check = check_sessions(STATUS)
    assert check.ok
    assert "aaaaaaaa" in check.detail
    assert "bbbbbbbb" not in check.detail
    assert "attach --hooks" in check.detail


def test_one_of_a_thing_is_not_spoken_of_as_several() -> None:
    assert render({**STATUS, "open": 1, "prompts": 1}, ended=False).splitlines()[-2] == (
        "1 action to review, 1 prompt waiting"
    )
    assert "0 actions to review, 2 prompts waiting" in render(
        {**STATUS, "open": 0, "prompts": 2}, ended=False
    )
