"""The MCP servers of a headless session: every message of the client gets a response."""

import queue
import shlex
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chorus.watcher.panes.mcp_servers import McpServers

SECONDS = 30.0
PROGRAM = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    name = message.get("params", {}).get("name")
    if message.get("method") == "die":
        sys.exit(1)
    if message.get("method") == "mute":
        os.close(1)
        continue
    if name == "ask first":
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "method": "roots/list"}), flush=True)
        sys.stdin.readline()
    if "id" in message:
        content = [{"type": "text", "text": "Division by zero"}]
        result = {"content": content, "isError": name == "divide"}
        print("not JSON", flush=True)
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
        if name == "ask":
            print(json.dumps({"jsonrpc": "2.0", "id": 9, "method": "roots/list"}), flush=True)
"""


class Client:
    """What the client sends to the servers and gets back."""

    def __init__(self, directory: Path) -> None:
        program = directory / "server.py"
        program.write_text(PROGRAM)
        commands = {"sums": shlex.join([sys.executable, str(program)]), "none": "/no/such/program"}
        commands["deaf"] = "sleep 60"
        self.replies: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.servers = McpServers(commands, {"PATH": "/usr/bin:/bin"}, self.replies.put)

    def ask(self, server: str, **message: Any) -> dict[str, Any]:
        self.servers.send("r", server, {"jsonrpc": "2.0", **message})
        return self.next_reply()

    def next_reply(self) -> dict[str, Any]:
        reply = self.replies.get(timeout=SECONDS)
        found: dict[str, Any] = reply.get("response", reply)
        return found


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    client = Client(tmp_path)
    yield client
    client.servers.close()


def test_a_response_is_wrapped_for_the_client(client: Client) -> None:
    reply = client.ask("sums", id="msg_1", method="tools/call", params={"name": "add"})
    assert (reply["subtype"], reply["request_id"]) == ("success", "r")
    assert reply["response"]["mcp_response"]["id"] == "msg_1"


def test_a_notification_is_acknowledged_at_once(client: Client) -> None:
    reply = client.ask("sums", method="notifications/initialized")
    assert reply["response"] == {"mcp_response": {"jsonrpc": "2.0", "result": {}}}


def test_an_error_of_a_tool_is_passed_on_as_it_is(client: Client) -> None:
    reply = client.ask("sums", id=1, method="tools/call", params={"name": "divide"})
    result = reply["response"]["mcp_response"]["result"]
    assert (reply["subtype"], result["isError"]) == ("success", True)


def test_a_request_of_the_server_goes_to_the_client(client: Client) -> None:
    client.ask("sums", id=1, method="tools/call", params={"name": "ask"})
    asked = client.next_reply()
    assert asked["type"] == "control_request"
    assert asked["request"]["message"]["method"] == "roots/list"
    assert client.ask("sums", id=9, result={})["subtype"] == "success"


def test_a_request_of_the_server_may_have_the_number_of_a_pending_one(client: Client) -> None:
    asked = client.ask("sums", id=9, method="tools/call", params={"name": "ask first"})
    assert asked["request"]["message"] == {"jsonrpc": "2.0", "id": 9, "method": "roots/list"}
    assert client.ask("sums", id=9, result={})["response"]["mcp_response"]["result"] == {}
    assert client.next_reply()["response"]["mcp_response"]["result"]["isError"] is False


def test_a_server_that_does_not_read_keeps_nobody_waiting(client: Client) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"text": "x" * 200_000}}
    sending = threading.Thread(target=client.servers.send, args=("r", "deaf", message), daemon=True)
    sending.start()
    sending.join(SECONDS / 3)
    assert not sending.is_alive()
    client.servers.close()
    assert client.next_reply()["error"] == "the MCP server 'deaf' has ended"


def test_a_server_that_is_not_there_is_a_protocol_error(client: Client) -> None:
    reply = client.ask("other", id=1, method="initialize")
    assert (reply["subtype"], reply["error"]) == ("error", "there is no MCP server 'other'")
    assert client.ask("none", id=1, method="initialize")["error"] == "the MCP server 'none' has ended"


@pytest.mark.parametrize("how", ["die", "mute"])
def test_a_server_that_ends_refuses_what_it_was_asked_and_is_started_again(client: Client, how: str) -> None:
    assert client.ask("sums", id=1, method=how)["error"] == "the MCP server 'sums' has ended"
    assert client.ask("sums", id=2, method="tools/list")["subtype"] == "success"
