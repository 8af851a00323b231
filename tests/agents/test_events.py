"""One typed event per object, whatever the object is."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chorus.agents.claude_code.events import (
    Event,
    Known,
    Malformed,
    Unknown,
    control,
    hook,
    parse_event,
    system,
)
from chorus.agents.claude_code.events import messages as said
from chorus.agents.claude_code.events.messages import (
    MalformedBlock,
    Other,
    Text,
    ToolResult,
    ToolUse,
    UnknownBlock,
)
from chorus.agents.claude_code.events.names import (
    BOOKKEEPING,
    HOOKS,
    IRRELEVANT_EVENTS,
    IRRELEVANT_SYSTEM_EVENTS,
    REQUESTS,
)
from chorus.agents.claude_code.events.parser import MAX_TYPE_LENGTH
from chorus.agents.claude_code.pairing import Pairing
from chorus.agents.interface import Source

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
TYPES = [
    "assistant", "user", "system", "result", "stream_event", "stream", "tool_use", "tool_result", "text",
    "session_start", "permission_request", "error", "control_request", "sdk_control_request", "control",
    "control_response", "control_cancel_request", "conversation_reset", "summary", "queue-operation",
    "attachment", "mode", "file-history-snapshot", "keep_alive", "no-such-type",
]  # fmt: skip
SUBTYPES = [
    "init", "status", "task_started", "task_updated", "task_notification", "permission_denied",
    "compact_boundary", "api_retry", "can_use_tool", "permission", "hook_callback", "initialize", "interrupt",
    "set_permission_mode", "mcp_message", "success", "error", "no-such-subtype",
]  # fmt: skip
EVENTS = [
    "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest",
    "PermissionDenied", "UserPromptSubmit", "SessionStart", "SessionEnd", "Stop", "SubagentStop",
    "MessageDisplay", "Notification", "NoSuchHook",
]  # fmt: skip
KEYS = [
    "type",
    "subtype",
    "session_id",
    "sessionId",
    "uuid",
    "timestamp",
    "cwd",
    "agent_id",
    "agentId",
    "parent_tool_use_id",
    "prompt_id",
    "promptId",
    "message",
    "content",
    "role",
    "id",
    "name",
    "toolName",
    "toolInput",
    "input",
    "tool_use_id",
    "toolUseId",
    "is_error",
    "isError",
    "tool_use_result",
    "toolUseResult",
    "tool_result_meta",
    "permission_denials",
    "tool_name",
    "tool_input",
    "tool_response",
    "tool_calls",
    "event",
    "request",
    "request_id",
    "response",
    "behavior",
    "updatedInput",
    "task_id",
    "task_type",
    "patch",
    "status",
    "hook_event_name",
    "prompt",
    "source",
    "reason",
    "error",
    "is_interrupt",
    "text",
    "delta",
    "origin",
    "kind",
    "isMeta",
    "isSidechain",
    "isReplay",
    "isCompactSummary",
    "toolDenialKind",
    "permissionDecision",
    "decision",
    "filePath",
    "file_path",
    "structuredPatch",
    "originalFile",
    "bashEditDiff",
    "files",
    "changedFiles",
    "moreFiles",
    "new_conversation_id",
    "forkedFrom",
    "hookSpecificOutput",
    "continue",
]
WORDS = st.sampled_from(
    [*TYPES, *SUBTYPES, *EVENTS, "toolu_1", "toolu_2", "", "deny", "allow", "clear", "Edit"]
)
# Objects made of the protocol's own words in all the wrong places.
TWISTED = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=25,
)


def stream(**value: Any) -> Event:
    return parse_event(value, source=Source.STREAM)


def known(kind: type[Known], event: Event) -> Any:
    assert isinstance(event, kind), event
    return event


@pytest.mark.parametrize(
    "spelling",
    [
        {"type": "tool_use", "id": "t", "toolName": "Edit", "toolInput": {"a": 1}, "sessionId": "s"},
        {
            "type": "tool_use",
            "tool_use_id": "t",
            "tool_name": "Edit",
            "tool_input": {"a": 1},
            "session_id": "s",
        },
        {"type": "tool_use", "toolUseId": "t", "name": "Edit", "input": {"a": 1}, "session_id": "s"},
    ],
)
def test_every_spelling_is_read_into_one_field(spelling: dict[str, Any]) -> None:
    event = known(said.ToolUseLine, parse_event(spelling, source=Source.STREAM))
    assert (event.id, event.tool, event.input, event.session) == ("t", "Edit", {"a": 1}, "s")


def test_results_are_read_in_both_spellings() -> None:
    for value in ({"toolUseId": "t", "isError": True}, {"tool_use_id": "t", "is_error": True}):
        event = known(said.ToolResultLine, stream(type="tool_result", **value))
        assert (event.id, event.is_error) == ("t", True)
    for key in ("tool_use_result", "toolUseResult"):
        event = known(said.User, stream(type="user", message={"content": "x"}, **{key: {"a": 1}}))
        assert event.response == {"a": 1}


def test_a_big_payload_is_taken_as_it_is_not_copied() -> None:
    given = {"content": "x" * 100_000}
    block = {"type": "tool_use", "id": "t", "name": "Write", "input": given}
    event = known(said.Assistant, stream(type="assistant", message={"content": [block]}))
    assert event.content[0].input is given


def test_the_control_protocol_is_read_in_both_forms() -> None:
    real = {
        "subtype": "can_use_tool",
        "tool_name": "Edit",
        "input": {"a": 1},
        "tool_use_id": "t",
        "agent_id": "g",
    }
    old = {"subtype": "permission", "request_id": "r", "tool_name": "Edit", "tool_input": {"a": 1}}
    first = known(control.CanUseTool, stream(type="control_request", request_id="r", request=real))
    second = known(control.CanUseTool, stream(type="sdk_control_request", request=old))
    assert (first.request, first.tool, first.input) == (second.request, second.tool, second.input)
    assert (first.call, first.asking_agent) == ("t", "g")


def test_both_directions_of_a_request_keep_their_source() -> None:
    value = {"type": "control_cancel_request", "request_id": "r"}
    assert known(control.Cancel, parse_event(value, source=Source.CONTROL_OUT)).source is Source.CONTROL_OUT


def test_an_object_cannot_set_its_source() -> None:
    event = known(said.TextLine, stream(type="text", text="x", **{"chorus:source": "hook"}))
    assert event.source is Source.STREAM


@pytest.mark.parametrize("name", [*HOOKS, *EVENTS[:-1]])
def test_every_hook_event_of_the_client_is_known(name: str) -> None:
    required = {"tool_name": "Edit", "tool_calls": [], "prompt": "x", "session_id": "s"}
    event = parse_event({"hook_event_name": name, **required}, source=Source.HOOK)
    assert known(hook.Hook, event).event == name


@pytest.mark.parametrize("kind", [*IRRELEVANT_EVENTS, *BOOKKEEPING])
def test_irrelevant_events_are_known(kind: str) -> None:
    assert isinstance(stream(type=kind), Known)


@pytest.mark.parametrize("subtype", IRRELEVANT_SYSTEM_EVENTS)
def test_system_notices_are_known(subtype: str) -> None:
    assert known(system.IrrelevantEvent, stream(type="system", subtype=subtype)).subtype == subtype


@pytest.mark.parametrize("subtype", [*REQUESTS, "new_thing"])
def test_other_requests_are_known(subtype: str) -> None:
    event = stream(type="control_request", request_id="r", request={"subtype": subtype})
    assert known(control.OtherRequest, event).request == "r"


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"type": "from-the-future"}, "from-the-future"),
        ({"type": "x" * 500}, "x" * MAX_TYPE_LENGTH),
        ({"type": "system", "subtype": "new_thing"}, "system/new_thing"),
        ({"hook_event_name": "NewHook"}, "hook/NewHook"),
        ({"name": "package.json"}, "untyped"),
        ({}, "untyped"),
    ],
)
def test_a_new_type_is_unknown_with_its_name(value: dict[str, Any], kind: str) -> None:
    assert parse_event(value, source=Source.STREAM) == Unknown(kind, Source.STREAM)


def test_an_object_with_a_type_is_not_a_hook_event() -> None:
    assert parse_event({"type": "user", "message": {}}, source=Source.HOOK) == Unknown("user", Source.HOOK)


@pytest.mark.parametrize(
    ("value", "kind", "reason"),
    [
        ({"type": 7}, "event", "type is int"),
        ({"type": ["user"]}, "event", "type is list"),
        ({"type": "system", "subtype": 7}, "system", "subtype is int"),
        ({"type": "control_request", "request": {"subtype": {}}}, "control_request", "subtype is dict"),
        ({"hook_event_name": 7}, "hook", "hook_event_name is int"),
        ({"hook_event_name": "PostToolBatch", "tool_calls": {}}, "hook/PostToolBatch", "not a list"),
        ({"hook_event_name": "PostToolBatch", "tool_calls": [{}]}, "hook/PostToolBatch", "tool_name"),
        ({"type": "user", "content": "no message"}, "user", "message"),
        ({"type": "user", "message": "text"}, "user", "message"),
        ({"type": "user", "message": {"content": 7}}, "user", "content is int"),
        ({"type": "assistant", "message": {"content": []}, "session_id": 7}, "assistant", "session_id"),
        ({"type": "tool_result", "isError": "yes"}, "tool_result", "isError"),
        ({"type": "tool_use", "toolName": "Edit", "toolInput": "text"}, "tool_use", "toolInput"),
        ({"type": "result", "is_error": "true"}, "result", "is_error"),
        ({"type": "result", "permission_denials": {}}, "result", "not a list"),
        ({"type": "result", "permission_denials": [{"tool_use_id": 7}]}, "result", "tool_use_id"),
        ({"type": "control_response"}, "control_response", "response"),
        ({"type": "control_cancel_request"}, "control_cancel_request", "request_id"),
        ({"type": "system", "subtype": "task_started"}, "system/task_started", "task_id"),
    ],
)
def test_a_malformed_event_has_a_reason(value: dict[str, Any], kind: str, reason: str) -> None:
    event = parse_event(value, source=Source.STREAM)
    assert isinstance(event, Malformed)
    assert event.kind == kind
    assert reason in event.reason


def test_a_value_that_is_not_an_object_is_malformed() -> None:
    event = parse_event(["list"], source=Source.STREAM)  # type: ignore[arg-type]  # the wrong type on purpose
    assert event == Malformed("event", "list, not an object", Source.STREAM)


def test_an_inessential_field_of_the_wrong_type_counts_as_absent() -> None:
    event = known(said.TextLine, stream(type="text", text="x", uuid=7, timestamp=[], cwd=None))
    assert (event.uuid, event.time, event.cwd) == (None, None, None)


def test_one_malformed_block_does_not_affect_the_others() -> None:
    blocks = [
        {"type": "text", "text": "a"},
        {"type": "tool_use", "id": 7, "name": "Edit"},
        {"type": "from-the-future"},
        "no block",
        {"type": 7},
        {"type": "image", "source": {}},
        {"type": "tool_use", "id": "t", "name": "Edit", "input": {}},
    ]
    event = known(said.Assistant, stream(type="assistant", message={"content": blocks}))
    kinds = [type(block) for block in event.content]
    assert kinds == [Text, MalformedBlock, UnknownBlock, MalformedBlock, MalformedBlock, Other, ToolUse]


def test_a_result_may_have_no_error_mark() -> None:
    block = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "ok"}]}
    event = known(said.User, stream(type="user", message={"content": [block]}))
    (result,) = event.content
    assert isinstance(result, ToolResult)
    assert result.is_error is None


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}, "deny"),
        ({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}, "allow"),
        ({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}, None),
        ({"hookSpecificOutput": {"decision": {"behavior": "deny", "message": "no"}}}, "deny"),
        ({"hookSpecificOutput": {"decision": {"behavior": "allow", "updatedInput": {}}}}, "allow"),
        ({"decision": "block", "reason": "no"}, "deny"),
        ({"decision": "approve"}, "allow"),
        ({"continue": True, "suppressOutput": True, "systemMessage": "x"}, None),
        ({"continue": False, "stopReason": "x"}, None),
    ],
)
def test_hook_output_is_recognized_by_its_keys(answer: dict[str, Any], verdict: str | None) -> None:
    assert known(hook.HookOutput, parse_event(answer, source=Source.HOOK)).verdict == verdict


@given(JSON, st.sampled_from(Source))
def test_no_json_raises(value: Any, source: Source) -> None:
    event = parse_event(value, source=source)
    Pairing().feed(event)


@given(st.lists(st.tuples(TWISTED, st.sampled_from(Source)), max_size=12))
def test_known_names_in_the_wrong_places_do_not_raise(values: list[tuple[Any, Source]]) -> None:
    pairing = Pairing()
    for value, source in values:
        pairing.feed(parse_event(value, source=source))
    pairing.close()


def test_depth_and_size_do_not_matter() -> None:
    deep: Any = "bottom"
    for _ in range(900):  # the decoder refuses to go deeper than this
        deep = {"input": deep, "content": [deep]} if isinstance(deep, str) else {"input": deep}
    value = {"type": "tool_use", "id": "t", "name": "Edit", "input": deep, "session_id": "s"}
    assert isinstance(parse_event(value, source=Source.STREAM), said.ToolUseLine)
    numbers = {"type": "result", "duration_ms": 10**400, "permission_denials": [], "usage": deep}
    assert isinstance(parse_event(numbers, source=Source.STREAM), system.Result)
    assert known(said.TextLine, stream(type="text", text="\ud800")).text == "\ud800"
