"""A form of an MCP server with fields is answered from the command line, with hooks and with the mod."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.watched_session import WatchedSession
from tests.lab.script import Text, ToolUse
from tests.waiting import wait_for

pytestmark = pytest.mark.client

SERVER = {"command": sys.executable, "args": [str(Path(__file__).parent / "asking_mcp_server.py")]}
MCP = ("--mcp-config", json.dumps({"mcpServers": {"asking": SERVER}}), "--strict-mcp-config")
START: dict[str, Callable[..., None]] = {
    "hooked": WatchedSession.start_hooked,
    "modded": WatchedSession.start_modded,
}
FIELDS = ["--say", "city", "Oslo", "--say", "count", "3", "--to", "size", "small", "--to", "sure", "Yes"]
FILLED = {"city": "Oslo", "count": 3, "size": "small", "sure": True}
SECONDS = 90.0


@pytest.mark.parametrize("mode", START)
def test_a_form_with_fields_is_answered(watched: WatchedSession, mode: str) -> None:
    START[mode](watched, *MCP)
    assert fill_in(watched, "first", "answer", *FIELDS) == {"action": "accept", "content": FILLED}
    assert fill_in(watched, "second", "deny") == {"action": "decline"}
    # The user cancels the third in the pane: that is not an answer of ours.
    prompt = ask(watched, "third")
    assert watched.pane is not None
    watched.pane.wait_settled("Esc to cancel", seconds=SECONDS)
    watched.pane.press("Escape")
    assert result(watched, "third") == {"action": "cancel"}
    wait_for(lambda: not pending(watched), what="the prompt ends", seconds=SECONDS)
    assert prompt["kind"] == "question"
    (session,) = watched.chorus("status")["sessions"]
    assert ("hook" in session["sources"]) is (mode == "hooked")


def fill_in(watched: WatchedSession, message: str, verb: str, *words: str) -> Any:
    prompt = ask(watched, message)
    done = watched.chorus(verb, prompt["id"], *words)
    assert (done["how"], done["key"]) == ("form", "Escape")
    return result(watched, message)


def ask(watched: WatchedSession, message: str) -> dict[str, Any]:
    call = ToolUse("mcp__asking__trip", {})
    watched.client.model_server.scripts[message] = [[call], [Text(f"The {message} is over.")]]
    watched.send(message)
    assert watched.pane is not None
    watched.pane.wait_for("requests your input", seconds=SECONDS)
    found = wait_for(lambda: [p for p in pending(watched) if p["kind"] == "question"], seconds=SECONDS)
    (prompt,) = found
    return prompt


def pending(watched: WatchedSession) -> list[dict[str, Any]]:
    return list(watched.chorus("prompts"))


def result(watched: WatchedSession, message: str) -> Any:
    """What the server was given."""
    watched.wait_for_answer(f"The {message} is over.")
    texts = watched.client.model_server.messages()[-1].texts()
    return json.loads([text for text in texts if text.startswith('{"action"')][-1])
