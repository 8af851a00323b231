"""Each example message of the protocol notes: its outcomes, in both spellings, as a stream and wrapped.

A message is read in a session that has begun a turn, after the call or the request that it answers. The
outcomes are in fixtures/notes/outcomes.json, in the order of the messages; none where a message tells nothing
about a session, a turn, a call, a prompt, text, use or an error. A wrapped capture is read as a live one is,
without being told its width.
"""

import json
from collections.abc import Iterable
from typing import Any

import pytest

from chorus.agents.claude_code.adapter import AGENT
from chorus.agents.interface import Source
from chorus.model.action import Action, Call
from chorus.model.outcomes import Outcome
from tests.agents.terminal.tmux_rows import capture
from tests.commands.test_protocol_notes import NOTES, SPELLINGS, WIDTHS, read_note, render, respell

Message = dict[str, Any]
OUTCOMES: dict[str, list[list[str]]] = json.loads((NOTES / "outcomes.json").read_text())
NAMES = sorted(path.stem for path in NOTES.glob("*.jsonl"))
INIT = {"type": "system", "subtype": "init", "session_id": "here", "cwd": "/here", "uuid": "u-init"}
USER = {"type": "user", "message": {"role": "user", "content": "begin"}, "uuid": "u-user"}
ASKED = {
    "subtype": "permission",
    "request_id": "perm_1",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
}


def context_of(message: Message) -> list[Message]:
    """What comes before a message: a turn of its session, and the call or the request that it answers."""
    if message.get("subtype") == "init" or message["type"] == "session_start":
        return []
    content = message.get("message", {}).get("content")
    is_result = isinstance(content, list) and content[0]["type"] == "tool_result"
    session = message.get("session_id") or message.get("sessionId") or "here"
    before: list[Message] = [{**INIT, "session_id": session}]
    if message["type"] != "user" or is_result:
        before.append(USER)
    blocks = [message, *(content if isinstance(content, list) else [])]
    for block in blocks:
        call = block.get("tool_use_id") or block.get("toolUseId")
        if block.get("type") == "tool_result" and call:
            tool = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "ls"}}
            before.append({"type": "assistant", "message": {"role": "assistant", "content": [tool]}})
    if message.get("response", {}).get("request_id") == "perm_1":
        before.append({"type": "sdk_control_request", "request": ASKED})
    return before


def describe(outcome: Outcome) -> str:
    """An outcome in one line, without what is not known."""
    values: Any = (
        outcome._asdict()
        if isinstance(outcome, tuple)
        else {name: getattr(outcome, name) for name in outcome.__slots__}
    )
    parts = []
    for name, value in values.items():
        if isinstance(value, Call | Action):
            parts += [f"{value.tool}", *([value.status] if isinstance(value, Action) else []), *value.paths]
        elif value not in (None, (), "", {}) and name not in ("session", "turn"):
            parts.append(f"{name}={value}")
    return " ".join([type(outcome).__name__, *parts])


def outcomes_of(values: Iterable[Message]) -> list[str]:
    """The outcomes of the last of these messages."""
    reader, last = AGENT.events.read_outcomes(), list[str]()
    for value in values:
        last = [describe(outcome) for outcome in reader.feed_value(value, source=Source.STREAM)]
    return (
        last
        + [f"unknown {name}" for name in reader.unknown]
        + [f"problem {name}" for name in reader.problems]
    )


MESSAGES = [
    pytest.param(message, given, id=f"{name}-{number}")
    for name in NAMES
    for number, (message, given) in enumerate(zip(read_note(name), OUTCOMES[name], strict=True), 1)
]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(("message", "given"), MESSAGES)
def test_a_message_gives_what_it_says(message: Message, given: list[str], spelling: str) -> None:
    values = respell([*context_of(message), message], SPELLINGS[spelling])
    assert outcomes_of(values) == given
    for width in WIDTHS:
        shown = capture(render(values), width)
        found = [document.value for document in AGENT.events.read_capture(shown.encode())]
        # A single wrapped row that ended in a blank does not tell the width.
        assert found == values or all(len(row) < width for row in shown.split("\n"))
        assert outcomes_of(found) == given
