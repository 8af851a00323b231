"""Every example message and every scenario of the protocol notes gives what it says, however it is spelled.

Each is read as a stream, and as a capture of a pane that wraps at 20, 37, 80 and 121 columns and whose width
is not given. The scenarios list only the fields that matter; here calls and results have ids, as real ones.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from chorus.agents import load_agent
from chorus.commands.inspect import inspect
from chorus.model.api.json_api import InspectJson
from tests.agents.terminal.tmux_rows import capture

NOTES = Path(__file__).parent.parent.parent / "fixtures" / "notes"
SCENARIOS: list[dict[str, Any]] = json.loads((NOTES / "scenarios.json").read_text())
WIDTHS = (20, 37, 80, 121)
# Every field of the notes that one of them, or the client, spells the other way.
OTHER_NAMES = {
    "session_id": "sessionId", "tool_use_id": "toolUseId", "is_error": "isError", "tool_name": "toolName",
    "tool_input": "toolInput", "parent_tool_use_id": "parentToolUseId", "num_turns": "numTurns",
    "permission_denials": "permissionDenials", "duration_ms": "durationMs",
    "duration_api_ms": "durationApiMs", "total_cost_usd": "totalCostUsd", "stop_reason": "stopReason",
    "total_input_tokens": "totalInputTokens", "total_output_tokens": "totalOutputTokens",
    "input_tokens": "inputTokens", "output_tokens": "outputTokens",
    "cache_read_input_tokens": "cacheReadInputTokens",
    "cache_creation_input_tokens": "cacheCreationInputTokens", "permission_mode": "permissionMode",
    "tool_use_result": "toolUseResult", "model_usage": "modelUsage", "request_id": "requestId",
    "server_name": "serverName", "claude_code_version": "claudeCodeVersion",
}  # fmt: skip
SPELLINGS = {
    "snake_case": {other: name for name, other in OTHER_NAMES.items()},
    "camelCase": OTHER_NAMES,
    "as written": {},
}


def respell(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        if "jsonrpc" in value:
            return value  # a message of MCP, which has its own spelling
        return {names.get(key, key): respell(item, names) for key, item in value.items()}
    return [respell(item, names) for item in value] if isinstance(value, list) else value


def render(events: list[dict[str, Any]]) -> list[str]:
    return [json.dumps(event, ensure_ascii=False, separators=(",", ":")) for event in events]


def readings(events: list[dict[str, Any]]) -> list[InspectJson]:
    """What is found in the events as a stream, and as captures of each width."""
    lines = render(events)
    captures = [capture(lines, width) for width in WIDTHS]
    found = [inspect([text.encode()]).as_json() for text in ("".join(f"{one}\n" for one in lines), *captures)]
    for one, width in zip(found[1:], WIDTHS, strict=True):
        assert one["unused"] == []
        if any(len(row) == width for row in capture(lines, width).split("\n")):
            assert one["width"] in (width, None)  # None: nothing is wrapped
    return found


def read_note(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (NOTES / f"{name}.jsonl").read_text().splitlines()]


def turns(found: InspectJson) -> list[list[Any]]:
    return [[turn["state"], turn["answer"], turn["error"]] for turn in found["turns"]]


def messages(found: InspectJson) -> list[str | None]:
    return [turn["message"] for turn in found["turns"]]


def tokens(found: InspectJson) -> list[list[int]]:
    return [[turn["tokens"]["input"], turn["tokens"]["output"]] for turn in found["turns"]]


def actions(found: InspectJson) -> list[list[Any]]:
    return [[action["tool"], action["status"]] for action in found["actions"]]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario["name"])
def test_a_scenario_gives_its_turns_and_actions(scenario: dict[str, Any], spelling: str) -> None:
    named = [{**event, "session_id": "s"} for event in scenario["events"]]
    for events in (named, scenario["events"]):
        for found in readings(respell(events, SPELLINGS[spelling])):
            assert turns(found) == scenario["turns"]
            assert actions(found) == scenario["actions"]
            assert messages(found) == scenario.get("messages", ["..."] * len(scenario["turns"]))
            assert tokens(found) == scenario.get("tokens", [[0, 0]] * len(scenario["turns"]))
            assert [prompt["text"] for prompt in found["prompts"]] == scenario.get("prompts", [])
            assert (found["unknown"], found["problems"]) == ({}, {})
    respelled = render(respell(named, SPELLINGS[spelling]))
    (session,) = inspect(["\n".join([*respelled, ""]).encode()]).as_json()["sessions"]
    assert (session["id"], session["state"], session.get("mode")) == ("s", "idle", scenario["mode"])
    assert session.get("error") == scenario["turns"][-1][2]


def test_the_basic_messages_give_a_turn_with_its_use_and_each_error() -> None:
    for found in readings(read_note("stream_basics")):
        assert actions(found) == [["Write", "succeeded"]]
        assert found["actions"][0]["paths"] == ["/tmp/output.txt"]
        first, second = found["turns"]
        assert (first["message"], second["message"]) == ("hello world", "What color is this?")
        assert turns(found)[1] == ["failed", "Here's my response...", "error_input"]
        assert (second["model"], second["steps"]) == ("claude-opus-4-6", 1)
        assert (second["duration_ms"], second["api_ms"], second["cost_usd"]) == (2511, 2398, 0.020422)
        used = {"input": 3, "output": 7, "cache_read": 21989, "cache_write": 1478}
        assert (second["tokens"], second["context"]) == (used, 3 + 21989 + 1478)
        assert [(one["id"], one["cwd"]) for one in found["sessions"]] == [("s-1", "/path/to/dir")]


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ({"subtype": "error_max_turns", "is_error": True, "result": "too many"}, "too many"),
        ({"subtype": "error_max_turns", "is_error": True}, "error_max_turns"),
        ({"subtype": "error", "is_error": True}, "error"),
        ({"subtype": "error_input", "is_error": True}, "error_input"),
        (
            {"subtype": "success", "is_error": True, "result": "truncated response..."},
            "truncated response...",
        ),
        ({"subtype": "success", "is_error": True, "stop_reason": "max_tokens"}, "max_tokens"),
        ({"subtype": "error_during_execution"}, "error_during_execution"),
        (
            {
                "subtype": "error_during_execution",
                "errors": [{"type": "overloaded_error", "message": "Overloaded"}, "and more"],
            },
            "overloaded_error: Overloaded; and more",
        ),
    ],
)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_failed_result_says_why(result: dict[str, Any], error: str, spelling: str) -> None:
    events = [{"type": "system", "subtype": "init", "session_id": "s"}, {"type": "result", **result}]
    for found in readings(respell(events, SPELLINGS[spelling])):
        assert turns(found) == [["failed", None, error]]
        assert found["sessions"][0].get("error") == error


def test_events_of_their_own_give_actions_prompts_tokens_and_the_error() -> None:
    for found in readings(read_note("events_of_their_own")):
        assert actions(found) == [["Edit", "succeeded"], ["Bash", "failed"], ["Edit", "unfinished"]]
        assert turns(found) == [["done", "Done.", None]]
        (turn,) = found["turns"]
        assert (turn["message"], turn["session"]) == ("Please update the README", "abc123")
        assert (turn["tokens"]["input"], turn["tokens"]["output"]) == (1523, 842)
        asked = ["Allow Claude to execute 'rm -rf /tmp/build'?", "Allow?"]
        assert [prompt["text"] for prompt in found["prompts"]] == asked
        assert found["sessions"][0].get("error") == "api_error: Rate limit exceeded"
        assert (found["unknown"], found["problems"]) == ({}, {})


def test_the_control_protocol_gives_the_prompt_and_its_first_answer() -> None:
    for found in readings(read_note("control_protocol")):
        assert turns(found) == [["done", "Paris is...", None]]
        assert found["turns"][0]["cost_usd"] == 0.001
        (prompt,) = found["prompts"]
        assert (prompt["tool"], prompt["session"], prompt["answer"]) == ("Bash", "abc123", "allow")
        assert (found["unknown"], found["problems"]) == ({}, {})


def test_the_verified_runs_give_mode_version_use_and_calls() -> None:
    for found in readings(read_note("verified_runs")):
        assert actions(found) == [["Bash", "succeeded"]]
        assert turns(found) == [["done", "Done — output: `hello-from-tool`", None]]
        (turn,) = found["turns"]
        assert (turn["message"], turn["mode"]) == ("Your prompt here", "bypassPermissions")
        assert (turn["cost_usd"], turn["duration_ms"], turn["steps"]) == (0.099, 26284, 2)
        (session,) = found["sessions"]
        assert (session.get("version"), session.get("model")) == ("2.1.37", "claude-opus-4-6")
        # Two results in the note stand alone: their calls are not shown.
        assert found["problems"] == {"result-without-call": 2}


@pytest.mark.parametrize(
    ("message", "unknown", "problems"),
    [
        ({"type": "user", "content": "..."}, {}, {"malformed:user": 1}),
        ({"message": {"role": "user", "content": "..."}}, {"untyped": 1}, {}),
        ({"role": "user", "content": "..."}, {"untyped": 1}, {}),
    ],
)
def test_a_message_in_a_wrong_format_is_counted_and_changes_nothing(
    message: dict[str, Any], unknown: dict[str, int], problems: dict[str, int]
) -> None:
    init, answer = SCENARIOS[0]["events"][1], SCENARIOS[0]["events"][2:]
    for found in readings([init, message, *answer]):
        assert (found["unknown"], found["problems"]) == (unknown, problems)
        assert turns(found) == [["done", "Hello!", None]]
        assert messages(found) == [None]


def test_partial_messages_give_what_their_fields_say() -> None:
    for found in readings(read_note("partial_matches")):
        assert actions(found) == [["Bash", "succeeded"]]
        assert turns(found)[-1] == ["failed", "Hello!", "error_during_execution"]
        assert (found["turns"][-1]["mode"], found["turns"][-1]["duration_ms"]) == ("plan", 1234)
        assert found["sessions"][-1].get("version") == "1.0.0"
        # Calls and results without an id cannot be paired; they are counted.
        assert found["problems"] == {"call-without-id": 2, "result-without-id": 2}


@pytest.mark.parametrize("noise", ["[1]+  Done                    make", "}", '{"type":"cut off'])
@pytest.mark.parametrize("width", WIDTHS)
def test_noise_inside_a_wrapped_event_loses_nothing_else(width: int, noise: str) -> None:
    lines = render(read_note("stream_basics"))
    rows = [capture([line], width).rstrip("\n").split("\n") for line in lines]
    broken = next(place for place, row in enumerate(rows) if len(row) > 2)
    rows[broken].insert(1, noise)
    text = "".join(f"{row}\n" for one in rows for row in one).encode()
    found = inspect([text])
    assert found.width == width
    recording = load_agent().events.read_recording(width=width)
    read = [event.value for event in (*recording.feed(text), *recording.close())]
    others = [json.loads(line) for place, line in enumerate(lines) if place != broken]
    assert [event for event in others if event not in read] == []
    # Inside a string, a row of noise looks like a part of it; elsewhere the rows of that event are left over.
    assert bool(found.unused) is (len(read) == len(others))
