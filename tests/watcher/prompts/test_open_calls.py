"""The questions of the call that the prompt on the screen belongs to."""

from typing import Any

import pytest

from chorus.agents.claude_code.adapter import AGENT
from chorus.agents.claude_code.dialogs.reader import read_screen
from chorus.model.action import Action, Call, WriteScope
from chorus.model.ids import SessionId, ToolUseId
from chorus.model.outcomes import ActionClosed, CallOpened, SessionEnded, SessionIdle
from chorus.model.prompt import Prompt
from chorus.watcher.prompts.open_calls import OpenCalls
from tests.screens import screen_text, shipped_rules

SESSION = SessionId("one")
TWO_QUESTIONS = "screens/2.1.325/askmultifirst_80.txt"


def shown(name: str) -> Prompt:
    found = read_screen(screen_text(name), shipped_rules()).found
    assert isinstance(found, Prompt)
    return found


def questions(*texts: str) -> dict[str, Any]:
    return {"questions": [{"question": text, "header": text[:5], "options": []} for text in texts]}


def open_calls(*inputs: dict[str, Any]) -> OpenCalls:
    calls = OpenCalls(AGENT.prompts)
    for number, given in enumerate(inputs):
        call = Call(ToolUseId(f"t{number}"), "AskUserQuestion", given, (), WriteScope.NOTHING, SESSION)
        calls.feed(CallOpened(call))
    return calls


def test_a_call_with_fewer_questions_is_not_the_one_on_the_screen() -> None:
    alone, both = questions("Which features?"), questions("Which features?", "Which language?")
    prompt = shown(TWO_QUESTIONS)

    assert open_calls(alone).questions_of(prompt, SESSION) is None
    assert open_calls(alone, both).questions_of(prompt, SESSION) == both
    assert open_calls(both).questions_of(prompt, SessionId("other")) is None


def test_the_newer_of_two_equal_calls_is_on_the_screen() -> None:
    older, newer = questions("Which features?", "How many?"), questions("Which features?", "Which language?")

    assert open_calls(older, newer).questions_of(shown(TWO_QUESTIONS), SESSION) == newer


@pytest.mark.parametrize(
    ("time", "again"),
    [
        ("2026-01-02T00:00:01Z", True),
        ("2026-01-01T00:00:00Z", False),
        ("2026-13-45T99:00:00Z", False),
        ("2026-01-03T00:00:00", False),  # of no place on earth
        ("soon", False),
    ],
)
def test_only_a_later_call_makes_it_another_prompt(time: str, again: bool) -> None:
    prompt = shown(TWO_QUESTIONS)
    given = questions("Which features?", "Which language?")
    call = Call(ToolUseId("t9"), "AskUserQuestion", given, (), WriteScope.NOTHING, SESSION, time=time)

    since = "2026-01-02T00:00:00Z"
    assert OpenCalls(AGENT.prompts).is_asked_again(CallOpened(call), prompt, SESSION, since) is again


@pytest.mark.parametrize(("session", "again"), [("one", True), ("another", False), ("z", False)])
def test_the_end_of_a_call_of_another_session_does_not_make_it_another_prompt(
    session: str, again: bool
) -> None:
    given = questions("Which features?", "Which language?")
    calls = open_calls(given, given)
    ended = Action(
        ToolUseId("t9"), "AskUserQuestion", given, "succeeded", SessionId(session), None, None, (),
        WriteScope.NOTHING, None, None, None, None,
    )  # fmt: skip
    since = "2026-01-02T00:00:00Z"
    assert calls.is_asked_again(ActionClosed(ended), shown(TWO_QUESTIONS), SESSION, since) is again


def ended(name: str, session: SessionId = SESSION) -> ActionClosed:
    given = questions("Which features?", "Which language?")
    return ActionClosed(
        Action(
            ToolUseId(name), "AskUserQuestion", given, "succeeded", session, None, None, (),
            WriteScope.NOTHING, None, None, None, None,
        )
    )  # fmt: skip


def test_a_call_is_open_until_it_or_its_session_ends() -> None:
    both, prompt = questions("Which features?", "Which language?"), shown(TWO_QUESTIONS)
    calls = open_calls(both)
    for outcome in (ended("t7"), SessionEnded(SessionId("other"), None), SessionIdle(SESSION)):
        calls.feed(outcome)
        assert calls.questions_of(prompt, SESSION) == both
    calls.feed(ended("t0"))
    assert calls.questions_of(prompt, SESSION) is None
    calls = open_calls(both)
    calls.feed(SessionEnded(SESSION, None))
    assert calls.questions_of(prompt, SESSION) is None


def test_the_end_of_the_only_call_does_not_make_it_another_prompt() -> None:
    both, prompt = questions("Which features?", "Which language?"), shown(TWO_QUESTIONS)
    since = "2026-01-02T00:00:00Z"
    assert not open_calls(both).is_asked_again(ended("t0"), prompt, SESSION, since)
    assert open_calls(both, both).is_asked_again(ended("t0"), prompt, SESSION, since)
    elsewhere = open_calls()
    other = Call(ToolUseId("t1"), "AskUserQuestion", both, (), WriteScope.NOTHING, SessionId("other"))
    elsewhere.feed(CallOpened(other))
    assert not elsewhere.is_asked_again(ended("t0"), prompt, SESSION, since)
    unlike = open_calls()
    unlike.feed(CallOpened(Call(ToolUseId("t1"), "Bash", {}, (), WriteScope.ANYWHERE, SESSION)))
    assert not unlike.is_asked_again(ended("t9"), prompt, SESSION, since)
    assert not open_calls(both).is_asked_again(SessionIdle(SESSION), prompt, SESSION, since)


@pytest.mark.parametrize(
    ("session", "tool", "time"),
    [
        (SessionId("other"), "AskUserQuestion", "2026-01-03T00:00:00Z"),
        (SESSION, "Bash", "2026-01-03T00:00:00Z"),
        (SESSION, "AskUserQuestion", None),
        (SESSION, "AskUserQuestion", "2026-01-02T00:00:00Z"),
    ],
)
def test_a_call_of_another_kind_session_or_time_is_not_the_one_on_the_screen(
    session: SessionId, tool: str, time: str | None
) -> None:
    given = questions("Which features?", "Which language?")
    call = Call(ToolUseId("t9"), tool, given, (), WriteScope.NOTHING, session, time=time)
    calls, since = OpenCalls(AGENT.prompts), "2026-01-02T00:00:00Z"
    assert not calls.is_asked_again(CallOpened(call), shown(TWO_QUESTIONS), SESSION, since)
