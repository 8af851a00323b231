"""The scripted model server: loopback only, several sessions at once, failures on demand."""

import contextlib
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from chorus.demo.model_server.server import ModelServer
from tests.lab.script import Cut, Refuse, StreamError, Text, ToolUse, WaitFor


@pytest.fixture
def model_server() -> Iterator[ModelServer]:
    with ModelServer() as model_server:
        yield model_server


def ask(
    model_server: ModelServer, *messages: dict[str, Any], session: str = "one"
) -> tuple[int, list[dict[str, Any]]]:
    body = {"model": "m", "stream": True, "messages": list(messages)}
    body["metadata"] = {"user_id": json.dumps({"session_id": session})}
    with contextlib.closing(http.client.HTTPConnection(*model_server.address, timeout=10)) as connection:
        connection.request("POST", "/v1/messages?beta=true", json.dumps(body))
        with connection.getresponse() as answer:
            lines = answer.read().decode().splitlines()
    return answer.status, [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


ASSISTANT = {"role": "assistant", "content": [{"type": "text", "text": "…"}]}


def texts(events: list[dict[str, Any]]) -> str:
    return "".join(
        event["delta"].get("text", "") for event in events if event["type"] == "content_block_delta"
    )


def test_the_model_server_listens_on_loopback_only(model_server: ModelServer) -> None:
    assert model_server.address[0] == "127.0.0.1"
    # All of 127/8 is this machine: a socket bound to every address would accept this too.
    with socket.socket() as other, pytest.raises(ConnectionRefusedError):
        other.connect(("127.0.0.2", model_server.address[1]))


def test_the_turn_follows_from_the_messages_alone(model_server: ModelServer) -> None:
    model_server.scripts = {"first": [[Text("a")], [Text("b")]], "second": [[Text("c")]]}

    assert texts(ask(model_server, user("first"))[1]) == "a"
    assert texts(ask(model_server, user("first"), ASSISTANT, user("go on"))[1]) == "b"
    assert texts(ask(model_server, user("first"), ASSISTANT, user("second"))[1]) == "c"
    assert (
        texts(ask(model_server, user("first"), ASSISTANT, user("go on"), ASSISTANT, user("?"))[1]) == "Done."
    )
    assert texts(ask(model_server, user("something else"))[1]) == "Done."


def test_a_reminder_that_names_a_script_does_not_start_it(model_server: ModelServer) -> None:
    model_server.scripts = {"first": [[Text("a")]], "second": [[Text("b")]]}
    blocks = [{"type": "text", "text": "first"}, {"type": "text", "text": "<system-reminder>second"}]

    assert texts(ask(model_server, {"role": "user", "content": blocks})[1]) == "a"


def test_a_failure_happens_the_scripted_number_of_times_per_session(model_server: ModelServer) -> None:
    model_server.scripts = {"go": [[Refuse(529, times=2), Text("a")]]}

    assert [ask(model_server, user("go"))[0] for _ in range(3)] == [529, 529, 200]
    assert ask(model_server, user("go"), session="two")[0] == 529


def test_a_cut_drops_the_connection_after_the_steps_before_it(model_server: ModelServer) -> None:
    model_server.scripts = {"go": [[Text("a"), Cut(), Text("b")]]}

    with pytest.raises(http.client.IncompleteRead):
        ask(model_server, user("go"))
    assert texts(ask(model_server, user("go"))[1]) == "ab"


def test_an_error_in_the_stream_ends_it(model_server: ModelServer) -> None:
    model_server.scripts = {"go": [[Text("a"), StreamError()]]}

    assert [event["type"] for event in ask(model_server, user("go"))[1]][-1] == "error"


def test_a_gate_holds_one_session_and_not_the_other(model_server: ModelServer) -> None:
    gate = threading.Event()
    model_server.scripts = {
        "slow": [[WaitFor(gate), Text("a")]],
        "fast": [[ToolUse("Read", {"x": 1}, id="t1")]],
    }
    slow: list[str] = []
    waiting = threading.Thread(target=lambda: slow.append(texts(ask(model_server, user("slow"))[1])))
    waiting.start()

    fast = ask(model_server, user("fast"), session="two")[1]

    assert [event["content_block"]["id"] for event in fast if event["type"] == "content_block_start"] == [
        "t1"
    ]
    assert fast[-2]["delta"]["stop_reason"] == "tool_use"
    assert not slow
    gate.set()
    waiting.join(timeout=10)
    assert slow == ["a"]
    assert {request.session for request in model_server.messages()} == {"one", "two"}
