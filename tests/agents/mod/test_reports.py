"""Reports of the mod, read as hook events."""

import re
from pathlib import Path
from typing import Any

import pytest

from chorus.agents import load_agent
from chorus.agents.claude_code.mod.reports import WAIT_SECONDS, read_report
from chorus.agents.interface import Source
from chorus.model.outcomes import ActionClosed, CallOpened, TurnReported
from chorus.model.tools import FREQUENT_TOOLS
from chorus.model.turn import TurnTable

SESSION = {"session_id": "s1", "transcript_path": "/t.jsonl", "cwd": "/p"}
CALL = {"session": SESSION, "tool": "Edit", "input": {"file_path": "/p/a"}, "call": "toolu_1", "agent": None}
MODULE = Path(__file__).parents[3] / "hooks" / "mod" / "hooks" / "register.js"


def report(event: str, **more: Any) -> dict[str, Any]:
    return {"event": event, **CALL, **more}


def test_a_hook_event_is_passed_on() -> None:
    assert read_report({"event": "hook", "hook": {"hook_event_name": "Stop"}}) == {"hook_event_name": "Stop"}


@pytest.mark.parametrize("bad", [{}, {"event": "hook"}, {"event": "new"}, {"event": "before"}])
def test_a_report_of_another_form_is_ignored(bad: dict[str, Any]) -> None:
    assert read_report(bad) is None


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ({"result": {"filePath": "/p/a"}, "text": "done"}, "succeeded"),
        ({"isError": True, "text": "<tool_use_error>String to replace not found</tool_use_error>"}, "failed"),
        ({"isError": True, "result": "Error: no"}, "failed"),
        ({"deny": "Permission to use Edit has been denied"}, "denied"),
    ],
)
def test_a_call_is_reported_before_and_after(end: dict[str, Any], status: str) -> None:
    outcomes = load_agent().events.read_outcomes()
    before, after = read_report(report("before", cwd="/p/sub")), read_report(report("after", **end))
    assert before is not None
    assert after is not None
    assert before["cwd"] == "/p/sub"
    opened = outcomes.feed_value(before, source=Source.MOD)
    closed = outcomes.feed_value(after, source=Source.MOD)
    assert [type(o) for o in opened if isinstance(o, CallOpened)] == [CallOpened]
    (action,) = [o.action for o in closed if isinstance(o, ActionClosed)]
    assert (action.id, action.status, action.session) == ("toolu_1", status, "s1")


def test_what_an_interactive_session_costs_is_counted_by_turn() -> None:
    outcomes, turns = load_agent().events.read_outcomes(), TurnTable()

    def tell(value: dict[str, Any] | None) -> None:
        assert value is not None
        for outcome in outcomes.feed_value(value, source=Source.MOD):
            turns.feed(outcome, time="2026-01-01T00:00:00Z")

    for prompt_id, total in (("p1", 0.25), ("p2", 0.75)):
        session = {**SESSION, "prompt_id": prompt_id}
        tell({**session, "hook_event_name": "UserPromptSubmit", "prompt": f"message {prompt_id}"})
        tell({**session, "hook_event_name": "Stop", "last_assistant_message": "Done."})
        measured = {"cost": {"usd": total}, "context": {"tokens": 12, "window": 200_000}}
        tell(read_report({"event": "measure", "session": session, **measured}))
    records = [record.as_json() for record in turns.all()]
    assert [(record["cost_usd"], record["window"]) for record in records] == [(0.25, 200_000), (0.5, 200_000)]
    assert [record["state"] for record in records] == ["done", "done"]


def test_a_measure_that_says_nothing_changes_nothing() -> None:
    outcomes = load_agent().events.read_outcomes()
    value = read_report({"event": "measure", "session": SESSION, "cost": "free", "context": None})
    assert value is not None
    (reported,) = [
        one for one in outcomes.feed_value(value, source=Source.MOD) if isinstance(one, TurnReported)
    ]
    assert (reported.turn, reported.total_cost, reported.window) == (None, None, None)


def test_the_module_agrees_with_the_tables_here() -> None:
    source = MODULE.read_text()
    limit = re.search(r"LIMIT_MS = (\d+)", source)
    ignored = re.search(r"IGNORED_TOOLS = \[(.*)\]", source)
    assert limit is not None
    assert ignored is not None
    assert int(limit[1]) / 1000 == WAIT_SECONDS
    assert sorted(re.findall(r'"(\w+)"', ignored[1])) == sorted(FREQUENT_TOOLS)
