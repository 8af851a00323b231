"""The scripted model for clients that let no file be edited before it was read.

Clients up to 2.1.197 refuse such an edit, newer ones do not; scripts are written for the newer ones. Before a
turn that edits a file the session has not read, this one has it read, and then plays the turn.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from chorus.demo.model.request import Request
from chorus.demo.model.server import Stub
from chorus.demo.model.steps import Refuse, Turn
from chorus.demo.script import ToolUse

MARK = "toolu_read_first_"


class ReadingStub(Stub):
    def turn_for(self, request: Request) -> Turn:
        messages = request.body.get("messages", [])
        scripted = [message for message in messages if not _is_ours(message)]
        turn = super().turn_for(replace(request, body={**request.body, "messages": scripted}))
        unread = _edited(turn) - _read(messages)
        if not unread or isinstance(turn[0], Refuse):
            return turn
        count = sum(map(_is_ours, messages))
        return [
            ToolUse("Read", {"file_path": path}, f"{MARK}{request.session}_{count}_{number}")
            for number, path in enumerate(sorted(unread))
        ]


def _is_ours(message: Mapping[str, Any]) -> bool:
    """Whether a message of the model has a file read on this stub's own account."""
    return message["role"] == "assistant" and any(
        str(block.get("id", "")).startswith(MARK) for block in _blocks(message)
    )


def _edited(turn: Turn) -> set[str]:
    calls = [step for step in turn if isinstance(step, ToolUse) and step.name in ("Edit", "Write")]
    paths = {str(call.input.get("file_path")) for call in calls}
    return {path for path in paths if path.startswith("/") and Path(path).is_file()}


def _read(messages: list[Mapping[str, Any]]) -> set[str]:
    """What the session has read or written: every file that a call has named so far."""
    inputs = [block.get("input") for message in messages for block in _blocks(message)]
    return {str(given["file_path"]) for given in inputs if isinstance(given, dict) and "file_path" in given}


def _blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message["content"]
    return content if isinstance(content, list) else []
